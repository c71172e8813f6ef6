/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports by the program: published figures exact to their digits, measured rows
 * in the same form, and a page that stands alone, in a real browser too.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/subprocess.h"
#include "harness/suite.h"
#include "tests/doc_words.h"
#include "tests/json_fields.h"
#include "tests/lab_rig.h"
#include "tests/measured_run.h"

#define SUITE                                                                                      \
	"{ \"systems\": [\"linux\"], \"boots\": 5, \"primary\": [\"wake.idle/p90\"], "             \
	"\"windows\": [{ \"bench\": \"wake.idle\" }] }"

static struct lab_rig rig;
static struct store *store;

static void begin(void)
{
	lab_rig_start_unplugged(&rig);
	store = fixture_open(rig.db);
}

static void end(void)
{
	store_close(store);
	lab_rig_stop(&rig);
}

static void expect_text(const char *text, const char *wanted)
{
	ck_assert_msg(strstr(text, wanted) != NULL, "no \"%s\" in:\n%.3000s", wanted, text);
}

static unsigned count_text(const char *text, const char *wanted)
{
	unsigned count = 0;

	for (; (text = strstr(text, wanted)) != NULL; text++)
		count++;
	return count;
}

/* -------------------------------------------------------------- published */

/* Row by row as Markdown has them: system, figures, protection model and floor side by side. */
static const char *const published[] = {
	"| contended mutex | 21.666 | 6.833 | 1.042 |",
	"| second row (unnamed) | 21.208 | 13.250 | 1.167 |",
	"| third row (unnamed) | 265.333 | 1063.958 | 10.000 |",
	"| contended mutex | NuttX | FLAT, shared | not published | 1.042 |",
	"| 1 ms periodic, under load | NuttX | FLAT, shared | 20000 | 0.375 | 0.750 | 0.542 | 0.583 | "
	"0.708 | 0.708 | 0 |",
	"| 1 ms periodic, under load | Linux | U+MMU process | - | not published | - | 64.09 | 76.51 | "
	"- | 228.72 | 0 |",
	"| wake-up, idle | Linux PREEMPT\\_RT 6.15 | U+MMU process | not published | 2.01 | 0.20 | 2 | "
	"2 | 3 | 4 | 16 |",
	"| wake-up, light | Linux PREEMPT\\_RT 6.15 | U+MMU process | not published | 1.02 | 0.23 | 1 | "
	"1 | 2 | 4 | 23 |",
	"| wake-up, moderate | Linux PREEMPT\\_RT 6.15 | U+MMU process | not published | 1.16 | 0.79 | "
	"1 | 2 | 3 | 9 | 109 |",
	"| wake-up, heavy | Linux PREEMPT\\_RT 6.15 | U+MMU process | not published | 1.34 | 1.01 | 1 | "
	"3 | 5 | 11 | 76 |",
	"| wake-up, thermal | Linux PREEMPT\\_RT 6.15 | U+MMU process | not published | 1.55 | 0.55 | 2 "
	"| 2 | 2 | 5 | 20 |",
	"| preprocess | Linux PREEMPT\\_RT 6.15 | U+MMU process | 1000 | not published | 5.066 |",
	"| total | Linux PREEMPT\\_RT 6.15 | U+MMU process | 1000 | not published | 116.436 | 115.899 | "
	"118.885 | 140.788 | 192.077 | 221.341 |",
	"p50 0.542 us is below its own bracket of 0.750 us",
	"never tested against them",
	"10.5281/zenodo.22054539",
	"ShekharShwetank/RTOS",
};

START_TEST(test_published_figures_are_exact_and_marked)
{
	cJSON *json;
	const cJSON *row;

	begin();
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--reference", "--md", NULL});
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
		expect_text(rig.out, published[i]);
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--reference", "--json", NULL});
	json = lab_rig_json(&rig);
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(json, "rows")), 9 + 2 + 5 + 4);
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(json, "rows"))
		ck_assert_str_eq(text_of(row, "origin"), "published");
	cJSON_Delete(json);
	end();
}
END_TEST

/* --------------------------------------------------------------- measured */

