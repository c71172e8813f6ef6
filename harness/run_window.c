/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run_window.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/counters.h"
#include "harness/decode.h"
#include "harness/evidence.h"
#include "harness/rows.h"
#include "harness/stats.h"

/* ------------------------------------------------------------------- pull */

/* Pulled, not yet decoded. */
static int pull_bytes(struct run *run, const struct run_window *window,
	const struct series_entry *entry, uint8_t *bytes, const char *what)
{
	struct peer_transfer transfer;
	int rc = peer_transfer_init(
		&transfer, (uint16_t)window->number, entry->id, entry->bytes, entry->crc, bytes);

	if (rc == 0)
		rc = run_pull(run, &transfer);
	return rc == 0 ? 0 : run_fail_peer(run, rc, what);
}

static int pull_series(
	struct run *run, struct run_window *window, struct run_series *series, const char *doing)
{
	uint8_t *bytes = malloc((size_t)series->entry.bytes + 1);
	char what[160], error[160];
	int rc;

	snprintf(what, sizeof(what), "pulling %s of %s", series->entry.name, doing);
	if (!bytes)
		return run_fail(run, VERDICT_LAB_FAILURE, -ENOMEM, "%s: out of memory", what);
	rc = pull_bytes(run, window, &series->entry, bytes, what);
	if (rc == 0) {
		rc = decode_series(&series->entry, bytes, &series->data, error, sizeof(error));
		if (rc != 0)
			rc = run_fail(run, rc == -ENOMEM ? VERDICT_LAB_FAILURE : VERDICT_FAIL, rc,
				"%s: %s", what, error);
	}
	free(bytes);
	return rc;
}

static int pull_all(struct run *run, struct run_window *window, const struct series_entry *entries,
	size_t count, const char *doing)
{
	uint64_t bytes = 0;
	int rc;

	for (size_t i = 0; i < count; i++)
		bytes += entries[i].bytes;
	rc = run_raise_line(run, bytes);
	if (rc != 0)
		return run_fail_peer(run, rc, doing);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct run_series *series = &window->series[window->series_count++];

		series->entry = entries[i];
		rc = pull_series(run, window, series, doing);
		if (rc == 0 && series->entry.kind == SERIES_KIND_TEXT &&
			strcmp(series->entry.name, "counters") == 0)
			window->counters = series->data;
	}
	if (rc != 0)
		return rc;
	rc = run_lower_line(run);
	return rc == 0 ? 0 : run_fail_peer(run, rc, doing);
}

int run_window_pull(struct run *run, struct run_window *window, const char *doing)
{
	struct series_entry *entries = NULL;
	size_t count = 0;
	int rc = peer_pull_index(&run->peer, &window->peer.done, &entries, &count);

	window->counters = "";
	if (rc != 0)
		return run_fail_peer(run, rc, doing);
	window->series = calloc(count + 1, sizeof(*window->series));
	if (!window->series)
		rc = run_fail(run, VERDICT_LAB_FAILURE, -ENOMEM, "%s: out of memory", doing);
	if (rc == 0)
		rc = pull_all(run, window, entries, count, doing);
	free(entries);
	return rc;
}

void run_window_fini(struct run_window *window)
{
	for (size_t i = 0; i < window->series_count; i++)
		free(window->series[i].data);
	free(window->series);
	free(window->evidence);
	window->evidence = NULL;
	window->series = NULL;
	window->series_count = 0;
}

const struct run_series *run_window_find(const struct run_window *window, const char *name)
{
	for (size_t i = 0; i < window->series_count; i++)
		if (strcmp(window->series[i].entry.name, name) == 0)
			return &window->series[i];
	return NULL;
}

int32_t run_window_median(const struct run_window *window, const char *name)
{
	const struct run_series *series = run_window_find(window, name);

	if (!series || series->entry.kind != SERIES_KIND_COUNTS)
		return 0;
	return stats_median_counts(series->data, series->entry.count);
}

int run_window_fit_audit(
	const struct run_window *window, uint64_t counter_hz, struct clockfit_audit *fit)
{
	const struct run_series *counter = run_window_find(window, "counter");
	const struct run_series *os_ns = run_window_find(window, "os_ns");
	char tick_hz[32];

	if (!counter || !os_ns || counter->entry.kind != SERIES_KIND_STAMPS ||
		os_ns->entry.kind != SERIES_KIND_STAMPS ||
		counter->entry.count != os_ns->entry.count)
		return -EINVAL;
	counters_get(window->counters, "tick_hz", tick_hz, sizeof(tick_hz));
	return clockfit_audit(counter->data, os_ns->data, counter->entry.count, counter_hz,
		strtod(tick_hz, NULL), fit);
}

