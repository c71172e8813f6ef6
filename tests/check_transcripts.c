/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of systems whose images are not built here: their evidence, recorded on the
 * virtual panel (tests/data/transcripts, each the zstd of what `sameboard export`
 * wrote).  It is judged again, and the raw line in it is taken apart: what came over
 * it is what was stored.
 */
#include <cjson/cJSON.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "boardctl/watcher.h"
#include "harness/bootrules.h"
#include "harness/export.h"
#include "harness/verify.h"
#include "harness/wire_decode.h"

#define TEXT_MAX  (1024 * 1024)
#define PULLS_MAX 256u
#define PULL_SIZE (64u * 1024)

static const struct transcript {
	const char *system;
	const char *title_end; /* the verdict */
	const char *start;     /* typed at the shell */
	enum watcher_state state;
	bool is_function_only;
} transcripts[] = {
	{"nuttx", ", pass", "sameboard", WATCHER_STATE_NUTTX, false},
	{"rtsmart", ", invalid", "/tmp/sameboard", WATCHER_STATE_RTSMART, true},
};

#define TRANSCRIPTS ((int)(sizeof(transcripts) / sizeof(transcripts[0])))

/* What was pulled of one series, put together again from its frames. */
struct pull {
	uint16_t window, series;
	size_t size;
	uint8_t data[PULL_SIZE];
};

static struct {
	const struct transcript *transcript;
	char *text;
	cJSON *root;
	struct pull *pulls;
	unsigned pull_count;
	unsigned hellos, byes;
	char typed[4096]; /* by the host, as text */
	size_t typed_size;
	struct watcher watcher;
	bool states[WATCHER_STATES];
} replay;

static void open_transcript(int index)
{
	char path[128];
	char *packed = malloc(TEXT_MAX);
	size_t size;
	FILE *file;

	memset(&replay, 0, sizeof(replay));
	replay.transcript = &transcripts[index];
	replay.text = malloc(TEXT_MAX);
	replay.pulls = calloc(PULLS_MAX, sizeof(*replay.pulls));
	ck_assert(packed && replay.text && replay.pulls);
	snprintf(path, sizeof(path), "tests/data/transcripts/%s.evidence.zst",
		replay.transcript->system);
	file = fopen(path, "rb");
	ck_assert_msg(file != NULL, "%s", path);
	size = fread(packed, 1, TEXT_MAX, file);
	fclose(file);
	size = ZSTD_decompress(replay.text, TEXT_MAX - 1, packed, size);
	ck_assert_msg(!ZSTD_isError(size), "%s", ZSTD_getErrorName(size));
	replay.text[size] = '\0';
	free(packed);
	replay.root = cJSON_Parse(replay.text);
	ck_assert_ptr_nonnull(replay.root);
}

static void close_transcript(void)
{
	cJSON_Delete(replay.root);
	free(replay.text);
	free(replay.pulls);
}

/* ------------------------------------------------------------- the raw line */

static void take_data(const struct message_data *data, const struct pull *end)
{
	struct pull *pull = replay.pulls;

	while (pull < end && (pull->window != data->window || pull->series != data->series))
		pull++;
	ck_assert_uint_lt((size_t)(pull - replay.pulls), PULLS_MAX);
	if (pull == end)
		replay.pull_count++;
	pull->window = data->window;
	pull->series = data->series;
	ck_assert_uint_le(data->offset + data->size, PULL_SIZE);
	memcpy(pull->data + data->offset, data->bytes, data->size);
	if (data->offset + data->size > pull->size)
		pull->size = data->offset + data->size;
}

static void take_item(void *context, const struct wire_item *item)
{
	(void)context;
	if (item->kind == WIRE_ITEM_FRAME) {
		ck_assert_msg(!item->problem, "a frame at %llu: %s",
			(unsigned long long)item->offset, item->problem);
		replay.hellos += item->message.type == MESSAGE_HELLO;
		replay.byes += item->message.type == MESSAGE_BYE;
		if (item->message.type == MESSAGE_DATA)
			take_data(&item->message.data, replay.pulls + replay.pull_count);
	} else if (item->is_sent && item->kind == WIRE_ITEM_TEXT &&
		   replay.typed_size + item->size < sizeof(replay.typed)) {
		memcpy(replay.typed + replay.typed_size, item->bytes, item->size);
		replay.typed_size += item->size;
	}
}

