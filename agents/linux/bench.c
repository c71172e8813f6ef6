/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/bench.h"

#include <stdlib.h>
#include <string.h>

#include "agents/core/benches.h"
#include "agents/core/counter.h"
#include "agents/linux/bench_row.h"
#include "protocol/series.h"

#define SETTLE_MS  200
#define FACTS_SIZE 16384u
#define NS_PER_S   1000000000u

const struct bench_request bench_defaults = {
	.n = 20000, .period_us = 1000, .duration_ms = 20000, .seed = 1};

static const struct bench *find(const struct linux_port *port, const char *name)
{
	for (unsigned int id = 0; id <= UINT8_MAX; id++) {
		const struct bench *bench = benches_find(&port->posix.agent, (uint8_t)id);

		if (bench && strcmp(bench->name, name) == 0)
			return bench;
	}
	return NULL;
}

static void print_names(const struct linux_port *port, FILE *out)
{
	const char *separator = "";

	for (unsigned int id = 0; id <= UINT8_MAX; id++) {
		const struct bench *bench = benches_find(&port->posix.agent, (uint8_t)id);

		if (!bench || bench->unsupported)
			continue;
		fprintf(out, "%s%s", separator, bench->name);
		separator = ", ";
	}
	fputc('\n', out);
}

/* ---------------------------------------------------------------- output */

/* The value of a line `key=value`, or NULL; its length in *length. */
static const char *find_value(const struct text *text, const char *key, int *length)
{
	size_t key_length = strlen(key);
	const char *at = text->data, *end = text->data + text->size;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		if (!line_end)
			return NULL;
		if ((size_t)(line_end - at) > key_length && at[key_length] == '=' &&
			memcmp(at, key, key_length) == 0) {
			*length = (int)(line_end - at - (ptrdiff_t)key_length - 1);
			return at + key_length + 1;
		}
		at = line_end + 1;
	}
	return NULL;
}

static void print_lines(const struct text *text, const char *const *keys, FILE *out)
{
	for (; *keys; keys++) {
		int length;
		const char *value = find_value(text, *keys, &length);

		if (value)
			fprintf(out, "  %-22s %.*s\n", *keys, length, value);
	}
}

static double to_us(const struct linux_port *port, double counts)
{
	return counts * 1e6 / (double)port->posix.agent.counter_rate_hz;
}

static void print_row(const struct linux_port *port, const struct bench_row *row, FILE *out)
{
	fprintf(out, "%-24s %8u %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f\n", row->name,
		row->n, to_us(port, row->min), to_us(port, row->mean), to_us(port, row->p50),
		to_us(port, row->p90), to_us(port, row->p99), to_us(port, row->p99_9),
		to_us(port, row->max));
}

static void print_text(const struct linux_port *port, const struct window *window,
	const struct bench_row *rows, size_t count, const struct text *facts, FILE *out)
{
	static const char *const system[] = {"kernel_version", "preemption", "platform",
		"clock_source", "tick_hz", "tuning.policy", "tuning.cpu", "settings.unfair",
		"clock_discipline", NULL};
	static const char *const counters[] = {"load", "phase", "missed", "early", "interrupts",
		"page_faults", "context_switches", "preemptions", "kernel_messages",
		"clock_steered", "frequency_changed", "failure", NULL};

	fprintf(out, "%s on %s, counter %llu Hz\n", window->bench->name, port->name.release,
		(unsigned long long)port->posix.agent.counter_rate_hz);
	print_lines(facts, system, out);
	fprintf(out, "\n%-24s %8s %10s %10s %10s %10s %10s %10s %10s\n", "us", "n", "min", "mean",
		"p50", "p90", "p99", "p99.9", "max");
	for (size_t i = 0; i < count; i++)
		print_row(port, &rows[i], out);
	fputc('\n', out);
	print_lines(&window->counters, counters, out);
}

static void print_json_lines(const struct text *text, FILE *out)
{
	const char *at = text->data, *end = text->data + text->size;
	const char *separator = "";

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		const char *equals = memchr(at, '=', (size_t)(end - at));

		if (!line_end || !equals || equals > line_end)
			return;
		fprintf(out, "%s\n    \"%.*s\": \"", separator, (int)(equals - at), at);
		for (const char *c = equals + 1; c < line_end; c++) {
			if (*c == '"' || *c == '\\')
				fputc('\\', out);
			fputc(*c, out);
		}
		fputc('"', out);
		separator = ",";
		at = line_end + 1;
	}
}

