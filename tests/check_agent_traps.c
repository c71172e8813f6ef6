/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux systems that would make a wrong number: each must be seen by the agent,
 * and what it says must fail a gate.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/gates.h"
#include "tests/agent_bench.h"
#include "tests/scratch.h"

static const char *const short_wake[] = {"bench", "wake.idle", "--samples", "50", NULL};

static struct scratch scratch;

static void set_up(void)
{
	scratch_init(&scratch);
}

static void tear_down(void)
{
	scratch_fini(&scratch);
}

/* DIR/path with the folders above it. */
static const char *make_place(const char *path)
{
	char folder[256];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%s/%.*s", scratch.dir, (int)(slash - path), path);
		mkdir(folder, 0755);
	}
	return scratch_path(&scratch, path);
}

static void write_place(const char *path, const char *text)
{
	make_place(path);
	scratch_write(&scratch, path, text, strlen(text));
}

/* A file that reads as `real` does and refuses to be written, by root too. */
static void refuse_place(const char *path, const char *real)
{
	ck_assert_int_eq(symlink(real, make_place(path)), 0);
}

static void expect_place(const char *path, const char *wanted)
{
	char text[64] = "";
	FILE *file = fopen(scratch_path(&scratch, path), "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	ck_assert_str_eq(text, wanted);
}

static enum gate_verdict find_verdict(const struct gate_set *set, enum gate gate)
{
	for (size_t i = 0; i < set->count; i++) {
		if (strcmp(set->gates[i].id, gate_describe(gate)->id) == 0)
			return set->gates[i].verdict;
	}
	ck_abort_msg("%s was not judged", gate_describe(gate)->id);
	return GATE_VERDICT_COUNT;
}

/* What the gate of a window says to what the agent said. */
static enum gate_verdict judge_window(const cJSON *json, enum gate gate)
{
	struct gate_window window = {
		.number = 1,
		.heard = "",
		.failure = "",
		.page_faults = strtoull(agent_bench_get(json, "counters", "page_faults"), NULL, 10),
		.clock_steered = agent_bench_get(json, "counters", "clock_steered"),
		.frequency_changed = agent_bench_get(json, "counters", "frequency_changed"),
	};
	struct gate_set set = {0};
	enum gate_verdict verdict;

	gate_judge_window(&set, &window);
	verdict = find_verdict(&set, gate);
	gate_set_free(&set);
	return verdict;
}

static enum gate_verdict judge_settings(const cJSON *json)
{
	struct gate_run run = {.counter_hz = 1000000,
		.settings = agent_bench_get(json, "facts", "settings.unfair")};
	struct gate_set set = {0};
	enum gate_verdict verdict;

	gate_judge_run(&set, &run);
	verdict = find_verdict(&set, GATE_SETTINGS);
	gate_set_free(&set);
	return verdict;
}

/* ---------------------------------------------------------------- settings */

#define THROTTLING "proc/sys/kernel/sched_rt_runtime_us"
#define FAIR_0	   "sys/kernel/debug/sched/fair_server/cpu0/runtime"
#define FAIR_1	   "sys/kernel/debug/sched/fair_server/cpu1/runtime"
#define GOVERNOR   "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"

START_TEST(settings_are_made_read_back_recorded_and_put_back)
{
	static const char *const floor[] = {"bench", "floor", NULL};
	const struct agent_bench bench = {.overlay = scratch.dir, .arguments = floor};
	cJSON *json;

	write_place(THROTTLING, "950000\n");
	write_place(FAIR_0, "50000000\n");
	write_place(FAIR_1, "50000000\n");
	write_place(GOVERNOR, "powersave\n");
	json = agent_bench_run(&bench);
	ck_assert_str_eq(agent_bench_get(json, "facts", "tuning.sched_rt_runtime_us"), "-1");
	ck_assert_str_eq(
		agent_bench_get(json, "facts", "tuning.sched_rt_runtime_us.before"), "950000");
	ck_assert_str_eq(agent_bench_get(json, "facts", "tuning.fair_server"), "0");
	ck_assert_str_eq(agent_bench_get(json, "facts", "tuning.fair_server.before"), "50000000");
	ck_assert_str_eq(agent_bench_get(json, "facts", "tuning.governor"), "performance");
	ck_assert_str_eq(agent_bench_get(json, "facts", "tuning.debugfs"), "was mounted");
	ck_assert_ptr_null(strstr(agent_bench_get(json, "facts", "settings.unfair"), "throttled"));
	ck_assert_ptr_null(
		strstr(agent_bench_get(json, "facts", "settings.unfair"), "fair server"));
	cJSON_Delete(json);
	expect_place(THROTTLING, "950000");
	expect_place(FAIR_0, "50000000");
	expect_place(FAIR_1, "50000000");
	expect_place(GOVERNOR, "powersave");
}
END_TEST

START_TEST(settings_are_only_read_where_they_are_to_be_kept)
{
	static const char *const floor[] = {"bench", "floor", "--keep-settings", NULL};
	const struct agent_bench bench = {.overlay = scratch.dir, .arguments = floor};
	cJSON *json;

	write_place(THROTTLING, "950000\n");
	write_place(FAIR_0, "50000000\n");
	json = agent_bench_run(&bench);
	ck_assert_str_eq(agent_bench_get(json, "facts", "tuning.sched_rt_runtime_us"), "950000");
	ck_assert_int_eq(judge_settings(json), GATE_VERDICT_FAIL);
	cJSON_Delete(json);
	expect_place(THROTTLING, "950000");
}
END_TEST

START_TEST(throttling_that_stays_fails_a_gate)
{
	static const char *const floor[] = {"bench", "floor", NULL};
	const struct agent_bench bench = {.overlay = scratch.dir, .arguments = floor};
	cJSON *json;

	refuse_place(THROTTLING, "/proc/sys/kernel/ngroups_max");
	write_place(FAIR_0, "0\n");
	json = agent_bench_run(&bench);
	ck_assert_str_eq(agent_bench_get(json, "facts", "tuning.sched_rt_runtime_us"), "65536");
	ck_assert_ptr_nonnull(strstr(agent_bench_get(json, "facts", "settings.unfair"),
		"real-time threads are throttled"));
	ck_assert_int_eq(judge_settings(json), GATE_VERDICT_FAIL);
	cJSON_Delete(json);
}
END_TEST

START_TEST(a_fair_server_that_stays_on_one_processor_fails_a_gate)
{
	static const char *const floor[] = {"bench", "floor", NULL};
	const struct agent_bench bench = {.overlay = scratch.dir, .arguments = floor};
	cJSON *json;

	write_place(THROTTLING, "950000\n");
	write_place(FAIR_0, "50000000\n");
	refuse_place(FAIR_1, "/proc/sys/kernel/ngroups_max");
	json = agent_bench_run(&bench);
	ck_assert_str_eq(agent_bench_get(json, "facts", "tuning.fair_server"), "0, 65536");
	ck_assert_ptr_nonnull(
		strstr(agent_bench_get(json, "facts", "settings.unfair"), "the fair server runs"));
	ck_assert_int_eq(judge_settings(json), GATE_VERDICT_FAIL);
	cJSON_Delete(json);
}
END_TEST

/* ---------------------------------------------------------------- clock */

START_TEST(a_clock_that_is_slewed_in_the_window_fails_a_gate)
{
	static const struct {
		const char *lie, *says;
	} cases[] = {
		{"slew", "an offset of 1500"},
		{"rate", "its rate was changed by +"},
	};
	const struct agent_bench bench = {.lie = cases[_i].lie, .arguments = short_wake};
	cJSON *json = agent_bench_run(&bench);
	const char *steered = agent_bench_get(json, "counters", "clock_steered");

	ck_assert_msg(strstr(steered, cases[_i].says) != NULL, "%s", steered);
	ck_assert_int_eq(judge_window(json, GATE_CLOCK_DISCIPLINE), GATE_VERDICT_FAIL);
	if (_i == 0)
		ck_assert_str_eq(agent_bench_get(json, "facts", "clock_discipline"), "on");
	cJSON_Delete(json);
}
END_TEST

START_TEST(a_getres_that_lies_decides_nothing)
{
	const struct agent_bench bench = {.lie = "getres", .arguments = short_wake};
	cJSON *json = agent_bench_run(&bench);
	double hz = cJSON_GetObjectItem(json, "counter_hz")->valuedouble;
	double sleep_ns = atof(agent_bench_get(json, "facts", "sleep_resolution_ns"));
	double tick_counts = atof(agent_bench_get(json, "counters", "tick_counts"));

	ck_assert_str_eq(agent_bench_get(json, "facts", "clock_resolution_ns"), "1000000");
	ck_assert_str_eq(agent_bench_get(json, "facts", "clock_resolution_is"), "a lie");
	/* What it has seen for itself: far from the claim, in whichever direction. */
	ck_assert_double_ne(sleep_ns, 1000000);
	ck_assert_double_eq_tol(tick_counts, sleep_ns * hz / 1e9, 3);
	cJSON_Delete(json);
}
END_TEST

/* ---------------------------------------------------------------- machine */

START_TEST(page_faults_in_the_window_are_counted_and_fail_a_gate)
{
	const struct agent_bench bench = {.lie = "faults", .arguments = short_wake};
	cJSON *json = agent_bench_run(&bench);

	ck_assert_int_ge(atoi(agent_bench_get(json, "counters", "page_faults")), 50);
	ck_assert_int_eq(judge_window(json, GATE_PAGE_FAULTS), GATE_VERDICT_FAIL);
	cJSON_Delete(json);
}
END_TEST

START_TEST(an_honest_window_faults_no_page_and_nobody_steers_the_clock)
{
	const struct agent_bench bench = {.arguments = short_wake};
	cJSON *json = agent_bench_run(&bench);

	/* Where memory cannot be locked pages may still come and go. */
	if (strcmp(agent_bench_get(json, "facts", "tuning.mlockall"), "yes") == 0)
		ck_assert_int_eq(judge_window(json, GATE_PAGE_FAULTS), GATE_VERDICT_PASS);
	ck_assert_str_ne(agent_bench_get(json, "counters", "clock_steered"), "");
	cJSON_Delete(json);
}
END_TEST

#define FREQUENCY "sys/devices/system/cpu/cpu%ld/cpufreq/%s"

static void write_frequency(long cpu, const char *name, unsigned long value)
{
	char path[128], text[32], next[512];

	snprintf(path, sizeof(path), FREQUENCY, cpu, name);
	snprintf(text, sizeof(text), "%lu\n", value);
	write_place("next", text);
	snprintf(next, sizeof(next), "%s/next", scratch.dir);
	/* Whole at any instant, as the kernel's own files are. */
	ck_assert_int_eq(rename(next, make_place(path)), 0);
}

/* The governor of a machine that is always busy elsewhere. */
static void change_frequency(void *context)
{
	unsigned long *changes = context;

	++*changes;
	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		write_frequency(cpu, "stats/total_trans", 1000000 + *changes);
}

START_TEST(a_frequency_that_changes_in_the_window_fails_a_gate)
{
	unsigned long changes = 0;
	const struct agent_bench bench = {.overlay = scratch.dir,
		.arguments = short_wake,
		.meanwhile = _i ? change_frequency : NULL,
		.context = &changes};
	cJSON *json;

	change_frequency(&changes);
	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		write_frequency(cpu, "scaling_cur_freq", 1008000);
	json = agent_bench_run(&bench);
	ck_assert_str_eq(agent_bench_get(json, "counters", "frequency_khz"), "1008000");
	ck_assert_int_eq(
		judge_window(json, GATE_FREQUENCY), _i ? GATE_VERDICT_FAIL : GATE_VERDICT_PASS);
	cJSON_Delete(json);
}
END_TEST

/* ---------------------------------------------------------------- panel */

static const char devices[] = "I: Bus=0019 Vendor=0000 Product=0001 Version=0000\n"
			      "N: Name=\"adc-keys\"\nB: PROP=0\n\n"
			      "I: Bus=0018 Vendor=dead Product=beef Version=28bb\n"
			      "N: Name=\"Goodix Capacitive TouchScreen\"\nB: PROP=2\nB: EV=b\n\n";

START_TEST(a_panel_that_came_up_is_told)
{
	static const char *const floor[] = {"bench", "floor", NULL};
	const struct agent_bench bench = {.overlay = scratch.dir, .arguments = floor};
	cJSON *json;

	write_place("sys/class/drm/card0-DSI-1/status", "connected\n");
	write_place("sys/kernel/debug/dri/0/state",
		"crtc[41]: crtc-0\n\tenable=1\n\tmode: \"480x480\": 60 18000 480 496 510 526 480 "
		"494 500 514 0x48 0xa\n");
	write_place("proc/bus/input/devices", devices);
	write_place("sys/class/net/wlan0/phy80211/name", "phy0\n");
	write_place("sys/class/net/wlan0/operstate", "up\n");
	json = agent_bench_run(&bench);
	ck_assert_str_eq(agent_bench_get(json, "facts", "display"), "DSI-1");
	ck_assert_str_eq(agent_bench_get(json, "facts", "display.mode"), "480x480");
	ck_assert_str_eq(agent_bench_get(json, "facts", "display.rate_hz"), "60");
	ck_assert_str_eq(agent_bench_get(json, "facts", "touch"), "Goodix Capacitive TouchScreen");
	ck_assert_str_eq(agent_bench_get(json, "facts", "wifi"), "wlan0");
	ck_assert_str_eq(agent_bench_get(json, "facts", "wifi.state"), "up");
	ck_assert_str_ne(agent_bench_get(json, "facts", "ip"), "");
	cJSON_Delete(json);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_traps");
	TCase *traps = tcase_create("traps");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(traps, 30);
	tcase_add_checked_fixture(traps, set_up, tear_down);
	tcase_add_test(traps, settings_are_made_read_back_recorded_and_put_back);
	tcase_add_test(traps, settings_are_only_read_where_they_are_to_be_kept);
	tcase_add_test(traps, throttling_that_stays_fails_a_gate);
	tcase_add_test(traps, a_fair_server_that_stays_on_one_processor_fails_a_gate);
	tcase_add_loop_test(traps, a_clock_that_is_slewed_in_the_window_fails_a_gate, 0, 2);
	tcase_add_test(traps, a_getres_that_lies_decides_nothing);
	tcase_add_test(traps, page_faults_in_the_window_are_counted_and_fail_a_gate);
	tcase_add_test(traps, an_honest_window_faults_no_page_and_nobody_steers_the_clock);
	tcase_add_loop_test(traps, a_frequency_that_changes_in_the_window_fails_a_gate, 0, 2);
	tcase_add_test(traps, a_panel_that_came_up_is_told);
	suite_add_tcase(suite, traps);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
