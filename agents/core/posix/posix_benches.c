/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/cost.h"
#include "agents/core/posix/posix_port.h"

const struct bench posix_benches[] = {
	{
		.id = 5,
		.name = "irq.split",
		.unsupported = "a user program has no stamp in the interrupt handler",
	},
	{
		.id = 11,
		.name = "mutex.pair",
		.prepare = posix_pair_prepare_mutex,
		.estimate_ms = cost_estimate_ms,
		.run = cost_run,
	},
	{
		.id = 12,
		.name = "sem.pair",
		.prepare = posix_pair_prepare_semaphore,
		.estimate_ms = cost_estimate_ms,
		.run = cost_run,
	},
	{
		.id = 13,
		.name = "yield.switch",
		.prepare = posix_yield_prepare,
		.estimate_ms = posix_yield_estimate_ms,
		.run = posix_yield_run,
	},
	{
		.id = 20,
		.name = "sem.handoff",
		.prepare = posix_handoff_prepare_semaphore,
		.estimate_ms = posix_handoff_estimate_ms,
		.run = posix_handoff_run,
	},
	{
		.id = 21,
		.name = "sem.handoff.low",
		.prepare = posix_handoff_prepare_low,
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
		.check = posix_create_check,
		.prepare = posix_create_prepare,
		.estimate_ms = posix_create_estimate_ms,
		.run = posix_create_run,
	},
	{
		.id = 31,
		.name = "thread.join",
		.check = posix_create_check,
		.prepare = posix_create_prepare_join,
		.estimate_ms = posix_create_estimate_ms,
		.run = posix_create_run,
	},
	{
		.id = 32,
		.name = "create.join",
		.check = posix_create_check,
		.prepare = posix_create_prepare_both,
		.estimate_ms = posix_create_estimate_ms,
		.run = posix_create_run,
	},
	{
		.id = 41,
		.name = "timer.set",
		.check = posix_pair_check_timer,
		.prepare = posix_pair_prepare_timer,
		.estimate_ms = cost_estimate_ms,
		.run = cost_run,
	},
	{
		.id = 50,
		.name = "pi.bound",
		.check = posix_bound_check,
		.prepare = posix_bound_prepare,
		.estimate_ms = posix_bound_estimate_ms,
		.run = posix_bound_run,
	},
	{
		.id = 60,
		.name = "malloc",
		.prepare = posix_pair_prepare_malloc,
		.estimate_ms = cost_estimate_ms,
		.run = cost_run,
	},
	{
		.id = 90,
		.name = "containment",
		.prepare = posix_victim_prepare,
		.estimate_ms = posix_victim_estimate_ms,
		.run = posix_victim_run,
	},
};

const size_t posix_bench_count = sizeof(posix_benches) / sizeof(posix_benches[0]);