/* Two systems of unlike protection, `boots` runs each; the job. */
static int64_t add_systems(unsigned boots)
{
	static const char *const systems[] = {"linux", "baremetal"};
	static const char *const protections[] = {"U+MMU process", "S-flat <b>&\"|"};
	static const char console[] = "U-Boot 2023.01\nhello <script>\x1b[31m\n";
	const struct store_mark mark = {0, FIXTURE_T0, false};
	int64_t job = measured_begin_job(store, "two", SUITE);

	for (unsigned i = 0; i < boots * 2; i++) {
		int64_t run = fixture_run(store, job, systems[i % 2], i * 1000);

		ck_assert_int_eq(store_set_fact(store, run, "protection", protections[i % 2]), 0);
		ck_assert_int_eq(
			store_append_console(store, run, console, sizeof(console) - 1, &mark, 1),
			0);
		measured_close_with(
			store, run, 1 + (int)(i / 2) % 12, i % 2 ? 1.5 : 1, VERDICT_PASS);
	}
	ck_assert_int_eq(store_end_job(store, job, 0, FIXTURE_T0 + 2), 0);
	return job;
}

START_TEST(test_measured_rows_have_the_form_of_published_ones)
{
	begin();
	add_systems(1);
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--reference", "--md", NULL, NULL});
	expect_text(rig.out, "| row | Linux (U+MMU process) |");
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--job=LAST", "--md", NULL});
	expect_text(
		rig.out, "| row | linux (U+MMU process) | baremetal (S-flat &lt;b>&amp;\"\\|) |");
	expect_text(rig.out, "| row | system | protection | n | boots | floor |");
	expect_text(rig.out, "EMULATED");
	expect_text(rig.out, "\"n times faster\" does not follow");
	expect_text(rig.out, "1 valid boot of a system");
	end();
}
END_TEST

/* Each window of the suite once in a run of each of its systems. */
static void add_suite(const char *name)
{
	static const int32_t samples[] = {18, 20, 30};
	char path[80];
	struct suite *suite;
	int64_t job;

	snprintf(path, sizeof(path), "harness/suites/%s.json", name);
	ck_assert_msg(suite_open(&suite, path) == 0, "%s", suite_error(suite));
	job = measured_begin_job(store, name, suite->text);
	for (size_t s = 0; s < suite->system_count; s++) {
		int64_t run = fixture_run(store, job, suite->systems[s], (int64_t)s);

		ck_assert_int_eq(store_set_fact(store, run, "protection", "S-flat"), 0);
		for (size_t i = 0; i < suite->window_count; i++) {
			const struct suite_window *window = &suite->windows[i];

			measured_add_window(store, run,
				&(struct measured_window){.number = (unsigned)i + 1,
					.bench = window->bench->id,
					.name = window->name,
					.load = catalogue_load_name(window->load),
					.phase = window->bench->has_grid
							 ? suite_phase_name(window->phase)
							 : NULL,
					.series = window->bench->has_grid ? "latency" : "total",
					.samples = samples,
					.count = 3,
					.floor = 9,
					.bracket = window->bench->has_grid ? 24 : 0});
		}
		ck_assert_int_eq(
			store_end_run(store, run, VERDICT_PASS, "", FIXTURE_T0 + 1, NULL, 0), 0);
	}
	ck_assert_int_eq(store_end_job(store, job, 0, FIXTURE_T0 + 2), 0);
	suite_close(suite);
}

/* The columns of the table of rows behind that text, as Markdown; the caller frees them. */
static char *read_columns(const char *text, const char *behind)
{
	const char *at = strstr(text, behind);

	ck_assert_msg(at != NULL, "no \"%s\" in:\n%.3000s", behind, text);
	at = strstr(at, "| row | system | protection |");
	ck_assert_ptr_nonnull(at);
	return strndup(at, strcspn(at, "\n"));
}

/* The suites that measure what was published, and the set that they measure it of. */
static const struct {
	const char *suite, *title;
	bool has_brackets;
} likenesses[] = {
	{"d1-os", ": contended primitives of three systems", true},
	{"d1-os", ": 1 ms periodic wake-up under load", true},
	{"rt-scenarios", ": wake-up latency in five load scenarios", true},
	{"pipeline", ": staged pipeline", false},
};

