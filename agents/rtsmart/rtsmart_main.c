/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `sameboard [KB]` at RT-Smart's shell: measures until the host quits, then gives
 * the console back.  KB of memory for samples, 1024 if not given.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/rtsmart/rtsmart_console.h"
#include "agents/rtsmart/rtsmart_port.h"

#define ARENA_DEFAULT_KB 1024u
#define ARENA_MAX_KB	 (1024u * 1024)

/* Without stdio, which would be half of the program. */
static int refuse(const char *why)
{
	ssize_t written = write(STDOUT_FILENO, why, strlen(why));

	(void)written;
	return EXIT_FAILURE;
}

static int serve(struct rtsmart_port *port)
{
	enum agent_end end = agent_run(&port->posix.agent);

	return end == AGENT_END_QUIT || end == AGENT_END_SILENT ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char *argv[])
{
	unsigned long kb = argc > 1 ? strtoul(argv[1], NULL, 10) : ARENA_DEFAULT_KB;
	size_t arena_size = (size_t)kb * 1024;
	struct rtsmart_console console;
	struct rtsmart_port port;
	uint8_t *memory;
	int status;

	if (arena_size < AGENT_ARENA_MIN || kb > ARENA_MAX_KB)
		return refuse("sameboard: 64 to 1048576 KB of memory\n");
	memory = malloc(arena_size + POSIX_STACK_SIZE);
	if (!memory || rtsmart_console_open(&console) != 0) {
		free(memory);
		return refuse(memory ? "sameboard: no terminal\n" : "sameboard: no memory\n");
	}
	/* Nothing can be locked here: what was touched stays, since nothing is paged out. */
	memset(memory, 0, arena_size + POSIX_STACK_SIZE);
	rtsmart_port_init(&port, &console, memory, arena_size, memory + arena_size);
	status = serve(&port);
	rtsmart_console_close(&console);
	free(memory);
	return status;
}
