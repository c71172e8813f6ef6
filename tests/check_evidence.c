/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as one file: what was written verifies, and a changed sample, gate or
 * configuration is found, also where its hashes were made to fit again.
 */
#include <check.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/sha256.h"
#include "harness/evidence.h"
#include "harness/export.h"
#include "harness/verify.h"
#include "protocol/crc32c.h"
#include "tests/measured_run.h"

#define SUITE                                                                                      \
	"{ \"systems\": [\"linux\"], \"windows\": [{ \"bench\": \"wake.idle\", \"n\": 600 }] }"
#define SAMPLES 600

static struct store *store;
static int64_t run_id;

/* ------------------------------------------------------------------- a run */

static void add_text(unsigned id, const char *name, const char *text)
{
	ck_assert_int_eq(store_add_series(store, &(struct store_series){.id = id,
							 .name = name,
							 .kind = STORE_SERIES_TEXT,
							 .data = text,
							 .count = strlen(text)}),
		0);
}

/* wake.idle with its counters and the evidence of its gates. */
static void add_window(struct gate_set *gates)
{
	static const char counters[] = "uart_rx=0\nuart_tx=0\nkernel_messages=0\npage_faults=0\n";
	size_t count;
	int32_t *samples = measured_read_series(3, 1, &count);
	struct gate_window evidence = {.number = 1,
		.heard = "",
		.failure = "",
		.asked = SAMPLES,
		.got = SAMPLES,
		.is_complete = true,
		.throttled = "",
		.load_rounds = GATE_COUNTER_UNKNOWN,
		.load_counts = GATE_COUNTER_UNKNOWN,
		.counter_hz = MEASURED_HZ};
	struct store_window window = fixture_window(1);
	char *text = evidence_write_window(&evidence);

	ck_assert_uint_ge(count, SAMPLES);
	window.n = SAMPLES;
	window.bench = 1;
	window.name = "wake.idle";
	ck_assert_int_eq(store_begin_window(store, run_id, &window), 0);
	ck_assert_int_eq(store_add_series(store, &(struct store_series){.id = 2,
							 .name = "latency",
							 .kind = STORE_SERIES_COUNTS,
							 .data = samples,
							 .count = SAMPLES}),
		0);
	add_text(3, "counters", counters);
	measured_add_metrics(store, run_id, "latency", samples, SAMPLES, MEASURED_HZ / 1000);
	ck_assert_int_eq(store_set_evidence(store, run_id, 1, text), 0);
	ck_assert_int_eq(store_commit_window(store), 0);
	gate_judge_window(gates, &evidence);
	free(text);
	free(samples);
}

static bool allow_some(void *context, const char *id)
{
	(void)context;
	return strcmp(id, "floor-stable") == 0;
}

static char *make_file(void)
{
	static const char console[] = "U-Boot\nsameboard\n";
	const struct store_mark mark = {0, FIXTURE_T0, false};
	static const char manifest[] = "{\"system\": \"linux\", \"sha256\": \"00ff\"}";
	struct gate_set gates = {0};
	struct gate_run evidence = {.counter_hz = MEASURED_HZ,
		.card_sha256 = "00ff",
		.image_sha256 = "00ff",
		.session = 5,
		.frames = 10,
		.answered_s = 25.125,
		.soak_s = 20,
		.audit = GATE_PROGRESS_NOT_TRIED,
		.host_error = -1,
		.has_host_clock = true,
		.host_run_ms = 1000.0 / 3};
	int64_t job = measured_begin_job(store, "one", SUITE);
	struct store_run run = {.job_id = job,
		.board = "panel1",
		.model = "m",
		.system = "linux",
		.image_version = "1",
		.image_file = "linux.img",
		.image_sha256 = "00ff",
		.image_manifest = manifest,
		.boot = 1,
		.started_ms = FIXTURE_T0};
	char *text;
	bool is_failed;

	ck_assert_int_eq(store_begin_run(store, &run, &run_id), 0);
	ck_assert_int_eq(store_set_fact(store, run_id, "protection", "U+MMU process"), 0);
	ck_assert_int_eq(
		store_append_console(store, run_id, console, sizeof(console) - 1, &mark, 1), 0);
	add_window(&gates);
	text = evidence_write_run(&evidence);
	ck_assert_int_eq(store_set_evidence(store, run_id, 0, text), 0);
	free(text);
	gate_judge_run(&gates, &evidence);
	is_failed = gate_set_find_failure(&gates, allow_some, NULL) != NULL;
	ck_assert(is_failed); /* no sleeps were tried */
	ck_assert_int_eq(store_end_run(store, run_id, VERDICT_INVALID, "as the gates say",
				 FIXTURE_T0 + 9, gates.gates, gates.count),
		0);
	gate_set_free(&gates);
	ck_assert_int_eq(export_run(store, run_id, &text), 0);
	return text;
}

