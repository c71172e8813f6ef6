/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/posix/posix_port.h"

#include "agents/core/wake.h"

const struct bench posix_benches[] = {
	{
		.id = 2,
		.name = "wake.cpu",
		.load = MESSAGE_LOAD_CPU,
		.prepare = wake_prepare,
		.estimate_ms = wake_estimate_ms,
		.run = wake_run,
	},
	{
		.id = 5,
		.name = "irq.split",
		.unsupported = "a user program has no stamp in the interrupt handler",
	},
	{
		.id = 11,
		.name = "mutex.pair",
		.prepare = posix_pair_prepare,
		.estimate_ms = posix_pair_estimate_ms,
		.run = posix_pair_run,
	},
	{
		.id = 20,
		.name = "sem.handoff",
		.prepare = posix_handoff_prepare_semaphore,
		.estimate_ms = posix_handoff_estimate_ms,
		.run = posix_handoff_run,
	},
	{
		.id = 22,
		.name = "mutex.handoff",
		.prepare = posix_handoff_prepare_mutex,
		.estimate_ms = posix_handoff_estimate_ms,
		.run = posix_handoff_run,
	},
	{
		.id = 30,
		.name = "thread.create",
		.prepare = posix_create_prepare,
		.estimate_ms = posix_create_estimate_ms,
		.run = posix_create_run,
	},
};

const size_t posix_bench_count = sizeof(posix_benches) / sizeof(posix_benches[0]);
