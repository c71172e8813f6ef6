/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows and loads on a port of this test's own, over the threads of this
 * machine: what a system does wrong, or has not, must show in the row.
 */
#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agents/core/benches.h"
#include "agents/core/counter.h"
#include "agents/core/posix/posix_port.h"

#define ARENA_SIZE (6u * 1024 * 1024)

/* A system, with what this test turns about it. */
static struct system {
	struct posix_port posix; /* first */
	struct posix_os os;
	struct agent_port_ops ops;
	int blocked;	    /* what thread_is_blocked says; 1 after `looks` looks */
	unsigned int looks; /* before it says so */
	unsigned int looked;
	uint32_t early_counts; /* a timed wait comes that much too early */
} system_;

static uint8_t *arena_memory;
static uint8_t load_stack[POSIX_STACK_SIZE];
static struct window window;

static long thread_id(void)
{
	return 1;
}

static int thread_is_blocked(struct posix_port *port, long id)
{
	(void)port;
	(void)id;
	/* Long enough for the waiter to come to its wait. */
	usleep(2000);
	return ++system_.looked > system_.looks ? system_.blocked : 0;
}

static uint64_t wait_until(struct agent_port *port, uint64_t deadline)
{
	return posix_wait_until(port, deadline) - system_.early_counts;
}

static uint64_t wait_long(struct agent_port *port, uint64_t deadline)
{
	posix_wait_until(port, deadline);
	posix_sleep_ns(2000000);
	return counter_read();
}

static void begin_window(struct agent_port *port, struct window *at)
{
	(void)port;
	(void)at;
}

static uint64_t find_rate(void)
{
	uint64_t from = counter_read();
	uint64_t ns = posix_clock_ns(NULL);

	usleep(20000);
	return (counter_read() - from) * 1000000000 / (posix_clock_ns(NULL) - ns);
}

/* As a port does at every start of the agent. */
static void start_system(void)
{
	struct agent_port *agent = &system_.posix.agent;
	static const int priorities[] = {80, 70, 60};
	uint64_t rate = find_rate();

	memset(&system_, 0, sizeof(system_));
	system_.blocked = 1;
	system_.os =
		(struct posix_os){.thread_id = thread_id, .thread_is_blocked = thread_is_blocked};
	system_.ops = (struct agent_port_ops){
		.anchor = posix_anchor,
		.wait_until = wait_until,
		.sleep_ms = posix_sleep_ms,
		.clock_ns = posix_clock_ns,
		.load_prepare = posix_load_prepare,
		.load_start = posix_load_start,
		.load_stop = posix_load_stop,
		.load_work = posix_load_work,
		.load_write = posix_load_write,
		.window_begin = begin_window,
		.window_end = begin_window,
	};
	agent->ops = &system_.ops;
	agent->counter_rate_hz = rate;
	agent->mode = "test";
	agent->benches = posix_benches;
	agent->bench_count = posix_bench_count;
	system_.posix.os = &system_.os;
	system_.posix.granularity_ns = 1;
	system_.posix.load_stack = load_stack;
	for (int i = 0; i < POSIX_PRIORITY_LOAD; i++)
		system_.posix.schedules[i] = (struct posix_schedule){SCHED_FIFO, priorities[i]};
	system_.posix.schedules[POSIX_PRIORITY_LOAD] = (struct posix_schedule){SCHED_OTHER, 0};
}

/* One processor and real-time priorities, as an agent has them; false: not permitted here. */
static bool take_priorities(void)
{
	const struct sched_param param = {.sched_priority = 80};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	system_.posix.priorities_are_permitted = sched_setaffinity(0, sizeof(one), &one) == 0 &&
						 sched_setscheduler(0, SCHED_FIFO, &param) == 0;
	return system_.posix.priorities_are_permitted;
}

static void set_up(void)
{
	arena_memory =
		mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(arena_memory, MAP_FAILED);
	start_system();
}

static void tear_down(void)
{
	munmap(arena_memory, ARENA_SIZE);
}

/* Arms and runs; the status of either. */
static int measure(const struct window_plan *plan)
{
	struct arena arena = {.base = arena_memory, .size = ARENA_SIZE};
	const struct bench *bench = benches_find(&system_.posix.agent, plan->bench);
	int status;

	ck_assert_ptr_nonnull(bench);
	window_init(&window, &system_.posix.agent, &arena, plan, bench);
	status = window_prepare(&window);
	return status ? status : window_run(&window);
}