static void print_json(const struct linux_port *port, const struct window *window,
	const struct bench_row *rows, size_t count, const struct text *facts, FILE *out)
{
	double ns = 1e9 / (double)port->posix.agent.counter_rate_hz;

	fprintf(out, "{\n  \"bench\": \"%s\",\n  \"counter_hz\": %llu,\n  \"rows_ns\": [",
		window->bench->name, (unsigned long long)port->posix.agent.counter_rate_hz);
	for (size_t i = 0; i < count; i++)
		fprintf(out,
			"%s\n    {\"name\": \"%s\", \"n\": %u, \"min\": %.1f, \"mean\": %.1f, "
			"\"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"p99.9\": %.1f, \"max\": %.1f}",
			i ? "," : "", rows[i].name, rows[i].n, rows[i].min * ns, rows[i].mean * ns,
			rows[i].p50 * ns, rows[i].p90 * ns, rows[i].p99 * ns, rows[i].p99_9 * ns,
			rows[i].max * ns);
	fprintf(out, "\n  ],\n  \"counters\": {");
	print_json_lines(&window->counters, out);
	fprintf(out, "\n  },\n  \"facts\": {");
	print_json_lines(facts, out);
	fprintf(out, "\n  }\n}\n");
}

/* ---------------------------------------------------------------- rows */

/* Every series of counts; of lateness also what a tool would show that skips releases. */
static size_t make_rows(const struct linux_port *port, const struct window *window,
	struct bench_row *rows, size_t capacity)
{
	uint64_t period =
		counter_scale(window->plan.period_us, port->posix.agent.counter_rate_hz, 1000000);
	size_t count = 0;

	for (uint16_t i = 0; i < window->series_count && count + 2 <= capacity; i++) {
		const struct window_series *series = &window->series[i];

		if (series->kind != SERIES_KIND_COUNTS || series->count == 0)
			continue;
		if (bench_row_make(&rows[count], series->name, series->data, series->count) != 0)
			break;
		count++;
		if (strcmp(series->name, "latency") == 0 && period &&
			bench_row_make_skipped(&rows[count], series->data, series->count, period) ==
				0)
			count++;
	}
	return count;
}

static int measure(struct linux_port *port, const struct bench *bench,
	const struct bench_request *request, struct window *window)
{
	struct agent_port *agent = &port->posix.agent;
	struct arena arena = {.base = agent->arena, .size = agent->arena_size};
	struct window_plan plan = {.window = 1,
		.bench = bench->id,
		.n = request->n,
		.period_us = request->period_us,
		.settle_ms = SETTLE_MS,
		.duration_ms = request->duration_ms,
		.seed = request->seed,
		.arbitrary_phase = request->is_arbitrary};
	int status;

	window_init(window, agent, &arena, &plan, bench);
	status = window_prepare(window);
	return status ? status : window_run(window);
}

int bench_run(struct linux_port *port, const struct bench_request *request, FILE *out, FILE *errors)
{
	const struct bench *bench = find(port, request->name);
	struct bench_row rows[2 * WINDOW_SERIES_MAX];
	struct window window;
	char facts_data[FACTS_SIZE];
	struct text facts;
	size_t count;
	int status;

	if (!bench || bench->unsupported) {
		fprintf(errors, "sameboard-agent: benchmark %s %s; there are: ", request->name,
			bench ? bench->unsupported : "is unknown");
		print_names(port, errors);
		return WIRE_ERROR_UNKNOWN_BENCH;
	}
	text_init(&facts, facts_data, sizeof(facts_data));
	port->posix.agent.ops->facts(&port->posix.agent, &facts);
	status = measure(port, bench, request, &window);
	if (status) {
		fprintf(errors, "sameboard-agent: %s: %s%s%s\n", bench->name,
			wire_error_name(status), window.failure[0] ? ": " : "", window.failure);
		return status;
	}
	count = make_rows(port, &window, rows, sizeof(rows) / sizeof(rows[0]));
	if (request->is_json)
		print_json(port, &window, rows, count, &facts, out);
	else
		print_text(port, &window, rows, count, &facts, out);
	return 0;
}
