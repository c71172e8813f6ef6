/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gates judged again.  What samples and counters say is taken from them; only
 * what the host alone saw is taken from its evidence.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/counters.h"
#include "harness/evidence.h"
#include "harness/rows.h"
#include "harness/stats.h"
#include "harness/suite.h"
#include "harness/verify_private.h"

/* What must live until the gates are judged. */
struct again {
	struct gate_set set;
	struct gate_run run;
	cJSON *kept[512];
	size_t kept_count;
	int32_t *sleeps;
};

static const cJSON *keep(struct again *again, const char *text)
{
	cJSON *json = again->kept_count < 512 ? cJSON_Parse(text) : NULL;

	if (json)
		again->kept[again->kept_count++] = json;
	return json;
}

static const char *find_evidence(const cJSON *json, double window)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "evidence"))
	{
		if (verify_number(item, "window") == window)
			return verify_string(item, "text");
	}
	return NULL;
}

static int32_t median_of(const cJSON *window, const char *series)
{
	size_t count;
	int32_t *samples = verify_samples(window, series, 1, &count);
	int32_t median = samples ? stats_median_counts(samples, count) : 0;

	free(samples);
	return median;
}

/* ----------------------------------------------------------------- windows */

static void take_counters(const char *text, struct gate_window *w)
{
	w->uart_rx = counters_get_count(text, "uart_rx");
	w->uart_tx = counters_get_count(text, "uart_tx");
	w->kernel_messages = counters_get_count(text, "kernel_messages");
	w->page_faults = counters_get_count(text, "page_faults");
	w->load_rounds = counters_get_count(text, "load_rounds");
	w->load_counts = counters_get_count(text, "load_counts");
}

/* What the samples say of their number, and how many were clipped. */
static void take_series(const cJSON *window, struct gate_window *w)
{
	struct evidence_tally tally = {.asked = w->asked};
	const cJSON *series;

	w->clipped = 0;
	cJSON_ArrayForEach(series, cJSON_GetObjectItem(window, "series"))
	{
		w->clipped += verify_count(series, "clipped");
		evidence_tally_add(&tally, verify_count(series, "kind"),
			verify_string(series, "name"), verify_count(series, "count"));
	}
	w->got = evidence_tally_end(&tally);
	w->floor_before = median_of(window, "floor.before");
	w->floor_after = median_of(window, "floor.after");
}

static void judge_window(struct again *again, const cJSON *json, const cJSON *window)
{
	const char *text = find_evidence(json, verify_number(window, "number"));
	struct gate_window evidence;
	size_t size;
	char *counters;

	if (!text || evidence_read_window(keep(again, text), &evidence) != 0)
		return;
	counters = verify_samples(window, "counters", 3, &size);
	if (counters)
		take_counters(counters, &evidence);
	take_series(window, &evidence);
	evidence.heard = evidence.heard ? evidence.heard : "";
	evidence.failure = evidence.failure ? evidence.failure : "";
	gate_judge_window(&again->set, &evidence);
	free(counters);
}

/* -------------------------------------------------------------------- run */

static void take_audit(struct gate_run *run, const cJSON *window)
{
	size_t count, os_count, size;
	uint64_t *counter = verify_samples(window, "counter", 2, &count);
	uint64_t *os_ns = verify_samples(window, "os_ns", 2, &os_count);
	char *counters = verify_samples(window, "counters", 3, &size), tick[32] = "";

	if (counters)
		counters_get(counters, "tick_hz", tick, sizeof(tick));
	run->audit_error = counter && os_ns && count == os_count
				   ? clockfit_audit(counter, os_ns, count, run->counter_hz,
					     strtod(tick, NULL), &run->audit_fit)
				   : -EINVAL;
	free(counter);
	free(os_ns);
	free(counters);
}

static void take_windows(struct again *again, const cJSON *windows)
{
	struct gate_run *run = &again->run;
	const cJSON *window;
	unsigned references = 0;

	cJSON_ArrayForEach(window, windows)
	{
		const char *bench = verify_string(window, "bench");

		if (strcmp(bench, "sleep.check") == 0 && !again->sleeps) {
			again->sleeps = verify_samples(window, "latency", 1, &run->sleep_count);
			run->sleep_lateness = again->sleeps;
		} else if (strcmp(bench, "clock.audit") == 0 && run->audit == GATE_PROGRESS_DONE &&
			   run->audit_fit.span_s <= 0) {
			take_audit(run, window);
		} else if (strcmp(bench, "reference") == 0) {
			if (references++ == 0)
				run->reference_first = median_of(window, "integer");
			else
				run->reference_last = median_of(window, "integer");
		}
	}
}