static void begin(void)
{
	store = fixture_open(":memory:");
}

static void end(void)
{
	store_close(store);
}

/* ------------------------------------------------------------------ tamper */

/* The file's own hash is made to fit what stands in it now. */
static char *seal_again(cJSON *json)
{
	char hex[SHA256_HEX_SIZE], *text;

	cJSON_DeleteItemFromObjectCaseSensitive(json, "sha256");
	text = cJSON_PrintUnformatted(json);
	ck_assert_int_eq(sha256_buffer(text, strlen(text), hex), 0);
	cJSON_free(text);
	cJSON_AddStringToObject(json, "sha256", hex);
	text = cJSON_PrintUnformatted(json);
	cJSON_Delete(json);
	return text;
}

static cJSON *window_of(cJSON *json)
{
	return cJSON_GetArrayItem(
		cJSON_GetObjectItem(cJSON_GetObjectItem(json, "run"), "windows"), 0);
}

static void set_text(cJSON *json, const char *key, const char *text)
{
	cJSON_ReplaceItemInObject(json, key, cJSON_CreateString(text));
}

/* One sample is one count more, and every hash of it fits again. */
static void change_sample(cJSON *json)
{
	cJSON *series = cJSON_GetArrayItem(cJSON_GetObjectItem(window_of(json), "series"), 0);
	char hex[SHA256_HEX_SIZE], crc[16], *packed;
	size_t size;
	int32_t *samples = export_unpack(cJSON_GetObjectItem(series, "data")->valuestring, &size);

	ck_assert_ptr_nonnull(samples);
	samples[7]++;
	ck_assert_int_eq(sha256_buffer(samples, size, hex), 0);
	snprintf(crc, sizeof(crc), "%08x", crc32c_update(0, (uint8_t *)samples, size));
	packed = export_pack(samples, size);
	set_text(series, "sha256", hex);
	set_text(series, "crc32c", crc);
	set_text(series, "data", packed);
	free(packed);
	free(samples);
}

static cJSON *gate_of(cJSON *json, int index)
{
	return cJSON_GetArrayItem(
		cJSON_GetObjectItem(cJSON_GetObjectItem(json, "run"), "gates"), index);
}

static void change_gate(cJSON *json)
{
	set_text(gate_of(json, 0), "evidence", "0 bytes, I promise");
}

static void remove_gate(cJSON *json)
{
	cJSON_DeleteItemFromArray(
		cJSON_GetObjectItem(cJSON_GetObjectItem(json, "run"), "gates"), 3);
}

static void change_verdict(cJSON *json)
{
	set_text(cJSON_GetObjectItem(json, "run"), "verdict", "pass");
}

static void change_manifest(cJSON *json)
{
	set_text(cJSON_GetObjectItem(json, "configuration"), "manifest",
		"{\"system\": \"linux\", \"sha256\": \"00fe\"}");
}

static void change_suite(cJSON *json)
{
	set_text(cJSON_GetObjectItem(json, "configuration"), "suite",
		"{ \"systems\": [\"linux\"], \"windows\": [{ \"bench\": \"wake.cpu\" }] }");
}

