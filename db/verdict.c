/* SPDX-License-Identifier: Apache-2.0 */
#include "db/verdict.h"

#include <errno.h>
#include <string.h>

static const char *const run_names[VERDICT_COUNT] = {
	[VERDICT_RUNNING] = "running",
	[VERDICT_PASS] = "pass",
	[VERDICT_FAIL] = "fail",
	[VERDICT_INVALID] = "invalid",
	[VERDICT_LAB_FAILURE] = "lab-failure",
	[VERDICT_SKIPPED] = "skipped",
	[VERDICT_INTERRUPTED] = "interrupted",
};

static const char *const gate_names[GATE_VERDICT_COUNT] = {
	[GATE_VERDICT_PASS] = "pass",
	[GATE_VERDICT_FAIL] = "fail",
	[GATE_VERDICT_UNKNOWN] = "unknown",
	[GATE_VERDICT_NOT_APPLICABLE] = "not-applicable",
};

static int find_name(const char *const *names, int count, const char *name)
{
	for (int i = 0; name && i < count; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return -EINVAL;
}

const char *verdict_name(enum verdict verdict)
{
	return (unsigned)verdict < VERDICT_COUNT ? run_names[verdict] : "?";
}

const char *verdict_gate_name(enum gate_verdict verdict)
{
	return (unsigned)verdict < GATE_VERDICT_COUNT ? gate_names[verdict] : "?";
}

int verdict_parse(const char *name, enum verdict *verdict)
{
	int found = find_name(run_names, VERDICT_COUNT, name);

	*verdict = found < 0 ? VERDICT_RUNNING : (enum verdict)found;
	return found < 0 ? found : 0;
}

int verdict_gate_parse(const char *name, enum gate_verdict *verdict)
{
	int found = find_name(gate_names, GATE_VERDICT_COUNT, name);

	*verdict = found < 0 ? GATE_VERDICT_UNKNOWN : (enum gate_verdict)found;
	return found < 0 ? found : 0;
}