/* ------------------------------------------------------------------ price */

/* A series of one value that the host knows. */
static int add_known(struct run_window *window, const char *name, uint64_t value)
{
	struct run_series *grown =
		realloc(window->series, (window->series_count + 1) * sizeof(*grown));
	struct run_series *series;
	int32_t *data = malloc(sizeof(*data));

	if (grown)
		window->series = grown;
	if (!grown || !data) {
		free(data);
		return -ENOMEM;
	}
	*data = value > INT32_MAX ? INT32_MAX : (int32_t)value;
	series = &window->series[window->series_count++];
	*series = (struct run_series){.data = data,
		.entry = {.id = (uint16_t)(0x8000 + window->series_count),
			.kind = SERIES_KIND_COUNTS,
			.count = 1,
			.clipped = value > INT32_MAX}};
	snprintf(series->entry.name, sizeof(series->entry.name), "%s", name);
	return 0;
}

/* Bytes that the loader loads: a card is as large as cards are. */
static uint64_t payload_size(const struct manifest *manifest)
{
	uint64_t size = 0;

	for (size_t i = 0; i < manifest->payload_count; i++)
		size += manifest->payloads[i].size;
	return size ? size : manifest->size;
}

int run_window_add_price(struct run *run, struct run_window *window)
{
	int rc = 0;

	/* After the host was gone nobody knows when the board was switched on. */
	if (window->plan->window.bench->id != CATALOGUE_PRICE_ID || run->power_on_ms == 0)
		return 0;
	if (run->first_output_ms > run->power_on_ms)
		rc = add_known(window, "first_output_ms", run->first_output_ms - run->power_on_ms);
	if (rc == 0 && run->hello_ms > run->power_on_ms)
		rc = add_known(window, "hello_ms", run->hello_ms - run->power_on_ms);
	if (rc == 0)
		rc = add_known(window, "image_kib", payload_size(run->request->manifest) / 1024);
	return rc == 0 ? 0 : run_fail(run, VERDICT_LAB_FAILURE, rc, "out of memory");
}

/* ------------------------------------------------------------------ gates */

/* Series whose length ARM has fixed: not floors, warm-up or brackets. */
static bool is_measured(const struct run_series *series)
{
	return series->entry.kind == SERIES_KIND_COUNTS && rows_is_measured(series->entry.name);
}

/* What was heard in the silence, fit for one line. */
static void show_heard(const struct peer_silence *silence, char *text, size_t size)
{
	size_t length = 0;

	for (size_t i = 0; i < silence->kept && length + 5 < size; i++) {
		uint8_t byte = silence->content[i];

		if (isprint(byte) && byte != '"' && byte != '\\')
			text[length++] = (char)byte;
		else
			length += (size_t)snprintf(text + length, size - length, "\\x%02x", byte);
		if (length > 80)
			break;
	}
	text[length] = '\0';
}

/* "23.4" degrees of 1/1000 degrees; false where the target reports none. */
static bool take_temperature(const struct run_window *window, const char *key, double *degrees)
{
	char text[32], *end;

	if (!counters_get(window->counters, key, text, sizeof(text)))
		return false;
	*degrees = strtod(text, &end) / 1000;
	return end != text;
}

void run_window_judge(struct run *run, struct run_window *window)
{
	const struct suite_window *planned = &window->plan->window;
	char heard[128], failure[128], throttled[128], steered[128] = "", frequency[128] = "";
	struct evidence_tally tally = {0};
	struct gate_window evidence = {
		.number = window->number,
		.host_heard = window->peer.silence.bytes,
		.heard = heard,
		.is_disturbed = window->peer.is_disturbed,
		.is_unheard = window->is_unheard,
		.uart_rx = counters_get_count(window->counters, "uart_rx"),
		.uart_tx = counters_get_count(window->counters, "uart_tx"),
		.kernel_messages = counters_get_count(window->counters, "kernel_messages"),
		.page_faults = counters_get_count(window->counters, "page_faults"),
		.clock_steered = steered,
		.frequency_changed = frequency,
		.asked = rows_is_gate_bench(planned->bench->id) ? 0 : planned->n,
		.is_complete = true, /* the pull would have failed */
		.status = window->peer.done.status,
		.failure = failure,
		.has_floor = run_window_find(window, "floor.before") != NULL,
		.floor_before = run_window_median(window, "floor.before"),
		.floor_after = run_window_median(window, "floor.after"),
		.has_load = planned->load != CATALOGUE_LOAD_IDLE,
		.load_rounds = counters_get_count(window->counters, "load_rounds"),
		.load_counts = counters_get_count(window->counters, "load_counts"),
		.counter_hz = run->counter_hz,
		.throttled = throttled,
	};

	show_heard(&window->peer.silence, heard, sizeof(heard));
	counters_get(window->counters, "failure", failure, sizeof(failure));
	counters_get(window->counters, "clock_steered", steered, sizeof(steered));
	counters_get(window->counters, "frequency_changed", frequency, sizeof(frequency));
	counters_get(window->counters, "throttled", throttled, sizeof(throttled));
	evidence.has_temperature =
		take_temperature(
			window, "temperature_millideg.before", &evidence.temperature_before) &&
		take_temperature(window, "temperature_millideg", &evidence.temperature_after);
	tally.asked = evidence.asked;
	for (size_t i = 0; i < window->series_count; i++) {
		const struct series_entry *entry = &window->series[i].entry;

		evidence.clipped += entry->clipped;
		evidence_tally_add(&tally, entry->kind, entry->name, entry->count);
	}
	evidence.got = evidence_tally_end(&tally);
	gate_judge_window(&run->gates, &evidence);
	window->evidence = evidence_write_window(&evidence);
}

