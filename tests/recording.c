/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/recording.h"

#include <check.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/samples.h"

#define LATENCIES "tests/data/latency/*.ns.txt"
#define NS_HZ	  1000000000u
/* Prime to the number of values, so that each (board, seed) begins elsewhere. */
#define BOARD_STEP 2971u
#define SEED_STEP  7919u

/* ---------------------------------------------------------------- dialogue */

/* \b is the only escape; other backslashes are drawings. */
static void say(struct recording_answer *answer, const char *text, const char *end)
{
	size_t used = answer->said ? strlen(answer->said) : 0;
	char *said = realloc(answer->said, used + strlen(text) + strlen(end) + 1);

	ck_assert_ptr_nonnull(said);
	answer->said = said;
	while (*text) {
		bool is_escape = text[0] == '\\' && text[1] == 'b';

		said[used++] = is_escape ? '\b' : text[0];
		text += is_escape ? 2 : 1;
	}
	strcpy(said + used, end);
}

static struct recording_answer *add_answer(struct recording *recording, const char *typed)
{
	struct recording_answer *answer = &recording->answers[recording->answer_count++];

	ck_assert_uint_le(recording->answer_count, RECORDING_ANSWERS_MAX);
	*answer = (struct recording_answer){.typed = strdup(typed)};
	say(answer, "", "");
	return answer;
}

static void read_dialogue(struct recording *recording)
{
	FILE *file = fopen(RECORDING_DIALOGUE, "r");
	struct recording_answer *answer = add_answer(recording, "");
	char *line = NULL;
	size_t room = 0;
	ssize_t size;

	ck_assert_msg(file != NULL, RECORDING_DIALOGUE ": %s", strerror(errno));
	while ((size = getline(&line, &room, file)) > 0) {
		const char *text = size > 2 ? line + 2 : "";

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '>')
			answer = add_answer(recording, text);
		else if (line[0] == '<' || line[0] == '=')
			say(answer, text, line[0] == '<' ? "\r\n" : "");
	}
	free(line);
	fclose(file);
	ck_assert_uint_gt(recording->answer_count, 2);
}

const char *recording_find(const struct recording *recording, const char *typed)
{
	for (size_t i = 0; i < recording->answer_count; i++)
		if (strcmp(recording->answers[i].typed, typed) == 0)
			return recording->answers[i].said;
	return NULL;
}

/* --------------------------------------------------------------- latencies */

static void add_values(struct recording *recording, const struct samples *samples)
{
	size_t count = recording->value_count + samples->count;
	int32_t *values = realloc(recording->values, count * sizeof(*values));

	ck_assert_ptr_nonnull(values);
	memcpy(values + recording->value_count, samples->values, samples->count * sizeof(*values));
	recording->values = values;
	recording->value_count = count;
}

static void read_values(struct recording *recording)
{
	glob_t found;

	ck_assert_int_eq(glob(LATENCIES, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct samples samples;

		ck_assert_msg(samples_read(&samples, found.gl_pathv[i], NS_HZ) == 0, "%s",
			samples_error(&samples));
		add_values(recording, &samples);
		samples_free(&samples);
	}
	globfree(&found);
	ck_assert_uint_gt(recording->value_count, 0);
}

int32_t recording_value(
	const struct recording *recording, unsigned board, uint32_t seed, uint32_t at)
{
	uint64_t place = (uint64_t)board * BOARD_STEP + (uint64_t)seed * SEED_STEP + at;

	return recording->values[place % recording->value_count];
}

void recording_open(struct recording *recording)
{
	*recording = (struct recording){0};
	read_dialogue(recording);
	read_values(recording);
}

void recording_close(struct recording *recording)
{
	for (size_t i = 0; i < recording->answer_count; i++) {
		free(recording->answers[i].typed);
		free(recording->answers[i].said);
	}
	free(recording->values);
}
