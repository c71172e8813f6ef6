/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `sameboard` at the shell: measures until the host quits, then gives the
 * console and its priority back.  What the program had in memory may still be
 * there when it is started again: all is filled at entry, closed at exit.
 */
#include <nuttx/config.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/nuttx/nuttx_console.h"
#include "agents/nuttx/nuttx_port.h"

/* As much as there is, up to what was asked for; both are the caller's to free. */
static uint8_t *take_arena(size_t *size)
{
	uint8_t *arena = NULL;

	for (*size = (size_t)CONFIG_SAMEBOARD_ARENA_KB * 1024; *size >= AGENT_ARENA_MIN;
		*size /= 2) {
		arena = malloc(*size);
		if (arena)
			break;
	}
	return arena;
}

static int serve(struct nuttx_port *port)
{
	struct nuttx_console console;
	enum agent_end end;
	int error = nuttx_console_open(&console);

	if (error)
		fprintf(stderr, "sameboard: the console cannot be made raw: error %d\n", -error);
	if (error)
		return EXIT_FAILURE;
	end = agent_run(&port->posix.agent);
	nuttx_console_close(&console);
	if (end == AGENT_END_ARENA)
		fprintf(stderr, "sameboard: CONFIG_SAMEBOARD_COUNTER_HZ is not set\n");
	return end == AGENT_END_QUIT || end == AGENT_END_SILENT ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char *argv[])
{
	struct nuttx_port *port = malloc(sizeof(*port));
	uint8_t *stack = malloc(POSIX_STACK_SIZE);
	size_t arena_size = 0;
	uint8_t *arena = take_arena(&arena_size);
	struct sched_param param;
	int status = EXIT_FAILURE;
	int policy;

	(void)argc;
	(void)argv;
	pthread_getschedparam(pthread_self(), &policy, &param);
	if (port && stack && arena) {
		memset(arena, 0, arena_size);
		memset(stack, 0, POSIX_STACK_SIZE);
		nuttx_port_init(port, arena, arena_size, stack);
		status = serve(port);
	} else {
		fprintf(stderr, "sameboard: no memory\n");
	}
	pthread_setschedparam(pthread_self(), policy, &param);
	free(arena);
	free(stack);
	free(port);
	return status;
}
