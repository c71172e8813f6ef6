/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/posix/posix_port.h"

/* One round goes once over the 4 kB; it never sleeps and never enters the kernel. */
static void *run_load(void *context)
{
	struct posix_load *load = context;
	const size_t words = sizeof(load->data) / sizeof(load->data[0]);
	uint64_t state = 1;

	while (!atomic_load_explicit(&load->must_stop, memory_order_relaxed)) {
		for (size_t i = 0; i < words; i++) {
			state = state * 6364136223846793005u + load->data[i];
			load->data[i] = state >> 7;
		}
		atomic_fetch_add_explicit(&load->rounds, 1, memory_order_relaxed);
	}
	return NULL;
}

int posix_load_start(struct agent_port *port, enum message_load load)
{
	struct posix_port *posix = (struct posix_port *)port;

	if (load != MESSAGE_LOAD_CPU)
		return WIRE_ERROR_UNSUPPORTED;
	atomic_store(&posix->load.must_stop, false);
	atomic_store(&posix->load.rounds, 0);
	posix->load.is_running = posix_start_thread(posix, &posix->load.thread, POSIX_PRIORITY_LOAD,
					 posix->load_stack, run_load, &posix->load) == 0;
	return posix->load.is_running ? 0 : WIRE_ERROR_FAILED;
}

void posix_load_stop(struct agent_port *port)
{
	struct posix_port *posix = (struct posix_port *)port;

	if (!posix->load.is_running)
		return;
	atomic_store(&posix->load.must_stop, true);
	pthread_join(posix->load.thread, NULL);
	posix->load.is_running = false;
}

uint64_t posix_load_work(struct agent_port *port)
{
	struct posix_port *posix = (struct posix_port *)port;

	return atomic_load_explicit(&posix->load.rounds, memory_order_relaxed);
}