static const struct window_series *find(const char *name)
{
	for (uint16_t i = 0; i < window.series_count; i++)
		if (strcmp(window.series[i].name, name) == 0)
			return &window.series[i];
	return NULL;
}

static const char *find_counter(const char *key)
{
	static char text[WINDOW_COUNTERS_SIZE + 2];
	char start[80];
	char *found;

	text[0] = '\n';
	memcpy(text + 1, window.counters.data, window.counters.size);
	text[window.counters.size + 1] = '\0';
	snprintf(start, sizeof(start), "\n%s=", key);
	found = strstr(text, start);
	return found ? found + strlen(start) : NULL;
}

static uint64_t number_of(const char *key)
{
	const char *value = find_counter(key);

	ck_assert_msg(value && *value >= '0' && *value <= '9', "no number %s", key);
	return strtoull(value, NULL, 10);
}

/* ---------------------------------------------------------------- handoffs */

START_TEST(a_waiter_that_is_not_yet_blocked_is_looked_at_again)
{
	const struct window_plan plan = {.window = 1, .bench = 22, .n = 1};

	system_.looks = 3;
	ck_assert_int_eq(measure(&plan), 0);
	/* The first handoff of all waited for three looks in vain. */
	ck_assert_uint_ge(number_of("looked_again"), 3);
	ck_assert_int_eq(strncmp(find_counter("waiter_seen_blocked"), "yes\n", 4), 0);
}
END_TEST

START_TEST(where_nobody_can_tell_whether_it_is_blocked_the_row_says_so)
{
	const struct window_plan plan = {.window = 1, .bench = 20, .n = 2};

	system_.blocked = -1;
	ck_assert_int_eq(measure(&plan), 0);
	ck_assert_int_eq(strncmp(find_counter("waiter_seen_blocked"), "unknown\n", 8), 0);
}
END_TEST

START_TEST(a_waiter_that_never_blocks_fails_the_row)
{
	const struct window_plan plan = {.window = 1, .bench = 20, .n = 1};

	system_.blocked = 0;
	ck_assert_int_eq(measure(&plan), WIRE_ERROR_FAILED);
	ck_assert_msg(strstr(window.failure, "not seen blocked"), "%s", window.failure);
	ck_assert_uint_eq(find("handoff")->count, 0);
}
END_TEST

/* ---------------------------------------------------------------- pipeline */

/* Of 20 jobs after 4 of the warm-up, as an independent program found it. */
#define PIPELINE_ANSWER 15554839500829082630ull

START_TEST(the_stages_of_a_job_make_the_whole_of_it)
{
	static const char *const names[] = {
		"stage.capture", "stage.preprocess", "stage.compute", "stage.postprocess"};
	const struct window_plan plan = {.window = 1, .bench = 80, .n = 20};

	ck_assert_int_eq(measure(&plan), 0);
	ck_assert_uint_eq(number_of("pipeline_answer"), PIPELINE_ANSWER);
	ck_assert_uint_eq(find("total")->count, 20);
	ck_assert_uint_eq(find("cold")->count, 4);
	for (uint32_t i = 0; i < 20; i++) {
		int32_t left = ((const int32_t *)find("total")->data)[i];

		for (size_t stage = 0; stage < 4; stage++) {
			int32_t counts = ((const int32_t *)find(names[stage])->data)[i];

			ck_assert_int_gt(counts, 0);
			left -= counts;
		}
		ck_assert_int_eq(left, 0);
	}
}
END_TEST

/* ---------------------------------------------------------------- inheritance */

static const struct {
	const char *name;
	int middle; /* priority of M: H has 80, L 60 */
	int status;
} mediums[] = {
	{"between", 70, 0},
	{"missing: below L it never comes between", 50, WIRE_ERROR_FAILED},
};

START_TEST(inheritance_is_only_shown_where_without_it_the_medium_thread_comes_between)
{
	const struct window_plan plan = {.window = 1, .bench = 50, .n = 20, .seed = 4};

	if (!take_priorities())
		return;
	system_.posix.schedules[POSIX_PRIORITY_MIDDLE].priority = mediums[_i].middle;
	ck_assert_msg(
		measure(&plan) == mediums[_i].status, "%s: %s", mediums[_i].name, window.failure);
	if (mediums[_i].status)
		ck_assert_msg(strstr(window.failure, "proves nothing"), "%s", window.failure);
	else
		ck_assert_uint_ge(number_of("inverted.plain"), 18);
	/* Both are kept, so that it can be seen why. */
	ck_assert_uint_eq(find("bound.plain")->count, 20);
	ck_assert_uint_eq(find("bound.pi")->count, 20);
}
END_TEST