START_TEST(test_suites_give_the_tables_of_what_was_published)
{
	const char *warning = ": p50 0.833 us is below its own bracket of 1.000 us";
	char *published_columns, *measured_columns, *column, *next, *rest;

	begin();
	add_suite(likenesses[_i].suite);
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--reference", "--md", NULL});
	published_columns = read_columns(rig.out, likenesses[_i].title);
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--job=LAST", "--md", NULL});
	measured_columns = read_columns(rig.out, "## Measured rows");
	/* Each column that was published is there, in its place. */
	next = measured_columns;
	for (column = strtok_r(published_columns, "|", &rest); column;
		column = strtok_r(NULL, "|", &rest)) {
		char cell[64];

		snprintf(cell, sizeof(cell), "|%s|", column);
		next = strstr(next, cell);
		ck_assert_msg(next != NULL, "no column%s in %s", column, measured_columns);
		next += strlen(cell) - 1;
	}
	ck_assert_int_eq(strstr(rig.out, warning) != NULL, likenesses[_i].has_brackets);
	free(published_columns);
	free(measured_columns);
	end();
}
END_TEST

START_TEST(test_others_stand_beside_runs_and_in_no_verdict)
{
	int64_t job;
	char option[32];
	cJSON *json;
	const cJSON *row;
	unsigned measured = 0, published_rows = 0;

	begin();
	job = add_systems(5);
	snprintf(option, sizeof(option), "--job=%lld", (long long)job);
	lab_rig_expect(&rig, 0, (const char *[]){"baseline", "before", option, NULL});
	lab_rig_expect(&rig, 0,
		(const char *[]){
			"report", option, "--reference", "--baseline=before", "--json", NULL});
	json = lab_rig_json(&rig);
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(json, "rows"))
	{
		measured += strcmp(text_of(row, "origin"), "measured") == 0;
		published_rows += strcmp(text_of(row, "origin"), "published") == 0;
	}
	ck_assert_uint_eq(measured, 2);
	ck_assert_uint_eq(published_rows, 20);
	cJSON_Delete(json);
	lab_rig_expect(
		&rig, 0, (const char *[]){"compare", option, "--baseline=before", "--json", NULL});
	ck_assert_ptr_null(strstr(rig.out, "NuttX"));
	end();
}
END_TEST

START_TEST(test_a_regression_is_in_the_report_and_in_its_exit_code)
{
	int64_t job, slower;
	char option[32], later[32];

	begin();
	job = measured_begin_job(store, "one", SUITE);
	slower = measured_begin_job(store, "one", SUITE);
	for (int i = 0; i < 14; i++)
		measured_close_with(store, fixture_run(store, i < 7 ? job : slower, "linux", i),
			1 + i % 7, i < 7 ? 1 : 1.5, VERDICT_PASS);
	snprintf(option, sizeof(option), "--job=%lld", (long long)job);
	snprintf(later, sizeof(later), "--job=%lld", (long long)slower);
	lab_rig_expect(&rig, 0, (const char *[]){"baseline", "before", option, NULL});
	lab_rig_expect(
		&rig, 1, (const char *[]){"report", later, "--baseline=before", "--md", NULL});
	expect_text(rig.out, "regression");
	expect_text(rig.out, "Against baseline before");
	end();
}
END_TEST

/* ------------------------------------------------------------------- html */

START_TEST(test_the_page_needs_nothing_else_and_no_text_becomes_markup)
{
	char path[320], *page;

	begin();
	add_systems(2);
	snprintf(path, sizeof(path), "%s/report.html", rig.scratch.dir);
	lab_rig_expect(&rig, 0, (const char *[]){"report", "-o", path, NULL});
	page = doc_read_file(path);
	ck_assert_ptr_null(strstr(page, "<script"));
	ck_assert_ptr_null(strstr(page, "<b>"));
	ck_assert_ptr_null(strchr(page, '\x1b'));
	ck_assert_ptr_null(strstr(page, "src="));
	ck_assert_ptr_null(strstr(page, "<link"));
	ck_assert_ptr_null(strstr(page, "@import"));
	expect_text(page, "hello &lt;script&gt;");
	/* Two histograms, two series in time, one curve, one strip, one difference. */
	ck_assert_uint_eq(count_text(page, "<svg"), 7);
	/* What lies beyond the histogram is drawn and counted. */
	expect_text(page, " beyond");
	expect_text(page, "are the bar on the right");
	free(page);
	end();
}
END_TEST

