/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/rows.h"
#include "protocol/series.h"

enum kind {
	BOOLEAN,
	INTEGER,  /* int, enum */
	UNSIGNED, /* unsigned */
	U32,
	I32,
	U64, /* as text: JSON's numbers end at 2^53 */
	NUMBER,
	TEXT,
};

struct field {
	const char *name;
	enum kind kind;
	size_t offset;
};

#define RUN(kind, member)                                                                          \
	{                                                                                          \
#member, kind, offsetof(struct gate_run, member)                                   \
	}
#define WINDOW(kind, member)                                                                       \
	{                                                                                          \
#member, kind, offsetof(struct gate_window, member)                                \
	}

/* Sleeps are in the samples, and are not repeated here. */
static const struct field run_fields[] = {
	RUN(BOOLEAN, is_emulated),
	RUN(BOOLEAN, is_icount),
	RUN(BOOLEAN, is_local),
	RUN(U64, counter_hz),
	RUN(TEXT, card_sha256),
	RUN(TEXT, image_sha256),
	RUN(UNSIGNED, payloads),
	RUN(UNSIGNED, payloads_matched),
	RUN(TEXT, payload_note),
	RUN(U32, session),
	RUN(TEXT, reset_note),
	RUN(NUMBER, reset_s),
	RUN(TEXT, lost_note),
	RUN(U64, frames),
	RUN(NUMBER, answered_s),
	RUN(NUMBER, soak_s),
	RUN(INTEGER, sleep),
	RUN(NUMBER, sleep_deadline_s),
	RUN(BOOLEAN, has_interrupts),
	RUN(U64, interrupts),
	RUN(INTEGER, audit),
	RUN(INTEGER, audit_error),
	RUN(NUMBER, audit_accepted_ppm),
	RUN(INTEGER, host_error),
	RUN(NUMBER, host_fit.ppm),
	RUN(NUMBER, host_fit.uncertainty),
	RUN(NUMBER, host_fit.span_s),
	RUN(I32, reference_first),
	RUN(I32, reference_last),
	RUN(NUMBER, reference_peers),
	RUN(UNSIGNED, reference_runs),
	RUN(TEXT, build_optimisation),
	RUN(TEXT, build_config),
	RUN(BOOLEAN, build_is_debug),
	RUN(TEXT, agent_optimised),
	RUN(TEXT, agent_sanitized),
	RUN(TEXT, build_flags),
	RUN(TEXT, agent_version),
	RUN(TEXT, agent_expected),
	RUN(TEXT, settings),
	RUN(UNSIGNED, required),
	RUN(BOOLEAN, has_facts),
	RUN(TEXT, required_note),
	RUN(BOOLEAN, has_host_clock),
	RUN(NUMBER, host_run_ms),
	RUN(NUMBER, host_jump_ms),
	RUN(NUMBER, host_sleep_ms),
	RUN(TEXT, wake_name),
	RUN(NUMBER, wake_p50),
	RUN(NUMBER, wake_bracket),
	RUN(NUMBER, sem_p50),
};

