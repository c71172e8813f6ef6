/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t requested;

static void remember(int number)
{
	requested = number;
}

void stop_init(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = remember};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
	action.sa_handler = SIG_IGN; /* a closed pipe is an error of write(), no death */
	sigaction(SIGPIPE, &action, NULL);
}

int stop_requested(void)
{
	return requested;
}
