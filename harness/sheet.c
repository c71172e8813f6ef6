/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalogue.h"
#include "harness/rows.h"

#define BENCH_PERIOD	  7
#define BENCH_IRQ	  8
#define BENCH_IRQ_SPLIT	  5
#define BENCH_WAKE	  1
#define BENCH_SEM	  20
#define BENCH_MUTEX	  22
#define BENCH_CREATE	  30
#define BENCH_CREATE_JOIN 32

#define BENCH_NOISE   70
#define BENCH_CONTAIN 90

#define SLICE_MS 1000 /* of the benchmark noise */

#define ANSWER_SIZE 128

/* One line of the sheet; `answer` writes what one system has to say, "" for nothing. */
struct question {
	const char *text;
	void (*answer)(const struct question *question, const struct compare *compare,
		size_t system, char *text);
	int64_t bench;
	const char *series; /* NULL: any */
	const char *key;    /* of a metric or fact */
};

static const struct compare_cell *cell_of(
	const struct compare *compare, const struct compare_row *row, size_t system)
{
	(void)compare;
	return &row->cells[system];
}

/* The row of a benchmark that says most: arbitrary phase before aligned, loaded before idle. */
static const struct compare_row *find_row(
	const struct compare *compare, const struct question *question, size_t system)
{
	const struct compare_row *best = NULL;
	int best_rank = -1;

	for (size_t r = 0; r < compare->row_count; r++) {
		const struct compare_row *row = &compare->rows[r];
		int rank = (strcmp(row->like->phase, "arbitrary") == 0) +
			   2 * (strcmp(row->like->load, "idle") != 0) +
			   4 * (row->cells[system].boots > 0);

		if (row->like->bench != question->bench ||
			(question->series && strcmp(row->like->series, question->series) != 0) ||
			rank <= best_rank)
			continue;
		best = row;
		best_rank = rank;
	}
	return best;
}

static double to_us(const struct compare_system *system, double counts)
{
	return counts * 1e6 / system->counter_hz;
}

/* At or below its floor a value is only known to be that. */
static int print_value(
	char *text, size_t size, const struct compare_system *system, double counts, double floor)
{
	bool is_below = counts <= floor;
	double us = to_us(system, is_below ? floor : counts);

	return snprintf(text, size, "%s%.*f us", is_below ? "<= " : "",
		us >= 100  ? 0
		: us >= 10 ? 1
			   : 3,
		us);
}

/* p50 and p99 of one row. */
static void answer_row(
	const struct question *question, const struct compare *compare, size_t system, char *text)
{
	const struct compare_row *row = find_row(compare, question, system);
	const struct compare_cell *cell = row ? cell_of(compare, row, system) : NULL;
	const struct compare_system *of = &compare->systems[system];
	char p50[32], p99[32];

	if (cell && cell->boots > 0) {
		print_value(p50, sizeof(p50), of, cell->p50, cell->floor);
		print_value(p99, sizeof(p99), of, cell->p99, cell->floor);
		snprintf(text, ANSWER_SIZE, "%s, p99 %s", p50, p99);
	} else if (cell && cell->unsupported) {
		snprintf(text, ANSWER_SIZE, "unsupported: %s", cell->unsupported);
	}
}

/* From the longest period down to the first with a miss: a shorter one without any is luck. */
static void answer_period(
	const struct question *question, const struct compare *compare, size_t system, char *text)
{
	uint32_t shortest = 0, longest_missed = 0;
	size_t periods = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t r = 0; r < compare->row_count; r++) {
			const struct compare_row *row = &compare->rows[r];
			const struct compare_cell *cell = &row->cells[system];
			uint32_t period_us = rows_period_us(row->like->series);

			if (row->like->bench != question->bench || period_us == 0)
				continue;
			if (cell->boots == 0) {
				if (cell->unsupported)
					snprintf(text, ANSWER_SIZE, "unsupported: %s",
						cell->unsupported);
			} else if (pass == 0) {
				periods++;
				if (cell->missed > 0 && period_us > longest_missed)
					longest_missed = period_us;
			} else if (period_us > longest_missed &&
				   (shortest == 0 || period_us < shortest)) {
				shortest = period_us;
			}
		}
	if (periods > 0 && shortest == 0)
		snprintf(text, ANSWER_SIZE, "misses at each of %zu periods", periods);
	else if (periods > 0)
		snprintf(text, ANSWER_SIZE, "%.4g Hz (%u us, of %zu periods)", 1e6 / shortest,
			shortest, periods);
}