/* ---------------------------------------------------------------- yield */

START_TEST(two_switches_make_a_round_trip)
{
	const struct window_plan plan = {.window = 1, .bench = 13, .n = 100};
	const struct window_series *there, *back;

	if (!take_priorities())
		return;
	ck_assert_int_eq(measure(&plan), 0);
	there = find("switch");
	back = find("round_trip");
	ck_assert_uint_eq(there->count, 100);
	for (uint32_t i = 0; i < there->count; i++)
		ck_assert_int_gt(((int32_t *)back->data)[i], ((int32_t *)there->data)[i]);
	ck_assert_uint_gt(number_of("round_trip_per_1000_switches"), 1000);
}
END_TEST

/* ---------------------------------------------------------------- timers */

START_TEST(early_wakes_are_counted_and_kept)
{
	const struct window_plan plan = {.window = 1, .bench = 40, .n = 10};
	uint32_t early = 0;

	/* A tenth of a second early: a machine is seldom that late. */
	system_.early_counts = (uint32_t)(system_.posix.agent.counter_rate_hz / 10);
	ck_assert_int_eq(measure(&plan), 0);
	for (uint32_t i = 0; i < 10; i++)
		early += ((int32_t *)find("oneshot.100us")->data)[i] < 0;
	ck_assert_uint_gt(early, 5);
	ck_assert_uint_ge(number_of("early"), early);
}
END_TEST

START_TEST(the_phase_of_a_wait_goes_through_the_tick_in_eighths)
{
	const struct window_plan plan = {.window = 1, .bench = 40, .n = 8};

	system_.posix.tick_ns = 4000000;
	ck_assert_int_eq(measure(&plan), 0);
	ck_assert_uint_eq(number_of("sweep_steps"), 8);
	ck_assert_uint_eq(number_of("sweep_counts"),
		counter_scale(4000000, system_.posix.agent.counter_rate_hz, 1000000000));
}
END_TEST

START_TEST(jobs_that_cannot_be_served_count_as_missed)
{
	const struct window_plan plan = {.window = 1, .bench = 7, .duration_ms = 20};

	/* Each wait takes another 2 ms. */
	system_.ops.wait_until = wait_long;
	ck_assert_int_eq(measure(&plan), 0);
	ck_assert_uint_eq(number_of("releases.period.100us"), 200);
	ck_assert_uint_eq(find("period.100us")->count + number_of("unserved.period.100us"), 200);
	ck_assert_uint_gt(number_of("unserved.period.100us"), 100);
	ck_assert_uint_ge(number_of("missed.period.100us"), number_of("unserved.period.100us"));
}
END_TEST

/* ---------------------------------------------------------------- loads */

START_TEST(the_periods_of_a_load_follow_the_seed_and_lock_to_no_tick)
{
	struct window_plan plan = {.window = 1, .bench = 0, .n = 10, .load = MESSAGE_LOAD_LIGHT};
	uint64_t tick;
	uint32_t phases[8] = {0};
	uint32_t used = 0;

	ck_assert_int_eq(measure(&plan), 0);
	tick = counter_scale(1, system_.posix.agent.counter_rate_hz, 1000);
	for (uint32_t seed = 0; seed < 400; seed++) {
		uint64_t period = posix_load_period(&system_.posix, seed);

		ck_assert_uint_ge(period, 2 * tick);
		ck_assert_uint_le(period, 18 * tick + 1);
		phases[period % tick * 8 / tick]++;
	}
	for (int i = 0; i < 8; i++)
		used += phases[i] > 400 / 8 / 3;
	ck_assert_uint_eq(used, 8);
	ck_assert_uint_eq(
		posix_load_period(&system_.posix, 7), posix_load_period(&system_.posix, 7));
}
END_TEST

START_TEST(a_load_goes_without_what_the_system_has_not)
{
	const struct window_plan plan = {
		.window = 1, .bench = 0, .n = 10, .settle_ms = 100, .load = MESSAGE_LOAD_MIXED};

	ck_assert_int_eq(measure(&plan), 0);
	ck_assert_int_eq(strncmp(find_counter("load_ipc"), "semaphore\n", 10), 0);
	ck_assert_int_eq(strncmp(find_counter("load_forks"), "none: no processes\n", 19), 0);
	/* No memory to execute: the instruction cache is not walked through, and it says so. */
	ck_assert_uint_eq(number_of("dirty_code_bytes"), 0);
	ck_assert_uint_gt(number_of("dirty_pages"), 0);
}
END_TEST

/* ---------------------------------------------------------------- systems */

