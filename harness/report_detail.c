/* SPDX-License-Identifier: Apache-2.0 */
/* The appendix of a report: gates with evidence, every series, consoles. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/utf8.h"
#include "harness/gates.h"
#include "harness/report_runs.h"
#include "harness/rows.h"
#include "harness/stats.h"

#define EVIDENCE_MAX  400 /* rows of a table */
#define CONSOLE_LINES 60
#define CONSOLE_SIZE  6000
#define SERIES_RUNS   200

/* ------------------------------------------------------------------ gates */

struct tally {
	unsigned of[GATE_VERDICT_COUNT];
};

static void count_gate(
	const struct compare *compare, size_t system, const char *id, struct tally *tally)
{
	*tally = (struct tally){{0}};
	for (size_t r = 0; r < compare->run_count; r++) {
		const struct query_gate *gates;
		size_t count = compare_gates(compare, r, &gates);

		if (strcmp(compare->runs[r]->system, compare->systems[system].name) != 0)
			continue;
		for (size_t g = 0; g < count; g++)
			if (strcmp(gates[g].id, id) == 0)
				tally->of[gates[g].verdict]++;
	}
}

static void add_tally(struct table *table, const struct tally *tally)
{
	static const char *const words[GATE_VERDICT_COUNT] = {"pass", "fail", "unknown", "n/a"};
	static const enum gate_verdict order[] = {GATE_VERDICT_FAIL, GATE_VERDICT_UNKNOWN,
		GATE_VERDICT_PASS, GATE_VERDICT_NOT_APPLICABLE};
	char text[96] = "";
	size_t used = 0;

	for (size_t i = 0; i < GATE_VERDICT_COUNT; i++)
		if (tally->of[order[i]])
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %u",
				used ? ", " : "", words[order[i]], tally->of[order[i]]);
	table_add(table, "%s", used ? text : "-");
}

static void add_gate_table(struct report *report, const struct compare *compare)
{
	size_t systems = compare->system_count < TABLE_COLUMNS_MAX - 2 ? compare->system_count
								       : TABLE_COLUMNS_MAX - 2;
	const char *heading[TABLE_COLUMNS_MAX] = {"gate", "threshold"};
	char align[TABLE_COLUMNS_MAX + 1] = "";
	struct report_block *block;

	memset(align, 'l', systems + 2);
	for (size_t s = 0; s < systems; s++)
		heading[s + 2] = compare->systems[s].name;
	block = report_add_table(
		report, "how often each gate held, over all runs and windows", align, heading);
	for (int g = 0; block && g < GATES; g++) {
		const struct gate_description *gate = gate_describe((enum gate)g);

		table_add(&block->table, "%s", gate->id);
		table_add(&block->table, "%s", gate->threshold);
		for (size_t s = 0; s < systems; s++) {
			struct tally tally;

			count_gate(compare, s, gate->id, &tally);
			add_tally(&block->table, &tally);
		}
	}
	if (block)
		block->note = "`sameboard gates` says what each proves and where its threshold "
			      "comes from. A run is valid when none failed and what is unknown was "
			      "allowed by its suite.";
}

/* What did not pass, and what passed with a warning. */
static bool is_worth_showing(const struct query_gate *gate)
{
	return gate->verdict == GATE_VERDICT_FAIL || gate->verdict == GATE_VERDICT_UNKNOWN ||
	       (gate->verdict == GATE_VERDICT_PASS && strstr(gate->evidence, "warning"));
}

void report_add_gates(struct report *report, const struct compare *compare)
{
	static const char *const heading[] = {"run", "window", "gate", "verdict", "evidence"};
	struct report_block *block = NULL;
	size_t shown = 0;

	report_add(report, REPORT_HEADING, "Gates");
	add_gate_table(report, compare);
	for (size_t r = 0; r < compare->run_count; r++) {
		const struct query_gate *gates;
		size_t count = compare_gates(compare, r, &gates);

		for (size_t g = 0; g < count && shown < EVIDENCE_MAX; g++) {
			if (!is_worth_showing(&gates[g]))
				continue;
			if (!block)
				block = report_add_table(report, "what failed, is unknown or warns",
					"rrlll", heading);
			if (!block)
				return;
			table_add(&block->table, "%lld", (long long)compare->runs[r]->id);
			table_add(&block->table, "%lld", (long long)gates[g].window);
			table_add(&block->table, "%s", gates[g].id);
			table_add(&block->table, "%s", verdict_gate_name(gates[g].verdict));
			table_add(&block->table, "%s", gates[g].evidence);
			shown++;
		}
	}
	if (block && shown == EVIDENCE_MAX)
		block->note = "Only the first of them; `sameboard show RUN` has all.";
}

/* ----------------------------------------------------------------- series */

static const double limits_us[] = {10, 20, 50, 100, 200, 500, 1000};
#define LIMITS (sizeof(limits_us) / sizeof(limits_us[0]))