/* A value that is no time of the counter, in its own unit. */
static void answer_value(
	const struct question *question, const struct compare *compare, size_t system, char *text)
{
	const struct compare_row *row = find_row(compare, question, system);
	const struct compare_cell *cell = row ? &row->cells[system] : NULL;

	if (!cell || cell->boots == 0)
		return;
	if (row->unit && strcmp(row->unit, "ms") == 0)
		snprintf(text, ANSWER_SIZE, "%.2f s", cell->p50 / 1e3);
	else if (row->unit && strcmp(row->unit, "KiB") == 0)
		snprintf(text, ANSWER_SIZE, "%.3g MiB", cell->p50 / 1024);
	else
		snprintf(text, ANSWER_SIZE, "%.0f %s", cell->p50, row->unit ? row->unit : "");
}

/* Lost in each slice of a spinning thread. */
static void answer_lost(
	const struct question *question, const struct compare *compare, size_t system, char *text)
{
	const struct compare_row *row = find_row(compare, question, system);
	const struct compare_cell *cell = row ? &row->cells[system] : NULL;

	if (cell && cell->boots > 0)
		snprintf(text, ANSWER_SIZE, "%.3f %%",
			cell->mean * 1e3 / SLICE_MS / compare->systems[system].counter_hz * 100);
	else if (cell && cell->unsupported)
		snprintf(text, ANSWER_SIZE, "unsupported: %s", cell->unsupported);
}

/* Who went on beside a wild write: 1 or 0 of each. */
static void answer_held(
	const struct question *question, const struct compare *compare, size_t system, char *text)
{
	size_t used = 0;

	for (size_t r = 0; r < compare->row_count; r++) {
		const struct compare_row *row = &compare->rows[r];
		const struct compare_cell *cell = &row->cells[system];

		if (row->like->bench != question->bench ||
			strncmp(row->like->series, "held.", 5) != 0 || used >= ANSWER_SIZE)
			continue;
		if (cell->boots > 0)
			used += (size_t)snprintf(text + used, ANSWER_SIZE - used, "%s%s %s",
				used ? ", " : "", row->like->series + 5,
				cell->min >= 1 ? "holds" : "does not hold");
		else if (cell->unsupported && used == 0)
			snprintf(text, ANSWER_SIZE, "unsupported: %s", cell->unsupported);
	}
}

static void answer_memory(
	const struct question *question, const struct compare *compare, size_t system, char *text)
{
	const struct compare_system *of = &compare->systems[system];
	const char *used = query_find_fact(of->facts, of->fact_count, question->key, NULL);
	const char *total = query_find_fact(of->facts, of->fact_count, "memory_bytes", NULL);
	const char *unused = query_find_fact(of->facts, of->fact_count, "memory_free_bytes", NULL);
	double bytes = used		 ? strtod(used, NULL)
		       : total && unused ? strtod(total, NULL) - strtod(unused, NULL)
					 : (double)NAN;

	answer_value(question, compare, system, text);
	if (!text[0] && !isnan(bytes))
		snprintf(text, ANSWER_SIZE, "%.3g MiB", bytes / 1048576);
}

/* What the loader read into memory, as the manifest says. */
static void answer_image(
	const struct question *question, const struct compare *compare, size_t system, char *text)
{
	int64_t run_id = compare->systems[system].last_run_id;
	char *manifest = NULL;
	const cJSON *payload;
	double bytes = 0;
	cJSON *json;

	(void)question;
	if (!run_id || query_manifest(compare->store, run_id, &manifest) != 0)
		return;
	json = cJSON_Parse(manifest);
	cJSON_ArrayForEach(payload, cJSON_GetObjectItem(json, "payloads"))
	{
		double size = cJSON_GetNumberValue(cJSON_GetObjectItem(payload, "size"));

		bytes += isnan(size) ? 0 : size;
	}
	if (bytes > 0)
		snprintf(text, ANSWER_SIZE, "%.3g MiB", bytes / 1048576);
	cJSON_Delete(json);
	free(manifest);
}

static void answer_floor(
	const struct question *question, const struct compare *compare, size_t system, char *text)
{
	(void)question;
	for (size_t r = 0; r < compare->row_count; r++) {
		const struct compare_cell *cell = &compare->rows[r].cells[system];

		if (cell->boots == 0 || cell->batch > 1)
			continue;
		snprintf(text, ANSWER_SIZE, "%.3f us",
			to_us(&compare->systems[system], cell->floor));
		return;
	}
}

