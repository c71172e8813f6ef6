/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/catalogue.h"

bool rows_is_measured(const char *series)
{
	return strncmp(series, "floor.", 6) != 0 && strncmp(series, "cold", 4) != 0 &&
	       strcmp(series, "bracket") != 0 && strcmp(series, "instret") != 0;
}

bool rows_is_lateness(const char *series)
{
	return strcmp(series, "latency") == 0 || strcmp(series, "isr") == 0;
}

const char *rows_unit(const char *series)
{
	const char *ending = strrchr(series, '_');

	if (strncmp(series, "held.", 5) == 0)
		return "of 1";
	if (ending && strcmp(ending, "_ms") == 0)
		return "ms";
	return ending && strcmp(ending, "_kib") == 0 ? "KiB" : NULL;
}

uint32_t rows_period_us(const char *series)
{
	const char *digits = series + strlen("period.");
	char *unit;
	unsigned long period;

	if (strncmp(series, "period.", strlen("period.")) != 0)
		return 0;
	period = strtoul(digits, &unit, 10);
	if (strcmp(unit, "us") == 0)
		return (uint32_t)period;
	return strcmp(unit, "ms") == 0 ? (uint32_t)period * 1000 : 0;
}

bool rows_is_gate_bench(unsigned bench_id)
{
	return bench_id == CATALOGUE_SLEEP_ID || bench_id == CATALOGUE_AUDIT_ID ||
	       bench_id == CATALOGUE_REFERENCE_ID;
}

bool rows_is_compared(unsigned bench_id, const char *series)
{
	return rows_is_measured(series) && !rows_is_gate_bench(bench_id);
}

void rows_name(char *name, size_t size, const char *bench, const char *phase, const char *series)
{
	const char *last_word = strrchr(bench, '.');
	size_t common;

	/* "pair.plain" of "mutex.pair" is "plain"; "latency" says nothing new. */
	last_word = last_word ? last_word + 1 : bench;
	common = strlen(last_word);
	if (strcmp(series, "latency") == 0 || strcmp(series, last_word) == 0)
		series = "";
	else if (strncmp(series, last_word, common) == 0 && series[common] == '.')
		series += common + 1;
	snprintf(name, size, "%s%s%s%s%s", bench, phase && phase[0] ? " " : "", phase ? phase : "",
		series[0] ? " " : "", series);
}

#define PERIOD_US 1000 /* of a window that does not say */

void rows_name_figures(char *name, size_t size, const struct query_figures *figures)
{
	const struct catalogue_bench *bench = catalogue_find(figures->window);
	bool is_other_load = figures->load[0] && bench &&
			     strcmp(catalogue_load_name(bench->load), figures->load) != 0;
	char period[32] = "";
	size_t used;

	rows_name(name, size, figures->window, figures->phase, figures->series);
	if (bench && bench->has_grid && figures->period_us != PERIOD_US && figures->period_us > 0)
		snprintf(period, sizeof(period), " %lld us", (long long)figures->period_us);
	used = strlen(name);
	snprintf(name + used, size - used, "%s%s%s", is_other_load ? " " : "",
		is_other_load ? figures->load : "", period);
}

bool rows_is_same(const struct query_figures *a, const struct query_figures *b)
{
	return strcmp(a->window, b->window) == 0 && strcmp(a->phase, b->phase) == 0 &&
	       strcmp(a->load, b->load) == 0 && a->period_us == b->period_us &&
	       strcmp(a->series, b->series) == 0;
}