static void change_counters(cJSON *json)
{
	static const char counters[] = "uart_rx=0\nuart_tx=0\nkernel_messages=9\npage_faults=0\n";
	cJSON *series = cJSON_GetArrayItem(cJSON_GetObjectItem(window_of(json), "series"), 1);
	char hex[SHA256_HEX_SIZE], crc[16];
	char *packed = export_pack(counters, sizeof(counters) - 1);

	ck_assert_int_eq(sha256_buffer(counters, sizeof(counters) - 1, hex), 0);
	snprintf(crc, sizeof(crc), "%08x",
		crc32c_update(0, (const uint8_t *)counters, sizeof(counters) - 1));
	set_text(series, "sha256", hex);
	set_text(series, "crc32c", crc);
	set_text(series, "data", packed);
	free(packed);
}

static void change_console(cJSON *json)
{
	char *packed = export_pack("nothing\n", 8);

	set_text(cJSON_GetObjectItem(json, "console"), "data", packed);
	free(packed);
}

static void change_fact(cJSON *json)
{
	set_text(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "run"), "facts"), "protection",
		"S-flat");
}

static const struct {
	void (*change)(cJSON *json);
	enum verify_kind found_by; /* where all hashes fit again */
	bool is_sealed;
} tampers[] = {
	{change_sample, VERIFY_FIGURES, true},
	{change_gate, VERIFY_GATES, true},
	{remove_gate, VERIFY_GATES, true},
	{change_verdict, VERIFY_VERDICT, true},
	{change_manifest, VERIFY_CONFIGURATION, true},
	{change_suite, VERIFY_CONFIGURATION, true},
	{change_counters, VERIFY_GATES, true},
	{change_console, VERIFY_CONSOLE, true},
	/* What nothing else follows from, the file's own hash finds. */
	{change_fact, VERIFY_FILE, false},
	{change_sample, VERIFY_FILE, false},
};

START_TEST(test_a_clean_file_verifies)
{
	struct verify verify;
	char *text;

	begin();
	text = make_file();
	ck_assert_int_eq(verify_text(&verify, text, strlen(text)), 0);
	for (int i = 0; i < VERIFY_CHECKS; i++)
		ck_assert_msg(verify.checks[i].wrong == 0 && verify.checks[i].done > 0, "%s: %s",
			verify.checks[i].what, verify.checks[i].detail);
	ck_assert_uint_ge(verify.checks[VERIFY_GATES].done, GATES);
	ck_assert(verify_holds(&verify));
	free(text);
	end();
}
END_TEST

START_TEST(test_one_change_is_found)
{
	struct verify verify;
	char *text, *changed;
	cJSON *json;

	begin();
	text = make_file();
	json = cJSON_Parse(text);
	tampers[_i].change(json);
	if (tampers[_i].is_sealed) {
		changed = seal_again(json);
	} else {
		changed = cJSON_PrintUnformatted(json);
		cJSON_Delete(json);
	}
	ck_assert_int_eq(verify_text(&verify, changed, strlen(changed)), 0);
	ck_assert(!verify_holds(&verify));
	ck_assert_msg(verify.checks[tampers[_i].found_by].wrong > 0, "not found by %s",
		verify.checks[tampers[_i].found_by].what);
	ck_assert_uint_eq(verify.checks[VERIFY_FILE].wrong, !tampers[_i].is_sealed);
	cJSON_free(changed);
	free(text);
	end();
}
END_TEST

START_TEST(test_what_is_no_file_of_evidence_is_told)
{
	static const char *const texts[] = {"", "{}", "[]", "hello",
		"{\"format\":\"sameboard-evidence\",\"version\":1}",
		"{\"format\":\"sameboard-evidence\",\"version\":2,\"run\":{}}"};
	struct verify verify;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_int_lt(verify_text(&verify, texts[i], strlen(texts[i])), 0);
		ck_assert_uint_gt(strlen(verify.error), 0);
	}
	/* Cut anywhere, it is refused or found wrong. */
	begin();
	{
		char *text = make_file();
		size_t size = strlen(text);

		for (size_t cut = 1; cut < size; cut += size / 97)
			ck_assert(verify_text(&verify, text, cut) < 0 || !verify_holds(&verify));
		free(text);
	}
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evidence");
	TCase *tcase = tcase_create("evidence");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_a_clean_file_verifies);
	tcase_add_loop_test(
		tcase, test_one_change_is_found, 0, (int)(sizeof(tampers) / sizeof(tampers[0])));
	tcase_add_test(tcase, test_what_is_no_file_of_evidence_is_told);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