/* A copy of the page that tells its own measures, through the browser's view of it. */
static void measure_page(const char *page, unsigned width, char *answer, size_t size)
{
	static const char script[] =
		"<script>document.title='W'+document.documentElement.scrollWidth+' '+"
		"[...document.querySelectorAll('svg')].filter(s=>s.getBoundingClientRect().width>200"
		"&&s.getBoundingClientRect().height>100).length+' '+"
		"getComputedStyle(document.querySelector('table')).borderCollapse+'E'</script>";
	char path[320], url[360], window[32], profile[320];
	const char *argv[] = {"chromium", "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", profile, window, "--dump-dom", url, NULL};
	size_t room = 4 * 1024 * 1024;
	char *dom = malloc(room);
	const char *title;
	FILE *file;
	int status = -1, rc;

	snprintf(path, sizeof(path), "%s/measured.html", rig.scratch.dir);
	snprintf(url, sizeof(url), "file://%s", path);
	snprintf(window, sizeof(window), "--window-size=%u,800", width);
	snprintf(profile, sizeof(profile), "--user-data-dir=%s/browser", rig.scratch.dir);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "%s%s", page, script);
	ck_assert_int_eq(fclose(file), 0);
	rc = subprocess_run(argv, 60000, dom, room, &status);
	ck_assert_msg(rc == 0 && status == 0, "chromium: %d, %d: %.500s", rc, status, dom);
	title = strstr(dom, "<title>W");
	ck_assert_msg(title != NULL, "%.500s", dom);
	snprintf(answer, size, "%.*s", (int)strcspn(title + 8, "E"), title + 8);
	free(dom);
}

START_TEST(test_a_browser_shows_it_at_the_width_of_a_telephone_and_of_a_desk)
{
	static const unsigned widths[] = {500, 1280};
	char path[320], answer[64], *page;

	begin();
	add_systems(2);
	snprintf(path, sizeof(path), "%s/report.html", rig.scratch.dir);
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--html", "-o", path, NULL});
	page = doc_read_file(path);
	for (size_t i = 0; i < 2; i++) {
		unsigned width = 0, pictures = 0;
		char collapse[16] = "";

		measure_page(page, widths[i], answer, sizeof(answer));
		ck_assert_msg(sscanf(answer, "%u %u %15s", &width, &pictures, collapse) == 3, "%s",
			answer);
		ck_assert_msg(width > 0 && width <= widths[i], "%u wide at %u", width, widths[i]);
		ck_assert_uint_eq(pictures, 7);
		ck_assert_str_eq(collapse, "collapse");
	}
	free(page);
	end();
}
END_TEST

/* ---------------------------------------------------------------- formats */

START_TEST(test_figures_and_tables_for_a_paper)
{
	char dir[320], path[400];

	begin();
	add_systems(1);
	snprintf(dir, sizeof(dir), "--figures=%s/pictures", rig.scratch.dir);
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--tex", dir, NULL});
	expect_text(rig.out, "\\begin{tabular}");
	expect_text(rig.out, "S-flat \\textless{}b\\textgreater{}\\&\\textquotedbl{}|");
	snprintf(path, sizeof(path), "%s/pictures/fig1.pdf", rig.scratch.dir);
	ck_assert_int_eq(access(path, R_OK), 0);
	snprintf(path, sizeof(path), "%s/pictures/fig7.png", rig.scratch.dir);
	ck_assert_int_eq(access(path, R_OK), 0);
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--csv", NULL});
	expect_text(
		rig.out, "origin,set,row,load,system,protection,mode,gates,unit,n,boots,floor,");
	expect_text(rig.out, "measured,job 1,wake.idle arbitrary,,baremetal,\"S-flat <b>&\"\"|\",");
	end();
}
END_TEST

static const struct {
	const char *arguments[4];
	int exit_code;
	const char *says;
} wrong[] = {
	{{"report", "--html", "--md"}, 2, "one format"},
	{{"report", "--json", "--csv"}, 2, "one format"},
	{{"report", "7"}, 2, "there are no runs"},
	{{"report"}, 2, "there are no jobs"},
	{{"report", "--import=nothing", "--md"}, 2, "no import \"nothing\""},
	{{"report", "--reference", "--output=/nowhere/at/all"}, 3, "cannot write"},
};

START_TEST(test_wrong_usage_is_told)
{
	begin();
	lab_rig_expect(&rig, wrong[_i].exit_code,
		(const char *[]){wrong[_i].arguments[0], wrong[_i].arguments[1],
			wrong[_i].arguments[2], NULL});
	expect_text(rig.err, wrong[_i].says);
	end();
}
END_TEST

START_TEST(test_runs_that_are_not_valid_give_no_figure)
{
	int64_t job;

	begin();
	job = measured_begin_job(store, "one", SUITE);
	measured_close_with(store, fixture_run(store, job, "linux", 0), 1, 1, VERDICT_INVALID);
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--md", NULL});
	expect_text(rig.out, "No run is valid");
	expect_text(rig.out, "no valid run");
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--html", NULL});
	end();
}
END_TEST

