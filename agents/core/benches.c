/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/benches.h"

#include "agents/core/alarm.h"
#include "agents/core/audit.h"
#include "agents/core/cost.h"
#include "agents/core/floor.h"
#include "agents/core/noise.h"
#include "agents/core/oneshot.h"
#include "agents/core/period.h"
#include "agents/core/pipeline.h"
#include "agents/core/price.h"
#include "agents/core/reference.h"
#include "agents/core/wake.h"

static const struct bench core_benches[] = {
	{
		.id = 0,
		.name = "floor",
		.prepare = floor_prepare,
		.estimate_ms = floor_estimate_ms,
		.run = floor_run,
	},
	{
		.id = 1,
		.name = "wake.idle",
		.prepare = wake_prepare,
		.estimate_ms = wake_estimate_ms,
		.run = wake_run,
	},
	{
		.id = 2,
		.name = "wake.cpu",
		.load = MESSAGE_LOAD_CPU,
		.prepare = wake_prepare,
		.estimate_ms = wake_estimate_ms,
		.run = wake_run,
	},
	{
		.id = 3,
		.name = "wake.cache",
		.load = MESSAGE_LOAD_CACHE,
		.prepare = wake_prepare,
		.estimate_ms = wake_estimate_ms,
		.run = wake_run,
	},
	{
		.id = 4,
		.name = "wake.ipc",
		.load = MESSAGE_LOAD_IPC,
		.prepare = wake_prepare,
		.estimate_ms = wake_estimate_ms,
		.run = wake_run,
	},
	{
		.id = 7,
		.name = "wake.period",
		.load = MESSAGE_LOAD_MIXED,
		.prepare = period_prepare,
		.estimate_ms = period_estimate_ms,
		.run = period_run,
	},
	{
		.id = 8,
		.name = "irq.thread",
		.check = alarm_check,
		.prepare = alarm_prepare,
		.estimate_ms = alarm_estimate_ms,
		.run = alarm_run,
	},
	{
		.id = 10,
		.name = "syscall",
		.check = cost_check_syscall,
		.prepare = cost_prepare_syscall,
		.estimate_ms = cost_estimate_ms,
		.run = cost_run,
	},
	{
		.id = 40,
		.name = "timer.oneshot",
		.prepare = oneshot_prepare,
		.estimate_ms = oneshot_estimate_ms,
		.run = oneshot_run,
	},
	{
		.id = 42,
		.name = "clock.audit",
		.prepare = audit_prepare,
		.estimate_ms = audit_estimate_ms,
		.run = audit_run,
	},
	{
		.id = 70,
		.name = "noise",
		.prepare = noise_prepare,
		.estimate_ms = noise_estimate_ms,
		.run = noise_run,
	},
	{
		.id = 80,
		.name = "pipeline",
		.prepare = pipeline_prepare,
		.estimate_ms = pipeline_estimate_ms,
		.run = pipeline_run,
	},
	{
		.id = 95,
		.name = "price",
		.check = price_check,
		.prepare = price_prepare,
		.estimate_ms = price_estimate_ms,
		.run = price_run,
	},
	{
		.id = 98,
		.name = "sleep.check",
		.prepare = audit_prepare_sleep,
		.estimate_ms = audit_estimate_sleep_ms,
		.run = audit_run_sleep,
	},
	{
		.id = 99,
		.name = "reference",
		.prepare = reference_prepare,
		.estimate_ms = reference_estimate_ms,
		.run = reference_run,
	},
};

static const struct bench *find(const struct bench *benches, size_t count, uint8_t id)
{
	for (size_t i = 0; i < count; i++) {
		if (benches[i].id == id)
			return &benches[i];
	}
	return NULL;
}

const struct bench *benches_find(const struct agent_port *port, uint8_t id)
{
	const struct bench *bench = find(port->benches, port->bench_count, id);

	if (bench)
		return bench;
	return find(core_benches, sizeof(core_benches) / sizeof(core_benches[0]), id);
}

const char *benches_check(const struct agent_port *port, const struct bench *bench)
{
	const char *unsupported = bench->unsupported;

	if (!unsupported)
		unsupported = window_check_load(port, bench->load);
	if (!unsupported && bench->check)
		unsupported = bench->check(port);
	return unsupported;
}

void benches_write(const struct agent_port *port, struct text *text)
{
	for (unsigned int id = 0; id <= UINT8_MAX; id++) {
		const struct bench *bench = benches_find(port, (uint8_t)id);
		const char *unsupported;

		if (!bench)
			continue;
		unsupported = benches_check(port, bench);
		text_append_u64(text, id);
		text_append(text, " ");
		text_append(text, bench->name);
		text_append(text, unsupported ? " unsupported " : " supported");
		if (unsupported)
			text_append(text, unsupported);
		text_end_line(text);
	}
}
