/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/benches.h"

#include "agents/core/audit.h"
#include "agents/core/floor.h"
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
		.id = 42,
		.name = "clock.audit",
		.prepare = audit_prepare,
		.estimate_ms = audit_estimate_ms,
		.run = audit_run,
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

void benches_write(const struct agent_port *port, struct text *text)
{
	for (unsigned int id = 0; id <= UINT8_MAX; id++) {
		const struct bench *bench = benches_find(port, (uint8_t)id);

		if (!bench)
			continue;
		text_append_u64(text, id);
		text_append(text, " ");
		text_append(text, bench->name);
		text_append(text, bench->unsupported ? " unsupported " : " supported");
		if (bench->unsupported)
			text_append(text, bench->unsupported);
		text_end_line(text);
	}
}