START_TEST(a_load_that_was_not_prepared_fails_the_window)
{
	const struct window_plan plan = {
		.window = 1, .bench = 0, .n = 10, .load = MESSAGE_LOAD_CPU};

	system_.ops.load_prepare = NULL;
	ck_assert_int_eq(measure(&plan), WIRE_ERROR_FAILED);
	ck_assert_str_eq(window.failure, "the load was not prepared");
}
END_TEST

START_TEST(what_a_port_leaves_out_is_unsupported_with_its_reason)
{
	char data[4096];
	struct text text;
	static const char *const lines[] = {
		"8 irq.thread unsupported no device with a clock and an interrupt of its own\n",
		"10 syscall unsupported no kernel entry\n",
		"95 price unsupported memory in use is not known\n",
	};

	text_init(&text, data, sizeof(data) - 1);
	benches_write(&system_.posix.agent, &text);
	data[text.size] = '\0';
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(data, lines[i]), "no %s in\n%s", lines[i], data);
	ck_assert_ptr_nonnull(strstr(data, "\n3 wake.cache supported\n"));
	system_.ops.load_start = NULL;
	text_init(&text, data, sizeof(data) - 1);
	benches_write(&system_.posix.agent, &text);
	data[text.size] = '\0';
	ck_assert_ptr_nonnull(strstr(data, "\n3 wake.cache unsupported no threads\n"));
	ck_assert_ptr_nonnull(strstr(data, "\n7 wake.period unsupported no threads\n"));
}
END_TEST

START_TEST(without_processes_only_memory_is_put_to_the_test)
{
	const struct window_plan plan = {.window = 1, .bench = 90, .n = 1};

	ck_assert_int_eq(measure(&plan), 0);
	ck_assert_int_eq(((int32_t *)find("held.memory")->data)[0], 0);
	ck_assert_ptr_null(find("held.process"));
	ck_assert_ptr_null(find("held.thread"));
}
END_TEST

/* On a system where memory survives the end of a program, it finds its own old values. */
START_TEST(nothing_of_an_earlier_start_is_seen)
{
	static const uint8_t benches[] = {7, 11, 12, 20, 30, 31, 32, 40, 60, 70};
	struct window_plan plan = {
		.window = 1, .n = 3, .duration_ms = 20, .load = MESSAGE_LOAD_MIXED};

	for (int start = 0; start < 2; start++) {
		for (size_t i = 0; i < sizeof(benches); i++) {
			plan.bench = benches[i];
			/* What lies in the arena, in the load and in the window is anything. */
			memset(arena_memory, 0xa5, ARENA_SIZE);
			memset(&system_.posix.load, 0xa5, sizeof(system_.posix.load));
			memset(&window, 0xa5, sizeof(window));
			system_.looked = 0;
			ck_assert_msg(measure(&plan) == 0, "bench %u, start %d: %s", benches[i],
				start, window.failure);
			ck_assert_uint_eq(window.samples ? window.samples->clipped : 0, 0);
			ck_assert_uint_lt(number_of("load_pings"), 1000000);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_rows");
	TCase *tcase = tcase_create("rows");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_waiter_that_is_not_yet_blocked_is_looked_at_again);
	tcase_add_test(tcase, where_nobody_can_tell_whether_it_is_blocked_the_row_says_so);
	tcase_add_test(tcase, a_waiter_that_never_blocks_fails_the_row);
	tcase_add_loop_test(tcase,
		inheritance_is_only_shown_where_without_it_the_medium_thread_comes_between, 0,
		(int)(sizeof(mediums) / sizeof(mediums[0])));
	tcase_add_test(tcase, the_stages_of_a_job_make_the_whole_of_it);
	tcase_add_test(tcase, two_switches_make_a_round_trip);
	tcase_add_test(tcase, early_wakes_are_counted_and_kept);
	tcase_add_test(tcase, the_phase_of_a_wait_goes_through_the_tick_in_eighths);
	tcase_add_test(tcase, jobs_that_cannot_be_served_count_as_missed);
	tcase_add_test(tcase, the_periods_of_a_load_follow_the_seed_and_lock_to_no_tick);
	tcase_add_test(tcase, a_load_goes_without_what_the_system_has_not);
	tcase_add_test(tcase, a_load_that_was_not_prepared_fails_the_window);
	tcase_add_test(tcase, what_a_port_leaves_out_is_unsupported_with_its_reason);
	tcase_add_test(tcase, without_processes_only_memory_is_put_to_the_test);
	tcase_add_test(tcase, nothing_of_an_earlier_start_is_seen);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
