/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a CI system gets: JUnit that both consumers take whatever a board has
 * printed, a summary, exit codes, and examples that parse.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/subprocess.h"
#include "harness/cmd_compare.h"
#include "tests/doc_words.h"
#include "tests/lab_rig.h"
#include "tests/measured_run.h"

#define SUITE                                                                                      \
	"{ \"systems\": [\"linux\"], \"boots\": 5, \"primary\": [\"wake.idle/p90\"], "             \
	"\"windows\": [{ \"bench\": \"wake.idle\" }] }"
#define CONSOLE_BYTES (3u * 1024 * 1024)

static struct lab_rig rig;
static struct store *store;
static char junit_path[320], junit_option[340];

static void begin(void)
{
	lab_rig_start_unplugged(&rig);
	store = fixture_open(rig.db);
	snprintf(junit_path, sizeof(junit_path), "%s/junit.xml", rig.scratch.dir);
	snprintf(junit_option, sizeof(junit_option), "--junit=%s", junit_path);
}

static void end(void)
{
	store_close(store);
	lab_rig_stop(&rig);
}

/* Every byte there is, again and again, and what ends a CDATA section. */
static void add_console(int64_t run)
{
	const struct store_mark mark = {0, FIXTURE_T0, false};
	char *console = malloc(CONSOLE_BYTES);

	ck_assert_ptr_nonnull(console);
	for (size_t i = 0; i < CONSOLE_BYTES; i++)
		console[i] = i % 509 < 256 ? (char)(i % 509) : "]]></system-out>&#0;"[i % 20];
	memcpy(console + CONSOLE_BYTES - 9, "\xef\xbf\xbe\xef\xbf\xbf<&>", 9);
	ck_assert_int_eq(store_append_console(store, run, console, CONSOLE_BYTES, &mark, 1), 0);
	free(console);
}

static int64_t add_job(int count, double scale, const enum verdict *verdicts)
{
	int64_t job = measured_begin_job(store, "one \"<&>\x01\xff", SUITE);

	for (int i = 0; i < count; i++) {
		int64_t run = fixture_run(store, job, "linux", i);

		if (verdicts)
			add_console(run);
		measured_close_with(
			store, run, 1 + i % 12, scale, verdicts ? verdicts[i] : VERDICT_PASS);
	}
	return job;
}

static const char *option_of(int64_t job)
{
	static char text[2][32];
	static int at;

	at = !at;
	snprintf(text[at], sizeof(text[at]), "--job=%lld", (long long)job);
	return text[at];
}

static char *read_valid_junit(void)
{
	const char *argv[] = {
		"xmllint", "--noout", "--schema", "tests/data/junit.xsd", junit_path, NULL};
	char said[4096];
	int status = -1;
	int rc = subprocess_run(argv, 60000, said, sizeof(said), &status);

	ck_assert_msg(rc == 0 && status == 0, "%d, %d: %s", rc, status, said);
	return doc_read_file(junit_path);
}

static void expect_text(const char *text, const char *wanted)
{
	ck_assert_msg(strstr(text, wanted) != NULL, "no \"%s\" in %.1500s", wanted, text);
}

START_TEST(test_a_lab_failure_is_an_error_and_a_failed_gate_a_failure)
{
	static const enum verdict verdicts[] = {
		VERDICT_PASS, VERDICT_INVALID, VERDICT_LAB_FAILURE, VERDICT_FAIL};
	char *text;

	begin();
	add_job(4, 1, verdicts);
	lab_rig_expect(&rig, 0, (const char *[]){"compare", junit_option, NULL});
	text = read_valid_junit();
	expect_text(text, "tests=\"4\" failures=\"2\" errors=\"1\"");
	expect_text(text, "<error message=\"as told\" type=\"lab-failure\">as told</error>");
	expect_text(text, "<failure message=\"as told\" type=\"invalid\">as told</failure>");
	expect_text(text, "bytes before are left out");
	ck_assert_uint_lt(strlen(text), CONSOLE_BYTES);
	free(text);
	end();
}
END_TEST

START_TEST(test_a_regression_is_a_failure_and_stands_in_the_summary)
{
	char summary[320], option[340], *text;
	int64_t before, after;

	begin();
	snprintf(summary, sizeof(summary), "%s/summary.md", rig.scratch.dir);
	snprintf(option, sizeof(option), "--summary=%s", summary);
	before = add_job(7, 1, NULL);
	after = add_job(7, 1.5, NULL);
	lab_rig_expect(&rig, 0, (const char *[]){"baseline", "release", option_of(before), NULL});
	lab_rig_expect(&rig, 1,
		(const char *[]){"compare", option_of(after), "--baseline=release", junit_option,
			option, NULL});
	text = read_valid_junit();
	expect_text(text, "type=\"regression\"");
	expect_text(text, "name=\"wake.idle arbitrary p90\"");
	expect_text(text, "errors=\"0\"");
	free(text);
	text = doc_read_file(summary);
	expect_text(text, "There are regressions.");
	expect_text(text, "| regression |");
	free(text);
	end();
}
END_TEST

/* Nothing is behind the wires: the lab has failed, which `git bisect run` must pass over. */
START_TEST(test_exit_codes_of_a_lab_that_failed)
{
	char *text;

	begin();
	lab_rig_expect(
		&rig, 3, (const char *[]){"run", "smoke", "--os=baremetal", junit_option, NULL});
	text = read_valid_junit();
	expect_text(text, "errors=\"1\"");
	expect_text(text, "type=\"lab-failure\"");
	free(text);
	lab_rig_expect(
		&rig, 125, (const char *[]){"run", "smoke", "--os=baremetal", "--bisect", NULL});
	lab_rig_expect(&rig, 2, (const char *[]){"run", "no-such-suite", "--bisect", NULL});
	end();
}
END_TEST