/* As it came: cut by direction, each piece with its time. */
static void replay_line(void)
{
	const cJSON *console = cJSON_GetObjectItem(replay.root, "console");
	const cJSON *marks = cJSON_GetObjectItem(console, "marks");
	struct bootrules *rules;
	struct wire_decoder decoder;
	size_t size;
	uint8_t *line = export_unpack(cJSON_GetObjectItem(console, "data")->valuestring, &size);
	struct watcher_config config;
	const cJSON *mark;

	ck_assert_ptr_nonnull(line);
	ck_assert_int_eq(bootrules_open(&rules, NULL), 0);
	config = (struct watcher_config){.rules = bootrules_get(rules), .prompt = "=> "};
	ck_assert_int_eq(watcher_init(&replay.watcher, &config), 0);
	watcher_restart(&replay.watcher, 0);
	wire_decode_init(&decoder, take_item, NULL);
	cJSON_ArrayForEach(mark, marks)
	{
		size_t from = (size_t)cJSON_GetArrayItem(mark, 0)->valuedouble;
		size_t to =
			mark->next ? (size_t)cJSON_GetArrayItem(mark->next, 0)->valuedouble : size;
		int64_t at_ms = (int64_t)cJSON_GetArrayItem(mark, 1)->valuedouble;
		bool is_sent = cJSON_GetArrayItem(mark, 2)->valuedouble != 0 ||
			       cJSON_IsTrue(cJSON_GetArrayItem(mark, 2));

		wire_decode_feed(&decoder, line + from, to - from, is_sent, at_ms);
		if (!is_sent && replay.hellos == 0)
			watcher_feed(&replay.watcher, (uint64_t)at_ms, line + from, to - from);
		replay.states[watcher_state(&replay.watcher)] = true;
	}
	ck_assert_uint_eq(decoder.totals.unreadable, 0);
	ck_assert_uint_gt(decoder.totals.frames, 100);
	free(line);
	bootrules_close(rules);
}

START_TEST(the_evidence_holds_when_it_is_judged_again)
{
	struct verify verify;
	size_t length, end = strlen(transcripts[_i].title_end);

	open_transcript(_i);
	ck_assert_int_eq(verify_text(&verify, replay.text, strlen(replay.text)), 0);
	for (int i = 0; i < VERIFY_CHECKS; i++)
		ck_assert_msg(verify.checks[i].wrong == 0, "%s: %s", verify.checks[i].what,
			verify.checks[i].detail);
	ck_assert(verify_holds(&verify));
	length = strlen(verify.title);
	ck_assert_msg(
		length > end && !strcmp(verify.title + length - end, transcripts[_i].title_end),
		"%s", verify.title);
	if (transcripts[_i].is_function_only)
		ck_assert_ptr_nonnull(strstr(replay.text, "function only"));
	close_transcript();
}
END_TEST

START_TEST(the_line_shows_the_boot_and_the_start_at_the_shell)
{
	open_transcript(_i);
	replay_line();
	ck_assert(replay.states[WATCHER_STATE_UBOOT_PROMPT]);
	ck_assert(replay.states[WATCHER_STATE_SHELL]);
	ck_assert_int_eq(watcher_verdict(&replay.watcher)->cause, WATCHER_CAUSE_NONE);
	ck_assert_uint_ge(replay.hellos, 2); /* unasked, and the session's */
	ck_assert_uint_eq(replay.byes, 1);
	ck_assert_msg(memmem(replay.typed, replay.typed_size, transcripts[_i].start,
			      strlen(transcripts[_i].start)) != NULL,
		"the host typed \"%.*s\"", (int)replay.typed_size, replay.typed);
	close_transcript();
}
END_TEST

/* Every raw series that was stored came over the line just so. */
START_TEST(what_was_stored_is_what_came_over_the_line)
{
	const cJSON *window, *series;
	unsigned compared = 0;

	open_transcript(_i);
	replay_line();
	cJSON_ArrayForEach(
		window, cJSON_GetObjectItem(cJSON_GetObjectItem(replay.root, "run"), "windows"))
	{
		cJSON_ArrayForEach(series, cJSON_GetObjectItem(window, "series"))
		{
			size_t size;
			void *data;
			bool is_found = false;

			if (strcmp(cJSON_GetObjectItem(series, "name")->valuestring, "counters") !=
				0)
				continue;
			data = export_unpack(
				cJSON_GetObjectItem(series, "data")->valuestring, &size);
			ck_assert_ptr_nonnull(data);
			for (unsigned i = 0; i < replay.pull_count; i++)
				is_found |= replay.pulls[i].size == size &&
					    !memcmp(replay.pulls[i].data, data, size);
			ck_assert_msg(is_found, "counters of a window did not come over the line");
			compared++;
			free(data);
		}
	}
	ck_assert_uint_ge(compared, 6);
	close_transcript();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transcripts");
	TCase *cases = tcase_create("transcripts");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, the_evidence_holds_when_it_is_judged_again, 0, TRANSCRIPTS);
	tcase_add_loop_test(
		cases, the_line_shows_the_boot_and_the_start_at_the_shell, 0, TRANSCRIPTS);
	tcase_add_loop_test(cases, what_was_stored_is_what_came_over_the_line, 0, TRANSCRIPTS);
	suite_add_tcase(suite, cases);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
