/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/junit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/utf8.h"

#define CONSOLE_MAX (128u * 1024) /* what came last */

enum outcome {
	PASSED,
	FAILURE,
	ERROR,
	SKIPPED,
};

static const char *const elements[] = {
	[FAILURE] = "failure", [ERROR] = "error", [SKIPPED] = "skipped"};

struct count {
	unsigned tests, failures, errors;
};

/* ------------------------------------------------------------------- text */

/* XML 1.0 knows no character below 20 but 9, A and D, and neither FFFE nor FFFF. */
static void put_text(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		size_t length = utf8_measure(text + i, size - i);
		unsigned char byte = (unsigned char)text[i];

		if (length == 0 || (byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7f ||
			(length == 3 && memcmp(text + i, "\xef\xbf", 2) == 0 &&
				(unsigned char)text[i + 2] >= 0xbe))
			fputc('?', out);
		else if (byte == '<')
			fputs("&lt;", out);
		else if (byte == '>')
			fputs("&gt;", out);
		else if (byte == '&')
			fputs("&amp;", out);
		else if (byte == '"')
			fputs("&quot;", out);
		else
			fwrite(text + i, 1, length, out);
		i += length ? length : 1;
	}
}

static void put_attribute(FILE *out, const char *name, const char *text)
{
	char line[512];

	snprintf(line, sizeof(line), "%s", text);
	utf8_mend_line(line);
	fprintf(out, " %s=\"", name);
	put_text(out, line, strlen(line));
	fputc('"', out);
}

static enum outcome outcome_of(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_PASS:
		return PASSED;
	case VERDICT_FAIL:
	case VERDICT_INVALID:
		return FAILURE;
	case VERDICT_SKIPPED:
		return SKIPPED;
	case VERDICT_RUNNING:
	case VERDICT_LAB_FAILURE:
	case VERDICT_INTERRUPTED:
	case VERDICT_COUNT:
		break;
	}
	return ERROR;
}

static void count_outcome(struct count *count, enum outcome outcome)
{
	count->tests++;
	count->failures += outcome == FAILURE;
	count->errors += outcome == ERROR;
}

/* ------------------------------------------------------------------ cases */

static void begin_case(
	FILE *out, const char *suite, const char *group, const char *name, double seconds)
{
	char class_name[256];

	snprintf(class_name, sizeof(class_name), "%.120s.%.120s", suite, group);
	fputs("    <testcase", out);
	put_attribute(out, "name", name);
	put_attribute(out, "classname", class_name);
	fprintf(out, " time=\"%.3f\">\n", seconds);
}

/* The message once more in the text: one of the consumers shows only that. */
static void put_outcome(FILE *out, enum outcome outcome, const char *type, const char *message)
{
	if (outcome == PASSED)
		return;
	fprintf(out, "      <%s", elements[outcome]);
	put_attribute(out, "message", message);
	put_attribute(out, "type", type);
	fputc('>', out);
	put_text(out, message, strlen(message));
	fprintf(out, "</%s>\n", elements[outcome]);
}

static void put_console(FILE *out, struct store *store, int64_t run_id)
{
	struct store_mark *marks = NULL;
	char *data = NULL;
	size_t size, mark_count, skip;

	if (query_console(store, run_id, &data, &size, &marks, &mark_count) != 0 || size == 0) {
		free(data);
		free(marks);
		return;
	}
	skip = size > CONSOLE_MAX ? size - CONSOLE_MAX : 0;
	fputs("      <system-out>", out);
	if (skip)
		fprintf(out, "(%zu bytes before are left out)\n", skip);
	put_text(out, data + skip, size - skip);
	fputs("</system-out>\n", out);
	free(data);
	free(marks);
}

static void put_run(FILE *out, const struct junit *junit, const struct query_run *run)
{
	enum outcome outcome = outcome_of(run->verdict);
	double seconds = run->ended_ms > run->started_ms
				 ? (double)(run->ended_ms - run->started_ms) / 1e3
				 : 0;
	char name[128];

	snprintf(name, sizeof(name), "%.60s, boot %lld", run->system, (long long)run->boot);
	begin_case(out, junit->suite, run->system, name, seconds);
	put_outcome(out, outcome, verdict_name(run->verdict), run->reason);
	if (outcome != PASSED)
		put_console(out, junit->compare->store, run->id);
	fputs("    </testcase>\n", out);
}

static bool is_confirmed(const struct junit *junit, const char *name)
{
	for (size_t i = 0; junit->confirmed && junit->confirmed[i]; i++)
		if (strcmp(junit->confirmed[i], name) == 0)
			return true;
	return false;
}