START_TEST(test_a_suspect_that_was_measured_again_stands_in_one_document)
{
	char p50[] = "wake.idle p50", p99[] = "wake.idle p99", *rows[] = {p50, p99};
	struct cmd_outcome first = {
		.suspects = rows, .suspect_count = 2, .json = cJSON_Parse("{\"job\": 1}")};
	struct cmd_outcome second = {
		.suspects = &rows[1], .suspect_count = 1, .json = cJSON_Parse("{\"job\": 2}")};
	char *text;

	cmd_compare_join(&first, &second);
	ck_assert_ptr_null(second.json);
	text = cJSON_PrintUnformatted(first.json);
	ck_assert_str_eq(text, "{\"job\":1,\"retry\":{\"job\":2,\"suspects\":["
			       "{\"row\":\"wake.idle p50\",\"shows_again\":false},"
			       "{\"row\":\"wake.idle p99\",\"shows_again\":true}]}}");
	cJSON_free(text);
	cJSON_Delete(first.json);
}
END_TEST

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static const struct {
	const char *option, *says;
} wrong_images[] = {
	{"--image=baremetal", "is not OS=FILE@SHA256"},
	{"--image=baremetal=build/images/baremetal.img", "is not OS=FILE@SHA256"},
	{"--image=baremetal=build/images/baremetal.img@1234", "is not OS=FILE@SHA256"},
	{"--image==build/images/baremetal.img@" ZEROS, "is not OS=FILE@SHA256"},
	{"--image=baremetal=build/images/baremetal.img@" ZEROS, "wrong hash"},
	{"--image=baremetal=build/images/linux.img@" ZEROS, "is of \"linux\""},
	{"--image=baremetal=build/images/nothing.img@" ZEROS, "nothing.json"},
};

START_TEST(test_another_image_than_was_named_is_refused)
{
	begin();
	lab_rig_expect(&rig, 2,
		(const char *[]){"run", "smoke", "--os=baremetal", wrong_images[_i].option, NULL});
	expect_text(rig.err, wrong_images[_i].says);
	end();
}
END_TEST

/* -------------------------------------------------------------- examples */

START_TEST(test_examples_for_gitlab_and_github_parse)
{
	static const char script[] =
		"import sys, yaml\n"
		"lab = yaml.safe_load(open('ci/gitlab-ci.yml'))\n"
		"job = lab['measure']\n"
		"assert job['stage'] in lab['stages'] and job['artifacts']['reports']['junit']\n"
		"assert job['retry']['exit_codes'] == [3]\n"
		"assert any('sameboard run' in line for line in job['script'])\n"
		"hub = yaml.safe_load(open('ci/github-workflow.yml'))\n"
		"steps = hub['jobs']['measure']['steps']\n"
		"assert True in hub and 'self-hosted' in hub['jobs']['measure']['runs-on']\n"
		"assert any('sameboard run' in s.get('run', '') for s in steps)\n"
		"assert all(('run' in s) != ('uses' in s) for s in steps)\n";
	const char *argv[] = {"python3", "-c", script, NULL};
	char said[2048];
	int status = -1;
	int rc = subprocess_run(argv, 30000, said, sizeof(said), &status);

	ck_assert_msg(rc == 0 && status == 0, "%d, %d: %s", rc, status, said);
}
END_TEST

/* Brackets outside strings pair up, as far as one can tell without Groovy. */
START_TEST(test_the_example_for_jenkins_is_balanced)
{
	char *text = doc_read_file("ci/Jenkinsfile"), stack[64];
	size_t depth = 0;

	for (const char *at = text; *at; at++) {
		if (strncmp(at, "//", 2) == 0) {
			at += strcspn(at, "\n");
		} else if (strncmp(at, "'''", 3) == 0) {
			at = strstr(at + 3, "'''");
			ck_assert_ptr_nonnull(at);
			at += 2;
		} else if (*at == '\'' || *at == '"') {
			at = strchr(at + 1, *at);
			ck_assert_ptr_nonnull(at);
		} else if (strchr("{([", *at)) {
			ck_assert_uint_lt(depth, sizeof(stack));
			stack[depth++] = *at == '{' ? '}' : *at == '(' ? ')' : ']';
		} else if (strchr("})]", *at)) {
			ck_assert(depth > 0 && stack[--depth] == *at);
		}
	}
	ck_assert_uint_eq(depth, 0);
	expect_text(text, "pipeline {");
	expect_text(text, "junit testResults: 'junit.xml'");
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ci");
	TCase *tcase = tcase_create("ci");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_a_lab_failure_is_an_error_and_a_failed_gate_a_failure);
	tcase_add_test(tcase, test_a_regression_is_a_failure_and_stands_in_the_summary);
	tcase_add_test(tcase, test_exit_codes_of_a_lab_that_failed);
	tcase_add_test(tcase, test_a_suspect_that_was_measured_again_stands_in_one_document);
	tcase_add_loop_test(tcase, test_another_image_than_was_named_is_refused, 0,
		(int)(sizeof(wrong_images) / sizeof(wrong_images[0])));
	tcase_add_test(tcase, test_examples_for_gitlab_and_github_parse);
	tcase_add_test(tcase, test_the_example_for_jenkins_is_balanced);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