static const struct field window_fields[] = {
	WINDOW(UNSIGNED, number),
	WINDOW(U64, host_heard),
	WINDOW(TEXT, heard),
	WINDOW(BOOLEAN, is_disturbed),
	WINDOW(BOOLEAN, is_unheard),
	WINDOW(U64, uart_rx),
	WINDOW(U64, uart_tx),
	WINDOW(U64, kernel_messages),
	WINDOW(U64, page_faults),
	WINDOW(U32, asked),
	WINDOW(U32, got),
	WINDOW(BOOLEAN, is_complete),
	WINDOW(INTEGER, status),
	WINDOW(TEXT, failure),
	WINDOW(U64, clipped),
	WINDOW(BOOLEAN, has_floor),
	WINDOW(I32, floor_before),
	WINDOW(I32, floor_after),
	WINDOW(BOOLEAN, has_load),
	WINDOW(U64, load_rounds),
	WINDOW(U64, load_counts),
	WINDOW(U64, counter_hz),
	WINDOW(TEXT, throttled),
	WINDOW(TEXT, clock_steered),
	WINDOW(TEXT, frequency_changed),
	WINDOW(BOOLEAN, has_temperature),
	WINDOW(NUMBER, temperature_before),
	WINDOW(NUMBER, temperature_after),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ------------------------------------------------------------------- write */

static void write_number(cJSON *json, const char *name, double value)
{
	char text[40];

	if (!isfinite(value)) {
		cJSON_AddNullToObject(json, name);
		return;
	}
	/* Every digit: the same judgement must come out. */
	snprintf(text, sizeof(text), "%.17g", value);
	cJSON_AddItemToObject(json, name, cJSON_CreateRaw(text));
}

static void write_field(cJSON *json, const struct field *field, const void *at)
{
	char text[32];

	switch (field->kind) {
	case BOOLEAN:
		cJSON_AddBoolToObject(json, field->name, *(const bool *)at);
		return;
	case INTEGER:
		cJSON_AddNumberToObject(json, field->name, *(const int *)at);
		return;
	case UNSIGNED:
		cJSON_AddNumberToObject(json, field->name, *(const unsigned *)at);
		return;
	case U32:
		cJSON_AddNumberToObject(json, field->name, *(const uint32_t *)at);
		return;
	case I32:
		cJSON_AddNumberToObject(json, field->name, *(const int32_t *)at);
		return;
	case U64:
		snprintf(text, sizeof(text), "%llu", (unsigned long long)*(const uint64_t *)at);
		cJSON_AddStringToObject(json, field->name, text);
		return;
	case NUMBER:
		write_number(json, field->name, *(const double *)at);
		return;
	case TEXT:
		if (*(const char *const *)at)
			cJSON_AddStringToObject(json, field->name, *(const char *const *)at);
		return;
	}
}

static char *write_all(const struct field *fields, size_t count, const void *of)
{
	cJSON *json = cJSON_CreateObject();
	char *printed, *text;

	for (size_t i = 0; i < count; i++)
		write_field(json, &fields[i], (const char *)of + fields[i].offset);
	printed = cJSON_PrintUnformatted(json);
	text = printed ? strdup(printed) : NULL;
	cJSON_free(printed);
	cJSON_Delete(json);
	return text;
}

char *evidence_write_run(const struct gate_run *run)
{
	return write_all(run_fields, COUNT(run_fields), run);
}

char *evidence_write_window(const struct gate_window *window)
{
	return write_all(window_fields, COUNT(window_fields), window);
}

/* -------------------------------------------------------------------- read */

static void read_field(const cJSON *value, enum kind kind, void *at)
{
	double number = cJSON_IsNumber(value) ? value->valuedouble : 0;
	const char *text = cJSON_GetStringValue(value);

	switch (kind) {
	case BOOLEAN:
		*(bool *)at = cJSON_IsTrue(value);
		return;
	case INTEGER:
		*(int *)at = number > -2e9 && number < 2e9 ? (int)number : 0;
		return;
	case UNSIGNED:
		*(unsigned *)at = number >= 0 && number < 4e9 ? (unsigned)number : 0;
		return;
	case U32:
		*(uint32_t *)at = number >= 0 && number < 4294967296.0 ? (uint32_t)number : 0;
		return;
	case I32:
		*(int32_t *)at =
			number > -2147483649.0 && number < 2147483648.0 ? (int32_t)number : 0;
		return;
	case U64:
		*(uint64_t *)at = text ? strtoull(text, NULL, 10) : 0;
		return;
	case NUMBER:
		*(double *)at = cJSON_IsNumber(value) ? number : (double)NAN;
		return;
	case TEXT:
		*(const char **)at = text;
		return;
	}
}

static int read_all(const cJSON *json, const struct field *fields, size_t count, void *of)
{
	if (!cJSON_IsObject(json))
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		read_field(cJSON_GetObjectItemCaseSensitive(json, fields[i].name), fields[i].kind,
			(char *)of + fields[i].offset);
	return 0;
}

int evidence_read_run(const cJSON *json, struct gate_run *run)
{
	*run = (struct gate_run){0};
	return read_all(json, run_fields, COUNT(run_fields), run);
}

int evidence_read_window(const cJSON *json, struct gate_window *window)
{
	*window = (struct gate_window){0};
	return read_all(json, window_fields, COUNT(window_fields), window);
}

/* ------------------------------------------------------------------- tally */

void evidence_tally_add(
	struct evidence_tally *tally, unsigned kind, const char *series, uint32_t count)
{
	if (kind == SERIES_KIND_STAMPS && tally->stamps == 0)
		tally->stamps = count;
	if (kind != SERIES_KIND_COUNTS || !rows_is_measured(series))
		return;
	if (!tally->has_samples || count < tally->shortest)
		tally->shortest = count;
	if (count > tally->longest)
		tally->longest = count;
	tally->has_samples = true;
}

uint32_t evidence_tally_end(const struct evidence_tally *tally)
{
	uint32_t got = tally->asked ? tally->shortest : tally->longest;

	return got ? got : tally->stamps;
}