static int judge_run(struct again *again, const cJSON *json, const cJSON *windows)
{
	const char *text = find_evidence(json, 0);

	if (!text || evidence_read_run(keep(again, text), &again->run) != 0)
		return -ENOENT;
	take_windows(again, windows);
	gate_judge_run(&again->set, &again->run);
	return 0;
}

/* ----------------------------------------------------------------- compare */

static const cJSON *find_gate(const cJSON *gates, const struct store_gate *gate)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, gates)
	{
		if (strcmp(verify_string(item, "id"), gate->id) == 0 &&
			verify_number(item, "window") == gate->window)
			return item;
	}
	return NULL;
}

static void compare_gates(struct verify *verify, const struct again *again, const cJSON *gates)
{
	for (size_t i = 0; i < again->set.count; i++) {
		const struct store_gate *gate = &again->set.gates[i];
		const cJSON *stored = find_gate(gates, gate);

		verify_note(verify, VERIFY_GATES,
			strcmp(verify_string(stored, "verdict"),
				verdict_gate_name(gate->verdict)) == 0 &&
				strcmp(verify_string(stored, "evidence"), gate->evidence) == 0,
			"%s of %s %u: judged again \"%s: %.90s\", the file says \"%s: %.90s\"",
			gate->id, gate->window ? "window" : "run", gate->window,
			verdict_gate_name(gate->verdict), gate->evidence,
			verify_string(stored, "verdict"), verify_string(stored, "evidence"));
	}
	verify_note(verify, VERIFY_GATES, (size_t)cJSON_GetArraySize(gates) == again->set.count,
		"the file has %d gates, %zu were judged", cJSON_GetArraySize(gates),
		again->set.count);
}

static bool is_allowed(void *context, const char *id)
{
	return context && suite_allows_unknown(context, id);
}

/* Only what gates decide can be decided again: a lab that failed is no matter of theirs. */
static void check_verdict(struct verify *verify, const struct again *again, const cJSON *json)
{
	const cJSON *run = cJSON_GetObjectItem(json, "run");
	const char *text = verify_string(cJSON_GetObjectItem(json, "configuration"), "suite");
	const char *verdict = verify_string(run, "verdict");
	bool is_void = strncmp(verify_string(run, "reason"), "void:", 5) == 0;
	const struct store_gate *failed;
	struct suite *suite = NULL;
	bool has_suite = suite_parse(&suite, "suite", text, strlen(text)) == 0;

	if ((strcmp(verdict, "pass") == 0 || strcmp(verdict, "invalid") == 0) && !is_void) {
		failed = gate_set_find_failure(&again->set, is_allowed, has_suite ? suite : NULL);
		verify_note(verify, VERIFY_VERDICT,
			(failed != NULL) == (strcmp(verdict, "invalid") == 0),
			"the gates say \"%s\"%s%s, the file says \"%s\"",
			failed ? "invalid" : "pass", failed ? " for " : "",
			failed ? failed->id : "", verdict);
	}
	suite_close(suite);
}

void verify_gates(struct verify *verify, const cJSON *json)
{
	const cJSON *run = cJSON_GetObjectItem(json, "run");
	const cJSON *windows = cJSON_GetObjectItem(run, "windows"), *window;
	struct again *again = calloc(1, sizeof(*again));

	if (!again)
		return;
	cJSON_ArrayForEach(window, windows) judge_window(again, json, window);
	if (judge_run(again, json, windows) == 0) {
		compare_gates(verify, again, cJSON_GetObjectItem(run, "gates"));
		check_verdict(verify, again, json);
	} else {
		snprintf(verify->checks[VERIFY_GATES].detail,
			sizeof(verify->checks[VERIFY_GATES].detail),
			"not judged again: the run was stored without its evidence");
	}
	for (size_t i = 0; i < again->kept_count; i++)
		cJSON_Delete(again->kept[i]);
	free(again->sleeps);
	gate_set_free(&again->set);
	free(again);
}