/* Counters of different rates, values all equal, and all below their floor. */
START_TEST(test_odd_runs_are_told_and_not_made_up)
{
	static const char *const systems[] = {"linux", "baremetal"};
	int32_t equal[100], below[100];
	int64_t job;

	begin();
	for (size_t i = 0; i < 100; i++) {
		equal[i] = 240;
		below[i] = (int32_t)(i % 3);
	}
	job = measured_begin_job(store, "one", SUITE);
	for (int i = 0; i < 2; i++) {
		int64_t run = fixture_run(store, job, systems[i], i);

		measured_add_window(store, run,
			&(struct measured_window){.number = 1,
				.bench = 1,
				.name = "wake.idle",
				.phase = "aligned",
				.series = "latency",
				.samples = i ? below : equal,
				.count = 100,
				.floor = 9});
		ck_assert_int_eq(
			store_end_run(store, run, VERDICT_PASS, "ok", FIXTURE_T0 + 9, NULL, 0), 0);
	}
	fixture_sql(rig.db, "UPDATE metrics SET value = 10000000 WHERE name = 'counter_hz' AND "
			    "run_id = 2");
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--md", NULL});
	expect_text(rig.out, "The counters run at different rates");
	expect_text(rig.out, "| wake.idle aligned | 10.000 | &lt;= 0.900 |");
	lab_rig_expect(&rig, 0, (const char *[]){"report", "--html", NULL});
	ck_assert_uint_ge(count_text(rig.out, "<svg"), 5);
	end();
}
END_TEST

/* A metric that one side lacks, and a baseline whose runs are gone. */
START_TEST(test_what_is_missing_on_a_side_is_named)
{
	int64_t before, after;
	char option[32], later[32];

	begin();
	before = measured_begin_job(store, "one", SUITE);
	after = measured_begin_job(store, "one", SUITE);
	for (int i = 0; i < 10; i++)
		measured_close_with(store, fixture_run(store, i < 5 ? before : after, "linux", i),
			1 + i % 5, 1, VERDICT_PASS);
	snprintf(option, sizeof(option), "--job=%lld", (long long)before);
	snprintf(later, sizeof(later), "--job=%lld", (long long)after);
	lab_rig_expect(&rig, 0, (const char *[]){"baseline", "before", option, NULL});
	fixture_sql(rig.db, "DELETE FROM metrics WHERE name = 'p99' AND run_id > 5");
	lab_rig_expect(
		&rig, 1, (const char *[]){"report", later, "--baseline=before", "--md", NULL});
	expect_text(rig.out, "| MISSING |");
	fixture_sql(rig.db, "UPDATE runs SET verdict = 'invalid' WHERE id <= 5");
	lab_rig_expect(
		&rig, 2, (const char *[]){"report", later, "--baseline=before", "--md", NULL});
	expect_text(rig.err, "baseline before has no valid run");
	fixture_sql(rig.db, "PRAGMA user_version = 99");
	lab_rig_expect(&rig, 2, (const char *[]){"report", later, "--md", NULL});
	expect_text(rig.err, "newer");
	store_close(store);
	store = NULL;
	lab_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tcase = tcase_create("report");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_published_figures_are_exact_and_marked);
	tcase_add_test(tcase, test_measured_rows_have_the_form_of_published_ones);
	tcase_add_loop_test(tcase, test_suites_give_the_tables_of_what_was_published, 0, 4);
	tcase_add_test(tcase, test_others_stand_beside_runs_and_in_no_verdict);
	tcase_add_test(tcase, test_a_regression_is_in_the_report_and_in_its_exit_code);
	tcase_add_test(tcase, test_the_page_needs_nothing_else_and_no_text_becomes_markup);
	tcase_add_test(tcase, test_a_browser_shows_it_at_the_width_of_a_telephone_and_of_a_desk);
	tcase_add_test(tcase, test_figures_and_tables_for_a_paper);
	tcase_add_loop_test(
		tcase, test_wrong_usage_is_told, 0, (int)(sizeof(wrong) / sizeof(wrong[0])));
	tcase_add_test(tcase, test_runs_that_are_not_valid_give_no_figure);
	tcase_add_test(tcase, test_odd_runs_are_told_and_not_made_up);
	tcase_add_test(tcase, test_what_is_missing_on_a_side_is_named);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