/* clang-format off */
static const struct question questions[] = {
	{"1. shortest period with no miss, under load", answer_period, BENCH_PERIOD, NULL, NULL},
	{"2. device interrupt to thread", answer_row, BENCH_IRQ, NULL, NULL},
	{"3. mutex handoff, plain", answer_row, BENCH_MUTEX, "handoff.plain", NULL},
	{"   mutex handoff, priority-inheriting", answer_row, BENCH_MUTEX, "handoff.pi", NULL},
	{"   semaphore handoff", answer_row, BENCH_SEM, "handoff", NULL},
	{"   thread create", answer_row, BENCH_CREATE, "create", NULL},
	{"   thread create and join", answer_row, BENCH_CREATE_JOIN, NULL, NULL},
	{"4. power-on to first output", answer_value, CATALOGUE_PRICE_ID, "first_output_ms", NULL},
	{"   power-on to the agent", answer_value, CATALOGUE_PRICE_ID, "hello_ms", NULL},
	{"   memory in use", answer_memory, CATALOGUE_PRICE_ID, "ram_kib", "memory_used_bytes"},
	{"   loaded by the boot loader", answer_image, 0, NULL, NULL},
	{"   processor lost at idle", answer_lost, BENCH_NOISE, "lost", NULL},
	{"5. a wild write in a victim task", answer_held, BENCH_CONTAIN, NULL, NULL},
	{"6. wake-up of the idle system", answer_row, BENCH_WAKE, "latency", NULL},
	{"   timer match to interrupt handler", answer_row, BENCH_IRQ_SPLIT, "isr", NULL},
	{"   reading the counter (floor)", answer_floor, 0, NULL, NULL},
};
/* clang-format on */

#define QUESTIONS (sizeof(questions) / sizeof(questions[0]))

/* Why no system has such a row, as this one's runs told. */
static void answer_unsupported(
	const struct compare *compare, int64_t bench_id, size_t system, char *text)
{
	const struct catalogue_bench *bench = catalogue_find_id((unsigned)bench_id);
	size_t length = bench ? strlen(bench->name) : 0;

	for (size_t r = 0; bench_id && bench && r < compare->run_count; r++) {
		const struct query_event *events;
		size_t count = compare_events(compare, r, &events);

		if (strcmp(compare->runs[r]->system, compare->systems[system].name) != 0)
			continue;
		for (size_t e = 0; e < count; e++)
			if (strcmp(events[e].kind, "unsupported") == 0 &&
				strncmp(events[e].text, bench->name, length) == 0 &&
				strncmp(events[e].text + length, ": ", 2) == 0)
				snprintf(text, ANSWER_SIZE, "unsupported: %.90s",
					events[e].text + length + 2);
	}
}

static void answer(const struct compare *compare, size_t q, size_t system, char *text)
{
	text[0] = '\0';
	if (compare->systems[system].valid == 0)
		snprintf(text, ANSWER_SIZE, "no valid run");
	else
		questions[q].answer(&questions[q], compare, system, text);
	if (!text[0])
		answer_unsupported(compare, questions[q].bench, system, text);
	if (!text[0])
		snprintf(text, ANSWER_SIZE, "not measured");
}

void sheet_fill(
	struct table *table, char align[TABLE_COLUMNS_MAX + 1], const struct compare *compare)
{
	size_t systems = compare->system_count < SHEET_SYSTEMS_MAX ? compare->system_count
								   : SHEET_SYSTEMS_MAX;
	char text[ANSWER_SIZE];

	memset(align, 'l', systems + 1);
	align[systems + 1] = '\0';
	table_init(table, align);
	table_add(table, "decision sheet");
	for (size_t s = 0; s < systems; s++)
		table_add(table, "%s (%s)", compare->systems[s].name,
			compare->systems[s].protection[0] ? compare->systems[s].protection
							  : "protection unknown");
	for (size_t q = 0; q < QUESTIONS; q++) {
		table_add(table, "%s", questions[q].text);
		for (size_t s = 0; s < systems; s++) {
			answer(compare, q, s, text);
			table_add(table, "%s", text);
		}
	}
}

cJSON *sheet_to_json(const struct compare *compare)
{
	cJSON *json = cJSON_CreateArray();
	char text[ANSWER_SIZE];

	for (size_t q = 0; q < QUESTIONS; q++) {
		cJSON *question = cJSON_CreateObject(), *answers;

		cJSON_AddStringToObject(question, "question",
			questions[q].text + strspn(questions[q].text, " 0123456789."));
		answers = cJSON_AddObjectToObject(question, "answers");
		for (size_t s = 0; s < compare->system_count; s++) {
			answer(compare, q, s, text);
			cJSON_AddStringToObject(answers, compare->systems[s].name, text);
		}
		cJSON_AddItemToArray(json, question);
	}
	return json;
}