static enum outcome judge_row(
	const struct junit *junit, const struct change *change, size_t i, const char **type)
{
	const struct judge_row *row = &change->judged[i];

	*type = judge_name(row->judgement);
	if (row->after_count == 0) {
		*type = "missing";
		return FAILURE;
	}
	/* A suspect that was one before. */
	if (row->judgement == JUDGEMENT_REGRESSION ||
		(row->judgement == JUDGEMENT_SUSPECT && is_confirmed(junit, change->rows[i].name)))
		return FAILURE;
	return row->judgement == JUDGEMENT_TOO_FEW || row->judgement == JUDGEMENT_NOT_POSITIVE
		       ? SKIPPED
		       : PASSED;
}

static void put_row(FILE *out, const struct junit *junit, const struct change *change, size_t i)
{
	const struct judge_row *row = &change->judged[i];
	const char *type;
	enum outcome outcome = judge_row(junit, change, i, &type);
	char message[256], group[96];

	snprintf(group, sizeof(group), "%.64s.rows", change->rows[i].system);
	snprintf(message, sizeof(message), "%s: %.3f us before, %.3f us after, %+.1f %%, p %.4f%s",
		type, row->median_before, row->median_after, (row->change.ratio - 1) * 100,
		row->p_adjusted, is_confirmed(junit, change->rows[i].name) ? "; shown twice" : "");
	begin_case(out, junit->suite, group, change->rows[i].name, 0);
	put_outcome(out, outcome, type, message);
	if (outcome == PASSED) {
		fputs("      <system-out>", out);
		put_text(out, message, strlen(message));
		fputs("</system-out>\n", out);
	}
	fputs("    </testcase>\n", out);
}

static void put_exact(FILE *out, const struct junit *junit, const struct exact_row *row)
{
	bool is_equal = row->after == row->before;
	char message[160], name[128];

	snprintf(name, sizeof(name), "run %lld, %.90s", (long long)row->run_id, row->name);
	if (isnan(row->after))
		snprintf(message, sizeof(message), "missing");
	else
		snprintf(message, sizeof(message), "%.0f instructions before, %.0f after",
			row->before, row->after);
	begin_case(out, junit->suite, "exact", name, 0);
	put_outcome(out, is_equal ? PASSED : FAILURE, "regression", message);
	fputs("    </testcase>\n", out);
}

/* ------------------------------------------------------------------- whole */

static void count_all(const struct junit *junit, struct count *count)
{
	const struct against *against = junit->against;
	const char *type;

	for (size_t i = 0; junit->compare && i < junit->compare->run_count; i++)
		count_outcome(count, outcome_of(junit->compare->runs[i]->verdict));
	for (size_t i = 0; against && i < against->change.row_count; i++)
		count_outcome(count, judge_row(junit, &against->change, i, &type));
	for (size_t i = 0; against && i < against->exact.row_count; i++)
		count_outcome(count, against->exact.rows[i].after == against->exact.rows[i].before
					     ? PASSED
					     : FAILURE);
	if (junit->error[0])
		count_outcome(count, ERROR);
}

static double seconds_of(const struct compare *compare)
{
	double seconds = 0;

	for (size_t i = 0; compare && i < compare->run_count; i++)
		if (compare->runs[i]->ended_ms > compare->runs[i]->started_ms)
			seconds += (double)(compare->runs[i]->ended_ms -
					    compare->runs[i]->started_ms) /
				   1e3;
	return seconds;
}

static void put_counts(
	FILE *out, const char *element, const struct junit *junit, const struct count *count)
{
	fprintf(out, "<%s", element);
	put_attribute(out, "name", junit->suite);
	fprintf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" time=\"%.3f\">\n", count->tests,
		count->failures, count->errors, seconds_of(junit->compare));
}

bool junit_write(FILE *out, const struct junit *junit)
{
	const struct against *against = junit->against;
	struct count count = {0};

	count_all(junit, &count);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	put_counts(out, "testsuites", junit, &count);
	fputs("  ", out);
	put_counts(out, "testsuite", junit, &count);
	for (size_t i = 0; junit->compare && i < junit->compare->run_count; i++)
		put_run(out, junit, junit->compare->runs[i]);
	for (size_t i = 0; against && i < against->change.row_count; i++)
		put_row(out, junit, &against->change, i);
	for (size_t i = 0; against && i < against->exact.row_count; i++)
		put_exact(out, junit, &against->exact.rows[i]);
	if (junit->error[0]) {
		begin_case(out, junit->suite, "lab", "job", 0);
		put_outcome(out, ERROR, "lab-failure", junit->error);
		fputs("    </testcase>\n", out);
	}
	fputs("  </testsuite>\n</testsuites>\n", out);
	return !ferror(out);
}