/* ------------------------------------------------------------------ store */

/* Operations that one sample is the sum of; 1 where each has its own. */
static double batch_of(const struct run_window *window, const char *series)
{
	char key[64];
	uint64_t batch;

	snprintf(key, sizeof(key), "batch.%s", series);
	batch = counters_get_count(window->counters, key);
	return batch > 0 && batch < GATE_COUNTER_NONE ? (double)batch : 1;
}

static int add_metric(
	struct run *run, const char *series, const char *name, double value, const char *unit)
{
	return store_add_metric(run->request->store, run->result->run_id,
		&(struct store_metric){
			.series = series, .name = name, .value = value, .unit = unit});
}

/* A series as it is, and as a tool that skips releases would have it (n 0: it is no lateness). */
struct summary {
	struct stats_summary full, skipped;
};

/* Counts between two releases of a series; 0: it is not released on a grid. */
static uint64_t period_of(
	const struct run *run, const struct run_window *window, const char *series)
{
	const struct suite_window *planned = &window->plan->window;
	uint64_t period_us = rows_period_us(series);

	if (period_us == 0 && planned->bench->has_grid && rows_is_lateness(series))
		period_us = planned->period_us;
	return period_us * run->counter_hz / 1000000;
}

static int summarise_series(
	const struct run_series *series, uint64_t period, struct summary *summary)
{
	int32_t *kept;
	size_t count;
	int rc = stats_summarise(series->data, series->entry.count, period, &summary->full);

	if (rc != 0 || period == 0 || !rows_is_lateness(series->entry.name))
		return rc == -EINVAL ? 0 : rc;
	kept = malloc((series->entry.count + 1) * sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	count = stats_skip_releases(series->data, series->entry.count, period, kept);
	rc = stats_summarise(kept, count, period, &summary->skipped);
	free(kept);
	return rc;
}

/* Each series of counts, in their order; n is 0 where there are no figures.  NULL without memory.
 */
static struct summary *summarise(const struct run *run, const struct run_window *window)
{
	struct summary *summaries = calloc(window->series_count + 1, sizeof(*summaries));

	for (size_t i = 0; summaries && i < window->series_count; i++) {
		const struct series_entry *entry = &window->series[i].entry;
		char key[64];
		uint64_t missed;

		if (entry->kind != SERIES_KIND_COUNTS)
			continue;
		if (summarise_series(&window->series[i], period_of(run, window, entry->name),
			    &summaries[i]) != 0) {
			free(summaries);
			return NULL;
		}
		/* The target counts what it had no room to keep. */
		snprintf(key, sizeof(key), "missed.%s", entry->name);
		missed = counters_get_count(window->counters, key);
		if (missed < GATE_COUNTER_NONE)
			summaries[i].full.missed = missed;
	}
	return summaries;
}

static int store_summary(struct run *run, const char *of, const struct stats_summary *summary)
{
	const char *unit = rows_unit(of)	   ? rows_unit(of)
			   : strstr(of, "instret") ? "instret"
						   : "counts";
	struct stats_summary s = *summary;
	int rc = add_metric(run, of, "n", (double)s.n, "samples");

	if (rc == 0)
		rc = add_metric(run, of, "early", (double)s.early, "samples");
	if (rc == 0)
		rc = add_metric(run, of, "missed", (double)s.missed, "samples");
	if (rc == 0)
		rc = add_metric(run, of, "min", s.min, unit);
	if (rc == 0)
		rc = add_metric(run, of, "mean", s.mean, unit);
	if (rc == 0)
		rc = add_metric(run, of, "sd", s.sd, unit);
	for (int q = 0; rc == 0 && q < STATS_QUANTILES; q++)
		rc = add_metric(run, of, stats_quantile_name(q), s.quantiles[q], unit);
	if (rc == 0)
		rc = add_metric(run, of, "max", s.max, unit);
	if (rc == 0)
		rc = add_metric(run, of, "max_index", (double)s.max_index, "samples");
	return rc;
}

/* Only what differs where releases are skipped. */
static int store_skipped(struct run *run, const char *of, const struct stats_summary *summary)
{
	const struct {
		const char *name;
		double value;
		const char *unit;
	} metrics[] = {
		{"skipped.n", (double)summary->n, "samples"},
		{"skipped.missed", (double)summary->missed, "samples"},
		{"skipped.p50", summary->quantiles[STATS_P50], "counts"},
		{"skipped.p99", summary->quantiles[STATS_P99], "counts"},
		{"skipped.p99.9", summary->quantiles[STATS_P999], "counts"},
		{"skipped.max", summary->max, "counts"},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(metrics) / sizeof(metrics[0]); i++)
		rc = add_metric(run, of, metrics[i].name, metrics[i].value, metrics[i].unit);
	return rc;
}

static int store_metrics(
	struct run *run, const struct run_window *window, const struct summary *summaries)
{
	uint64_t bracket = counters_get_count(window->counters, "bracket_counts");
	int rc = add_metric(run, NULL, "floor",
		(run_window_median(window, "floor.before") +
			run_window_median(window, "floor.after")) /
			2.0,
		"counts");

	if (rc == 0 && bracket < GATE_COUNTER_NONE)
		rc = add_metric(run, NULL, "bracket", (double)bracket, "counts");
	if (rc == 0)
		rc = add_metric(run, NULL, "counter_hz", (double)run->counter_hz, "Hz");
	if (rc == 0 && window->plan->role == PLAN_ROLE_AUDIT && run->evidence.audit_error == 0)
		rc = add_metric(run, NULL, "clock", run->evidence.audit_fit.ppm, "ppm");
	for (size_t i = 0; rc == 0 && i < window->series_count; i++) {
		const struct series_entry *entry = &window->series[i].entry;

		if (entry->encoding != SERIES_ENCODING_RAW)
			rc = add_metric(run, entry->name, "encoded", entry->bytes, "bytes");
		if (rc != 0 || entry->kind != SERIES_KIND_COUNTS)
			continue;
		if (summaries[i].full.n > 0)
			rc = store_summary(run, entry->name, &summaries[i].full);
		if (rc == 0 && summaries[i].skipped.n > 0)
			rc = store_skipped(run, entry->name, &summaries[i].skipped);
		if (rc == 0 && is_measured(&window->series[i]))
			rc = add_metric(run, entry->name, "batch", batch_of(window, entry->name),
				"operations");
	}
	return rc;
}

int run_window_store(struct run *run, const struct run_window *window)
{
	const struct suite_window *planned = &window->plan->window;
	struct store *store = run->request->store;
	struct store_window row = {
		.number = window->number,
		.bench = planned->bench->id,
		.name = planned->name,
		.load = catalogue_load_name(planned->load),
		.phase = planned->bench->has_grid ? suite_phase_name(planned->phase) : NULL,
		.n = planned->n,
		.period_us = planned->period_us,
		.settle_ms = planned->settle_ms,
		.duration_ms = planned->duration_ms,
		.seed = planned->seed,
		.started_ms = window->started_ms,
		.ended_ms = window->ended_ms,
	};
	/* Before the transaction: the workers of other boards wait for its end. */
	struct summary *summaries = summarise(run, window);
	int rc = -ENOMEM;

	if (!summaries)
		return run_fail(run, VERDICT_LAB_FAILURE, rc, "%s: out of memory", planned->name);
	rc = store_begin_window(store, run->result->run_id, &row);
	for (size_t i = 0; rc == 0 && i < window->series_count; i++) {
		const struct series_entry *entry = &window->series[i].entry;

		rc = store_add_series(store, &(struct store_series){.id = entry->id,
						     .name = entry->name,
						     .kind = (enum store_series_kind)entry->kind,
						     .data = window->series[i].data,
						     .count = entry->count,
						     .clipped = entry->clipped});
	}
	if (rc == 0)
		rc = store_metrics(run, window, summaries);
	if (rc == 0 && window->evidence)
		rc = store_set_evidence(
			store, run->result->run_id, window->number, window->evidence);
	if (rc == 0 && window->peer.silence.bytes)
		run_event(run, "silence", "%llu bytes in the window",
			(unsigned long long)window->peer.silence.bytes);
	if (rc == 0)
		rc = store_commit_window(store);
	if (rc != 0) {
		run_fail_store(run, rc);
		store_abort_window(store);
	}
	free(summaries);
	return rc;
}