static void add_exceedances(struct table *table, const int32_t *samples, size_t count, double us)
{
	size_t above[LIMITS] = {0}, used = 0;
	char text[128] = "";

	for (size_t i = 0; i < count; i++)
		for (size_t l = 0; l < LIMITS && samples[i] * us > limits_us[l]; l++)
			above[l]++;
	for (size_t l = 0; l < LIMITS; l++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%zu", l ? " / " : "", above[l]);
	table_add(table, "%s", text);
}

static int add_one_series(
	struct report_block *block, const struct report_runs *runs, const struct query_figures *f)
{
	double us = 1e6 / f->counter_hz / f->batch;
	struct stats_summary s;
	void *samples = NULL;
	char name[96];
	size_t count;
	int rc = query_samples(runs->store, f->series_id, STORE_SERIES_COUNTS, &samples, &count);

	if (rc == 0)
		rc = stats_summarise(samples, count, 0, &s);
	if (rc == -EINVAL) { /* no samples */
		free(samples);
		return 0;
	}
	if (rc != 0) {
		free(samples);
		return rc;
	}
	rows_name_figures(name, sizeof(name), f);
	table_add(&block->table, "%lld", (long long)f->run_id);
	table_add(&block->table, "%s", name);
	table_add(&block->table, "%zu", s.n);
	table_add(&block->table, "%.3f", s.min * us);
	table_add(&block->table, "%.3f", s.mean * us);
	table_add(&block->table, "%.3f", s.sd * us);
	table_add(&block->table, "%.3f", s.mad * us);
	for (int q = STATS_P50; q <= STATS_P9999; q++) {
		if (q == STATS_P95)
			continue;
		if (stats_quantile_is_few((enum stats_quantile)q, s.n))
			table_add(&block->table, "few");
		else
			table_add(&block->table, "%.3f", s.quantiles[q] * us);
	}
	table_add(&block->table, "%.3f at %zu", s.max * us, s.max_index);
	table_add(&block->table, "%.2f", s.lag1);
	table_add(&block->table, "%.0f / %.0f", f->missed, f->early);
	add_exceedances(&block->table, samples, count, us);
	free(samples);
	return 0;
}

int report_add_series(struct report *report, const struct report_runs *runs)
{
	static const char *const heading[] = {"run", "row", "n", "min", "mean", "sd", "MAD", "p50",
		"p90", "p99", "p99.9", "p99.99", "max at", "lag-1", "missed / early",
		"above 10/20/50/100/200/500/1000 us"};
	const struct compare *compare = runs->compare;
	const struct query_figures **found = calloc(compare->run_count + 1, sizeof(*found));
	struct report_block *block;
	int rc = found ? 0 : -ENOMEM;

	block = rc == 0 && compare->row_count
			? report_add_table(report, "Every series of every valid run, in us",
				  "rlrrrrrrrrrrrrrr", heading)
			: NULL;
	for (size_t r = 0; block && rc == 0 && r < compare->row_count; r++) {
		for (size_t s = 0; rc == 0 && !compare->rows[r].unit && s < compare->system_count;
			s++) {
			size_t count = compare_collect(compare, &compare->rows[r], s, found);

			for (size_t i = 0; rc == 0 && i < count && i < SERIES_RUNS; i++)
				rc = add_one_series(block, runs, found[i]);
		}
	}
	if (block) {
		block->is_folded = true;
		block->note = "Reckoned from the samples, not from what was stored with them. "
			      "Jitter is none of these by itself: max - min, p99 - p50 or sd.";
	}
	free(found);
	return rc;
}

/* --------------------------------------------------------------- consoles */

/* Lines of text from the board before its first frame: a frame begins with 00. */
static size_t take_text(const char *data, size_t size, const struct store_mark *marks,
	size_t mark_count, bool is_to_end, char *text, size_t room)
{
	size_t used = 0;

	for (size_t m = 0; m < mark_count; m++) {
		size_t from = (size_t)marks[m].offset;
		size_t to = m + 1 < mark_count ? (size_t)marks[m + 1].offset : size;

		if (marks[m].sent)
			continue;
		for (size_t i = from; i < to && i < size; i++) {
			if (data[i] == '\0' && !is_to_end)
				return used;
			if (used == room) { /* keeps what came last */
				memmove(text, text + room / 2, room - room / 2);
				used = room - room / 2;
			}
			if ((unsigned char)data[i] >= 0x20 || data[i] == '\n' || data[i] == '\t')
				text[used++] = data[i];
		}
	}
	return used;
}

static const char *last_lines(const char *text, size_t size, unsigned lines)
{
	const char *at = text + size;

	while (at > text && lines > 0) {
		at--;
		lines -= *at == '\n';
	}
	return at > text ? at + 1 : text;
}

static int add_console(
	struct report *report, const struct report_runs *runs, const struct query_run *run)
{
	bool is_valid = run->verdict == VERDICT_PASS;
	struct store_mark *marks = NULL;
	char text[CONSOLE_SIZE + 1], *data = NULL;
	size_t size, mark_count, used;
	struct report_block *block;
	int rc = query_console(runs->store, run->id, &data, &size, &marks, &mark_count);

	if (rc != 0)
		return rc;
	/* Of a valid run how it booted; of another one what came last. */
	used = take_text(data, size, marks, mark_count, !is_valid, text, CONSOLE_SIZE);
	text[used] = '\0';
	utf8_mend_text(text);
	free(data);
	free(marks);
	if (used == 0)
		return 0;
	block = report_add(report, REPORT_CONSOLE, "run %lld, %s: %s", (long long)run->id,
		run->system,
		is_valid ? "the console until the agent spoke" : "the last of the console");
	if (block) {
		block->note =
			report_keep(report, "%s", last_lines(text, strlen(text), CONSOLE_LINES));
		block->is_folded = is_valid;
	}
	return 0;
}

int report_add_consoles(struct report *report, const struct report_runs *runs)
{
	const struct compare *compare = runs->compare;
	int rc = 0;

	report_add(report, REPORT_HEADING, "Consoles");
	for (size_t s = 0; rc == 0 && s < compare->system_count; s++) {
		const struct query_run *shown = NULL;

		/* The first of each system, and every one that is not valid. */
		for (size_t r = 0; rc == 0 && r < compare->run_count; r++) {
			const struct query_run *run = compare->runs[r];

			if (strcmp(run->system, compare->systems[s].name) != 0 ||
				(shown && run->verdict == VERDICT_PASS))
				continue;
			shown = run;
			rc = add_console(report, runs, run);
		}
	}
	return rc;
}
