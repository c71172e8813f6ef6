/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bare-metal image and its test builds on a real emulated machine: OpenSBI
 * of QEMU's own, then the image, behind a socket as a host sees it behind its
 * console.  Latencies under emulation mean nothing; their signs, their numbers
 * and the clock's rate do.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/clockfit.h"
#include "harness/decode.h"
#include "harness/peer.h"
#include "tests/qemu_machine.h"

#define NONCE	    0x5eed1234u
#define BOOT_MS	    20000
#define COUNTER_HZ  10000000u
#define TICK_COUNTS 10000u
#define WINDOW	    7u
#define IMAGE_MAX   (1u << 20)
#define ELF_HEAD    0x1000u

static struct qemu_machine machine;
static struct peer peer;
static unsigned int stray_pongs;
static char directory[] = "/tmp/sameboard-baremetal-XXXXXX";

/* The build directory is where this program lies: BUILD/tests/check_baremetal. */
static void image_path(char *path, size_t size, const char *name)
{
	char self[512];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(length, 0);
	self[length] = '\0';
	for (int i = 0; i < 2; i++)
		*strrchr(self, '/') = '\0';
	snprintf(path, size, "%s/baremetal/%s.bin", self, name);
}

static void count_pong(void *context, uint64_t when_us, const struct frame *frame)
{
	(void)context;
	(void)when_us;
	stray_pongs += frame->type == MESSAGE_PONG;
}

static void power_on_file(const char *path)
{
	struct peer_link link = qemu_machine_link(&machine);
	struct peer_events events = qemu_machine_events(&machine);

	events.frame = count_pong;
	stray_pongs = 0;
	qemu_machine_power_on(&machine, path);
	peer_init(&peer, &link, &events, NULL);
}

static void power_on(const char *image)
{
	char path[600];

	image_path(path, sizeof(path), image);
	ck_assert_msg(access(path, R_OK) == 0, "%s is missing: make agents", path);
	power_on_file(path);
}

static void power_off(void)
{
	qemu_machine_power_off(&machine);
}

static void start_session(void)
{
	struct message_hello hello;

	ck_assert_msg(peer_wait_hello(&peer, BOOT_MS, &hello) == 1, "no HELLO: %s\n%s",
		peer_error(&peer), machine.text);
	ck_assert_str_eq(hello.system, "baremetal");
	ck_assert_str_eq(hello.version, SAMEBOARD_VERSION);
	ck_assert_uint_eq(hello.counter_hz, COUNTER_HZ);
	ck_assert_msg(peer_open_session(&peer, NONCE, &hello) == 0, "%s", peer_error(&peer));
}

/* ---------------------------------------------------------------- windows */

struct result {
	struct peer_window window;
	struct series_entry *entries;
	size_t count;
	char *counters;
};

static uint8_t *pull(const struct result *result, const char *name, uint32_t *count)
{
	for (size_t i = 0; i < result->count; i++) {
		const struct series_entry *entry = &result->entries[i];
		struct peer_transfer transfer;
		char error[160];
		uint8_t *bytes;
		void *values;

		if (strcmp(entry->name, name) != 0)
			continue;
		bytes = calloc(1, entry->bytes + 1u);
		ck_assert_ptr_nonnull(bytes);
		ck_assert_int_eq(peer_transfer_init(&transfer, WINDOW, entry->id, entry->bytes,
					 entry->crc, bytes),
			0);
		ck_assert_msg(peer_pull(&peer, &transfer) == 0, "%s: %s", name, peer_error(&peer));
		ck_assert_uint_eq(entry->clipped, 0);
		*count = entry->count;
		ck_assert_msg(decode_series(entry, bytes, &values, error, sizeof(error)) == 0, "%s",
			error);
		free(bytes);
		return values;
	}
	ck_abort_msg("the window has no series %s", name);
	return NULL;
}

static uint64_t counter_of(const struct result *result, const char *key)
{
	char line[64];
	const char *at;

	snprintf(line, sizeof(line), "\n%s=", key);
	at = strstr(result->counters, line);
	ck_assert_msg(at != NULL, "no counter %s in:\n%s", key, result->counters);
	return strtoull(at + strlen(line), NULL, 10);
}

static struct message_arm arm_of(uint8_t bench, uint32_t n)
{
	return (struct message_arm){
		.window = WINDOW, .bench = bench, .n = n, .period_us = 1000, .settle_ms = 20};
}

static uint32_t arm_and_go(const struct message_arm *arm)
{
	uint32_t estimate_ms;

	ck_assert_msg(peer_arm(&peer, arm, &estimate_ms) == 0, "%s", peer_error(&peer));
	ck_assert_msg(peer_go(&peer, arm->window, 5000) == 0, "%s", peer_error(&peer));
	return estimate_ms;
}

static void measure(const struct message_arm *arm, struct result *result)
{
	uint32_t estimate_ms = arm_and_go(arm);
	uint32_t count;

	memset(result, 0, sizeof(*result));
	ck_assert_msg(peer_wait_done(&peer, 2 * estimate_ms + 10000, &result->window) == 0, "%s",
		peer_error(&peer));
	ck_assert_int_eq(result->window.done.status, 0);
	ck_assert_msg(
		peer_pull_index(&peer, &result->window.done, &result->entries, &result->count) == 0,
		"%s", peer_error(&peer));
	result->counters = (char *)pull(result, "counters", &count);
}

static void release(struct result *result)
{
	ck_assert_int_eq(peer_release(&peer, WINDOW), 0);
	free(result->entries);
	free(result->counters);
}

static void check_series(const struct result *result, const char *name, uint32_t n, int32_t least)
{
	uint32_t count;
	uint8_t *bytes = pull(result, name, &count);

	ck_assert_msg(count == n, "%s has %u values, not %u", name, count, n);
	for (uint32_t i = 0; i < count; i++) {
		int32_t value;

		memcpy(&value, bytes + 4 * i, sizeof(value));
		ck_assert_msg(value >= least, "%s[%u] is %d", name, i, value);
	}
	free(bytes);
}

/* ---------------------------------------------------------------- cases */

START_TEST(it_prints_one_line_and_then_only_answers)
{
	const char *line = "sameboard bare metal " SAMEBOARD_VERSION " on riscv-virtio\r\n";
	const char *found;

	power_on("baremetal");
	start_session();
	found = strstr(machine.text, "sameboard");
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found, line);
	ck_assert_int_eq(peer_poll(&peer, 1000), 0);
}
END_TEST

START_TEST(its_facts_say_what_it_is_and_how_it_was_built)
{
	static const char *const facts[] = {"system=baremetal\n", "platform=riscv-virtio\n",
		"protection=S-flat\n", "address_space=single, MMU off\n", "tick_us=1000\n",
		"timer_path=SBI set_timer\n", "counter_rate_hz=10000000\n", "watchdog=none\n",
		"memory_bytes=536870912\n", "uart_clock_hz=3686400\n", "build.flags=-Os "};
	char *text;
	size_t size;

	power_on("baremetal");
	start_session();
	ck_assert_msg(peer_probe(&peer, &text, &size) == 0, "%s", peer_error(&peer));
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		ck_assert_msg(strstr(text, facts[i]) != NULL, "no %s in:\n%s", facts[i], text);
	ck_assert_ptr_null(strstr(text, "build.test"));
	free(text);
}
END_TEST

START_TEST(its_catalogue_says_what_it_cannot_do_and_why)
{
	static const char *const rows[] = {"0 floor supported\n", "1 wake.idle supported\n",
		"2 wake.cpu unsupported no threads\n", "5 irq.split supported\n",
		"22 mutex.handoff unsupported no threads\n", "42 clock.audit supported\n",
		"98 sleep.check supported\n", "99 reference supported\n"};
	struct message_arm arm = arm_of(22, 10);
	uint32_t estimate_ms;
	char *text;
	size_t size;

	power_on("baremetal");
	start_session();
	ck_assert_msg(peer_catalog(&peer, &text, &size) == 0, "%s", peer_error(&peer));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(strstr(text, rows[i]) != NULL, "no %s in:\n%s", rows[i], text);
	free(text);
	ck_assert_int_eq(peer_arm(&peer, &arm, &estimate_ms), -EREMOTEIO);
	ck_assert_int_eq(peer_target_error(&peer)->code, WIRE_ERROR_UNSUPPORTED);
}
END_TEST

START_TEST(each_release_gets_a_wake_up_that_is_never_early)
{
	struct message_arm arm = arm_of(1, 50);
	struct result result;

	arm.flags = _i ? MESSAGE_ARM_ARBITRARY_PHASE : 0;
	arm.seed = 11;
	power_on("baremetal");
	start_session();
	measure(&arm, &result);
	check_series(&result, "latency", 50, 0);
	check_series(&result, "cold", 10, 0);
	check_series(&result, "floor.before", 1000, 0);
	check_series(&result, "floor.after", 1000, 0);
	ck_assert_uint_eq(counter_of(&result, "early"), 0);
	ck_assert_uint_eq(counter_of(&result, "period_counts"), TICK_COUNTS);
	ck_assert_uint_eq(counter_of(&result, "bracket_counts"), 0);
	/* Each ms of both grids is a tick; one late interrupt may bring several. */
	ck_assert_uint_ge(counter_of(&result, "ticks"), 59);
	ck_assert_uint_ge(counter_of(&result, "interrupts"), 1);
	ck_assert_uint_eq(counter_of(&result, "uart_rx"), 0);
	ck_assert_uint_eq(counter_of(&result, "uart_tx"), 0);
	ck_assert_uint_eq(counter_of(&result, "kernel_messages"), 0);
	ck_assert_uint_eq(result.window.silence.bytes, 0);
	release(&result);
}
END_TEST

START_TEST(an_interrupt_is_split_at_its_first_instruction)
{
	struct message_arm arm = arm_of(5, 50);
	struct result result;

	power_on("baremetal");
	start_session();
	measure(&arm, &result);
	check_series(&result, "isr", 50, 0);
	/* The firmware is called between the two stamps: it cannot take no time at all. */
	check_series(&result, "thread", 50, 1);
	ck_assert_uint_eq(counter_of(&result, "early"), 0);
	release(&result);
}
END_TEST

static const struct {
	uint8_t bench;
	uint32_t n;
	uint32_t duration_ms;
	const char *series[4];
	uint32_t counts[4];
	int32_t least;
} rows[] = {
	{8, 8, 0, {"latency", "isr", "bracket"}, {8, 8, 8}, 0},
	{10, 20, 0, {"syscall", "syscall.hot", "syscall.dirty"}, {20, 20, 20}, 0},
	{40, 8, 0, {"oneshot.100us", "oneshot.1ms", "oneshot.10ms"}, {8, 8, 8}, 0},
	{70, 0, 1100, {"lost"}, {2}, 0},
	{80, 20, 0, {"total", "stage.capture", "stage.compute", "stage.postprocess"},
		{20, 20, 20, 20}, 1},
	{90, 1, 0, {"held.memory"}, {1}, 0},
	{95, 1, 0, {"ram_kib"}, {1}, 16 * 1024},
};

#define ROWS (int)(sizeof(rows) / sizeof(rows[0]))

START_TEST(each_row_that_needs_no_threads_fills_its_series)
{
	struct result result;

	power_on("baremetal");
	start_session();
	for (int row = 0; row < ROWS; row++) {
		struct message_arm arm = arm_of(rows[row].bench, rows[row].n);

		arm.duration_ms = rows[row].duration_ms;
		measure(&arm, &result);
		for (int i = 0; i < 4 && rows[row].series[i]; i++)
			check_series(
				&result, rows[row].series[i], rows[row].counts[i], rows[row].least);
		if (rows[row].bench == 10) {
			ck_assert_ptr_nonnull(
				strstr(result.counters, "\nkernel_entry=plain call\n"));
			/* All memory can be executed: the walk through the cache is a real one. */
			ck_assert_uint_eq(counter_of(&result, "dirty_code_bytes"), 65536);
			ck_assert_uint_eq(counter_of(&result, "dirty_pages"), 512);
		}
		/* What every system finds: check_agent_rows.c has it of another program. */
		if (rows[row].bench == 80)
			ck_assert_uint_eq(
				counter_of(&result, "pipeline_answer"), 15554839500829082630ull);
		if (rows[row].bench == 90)
			ck_assert_ptr_nonnull(
				strstr(result.counters, "\nvictim.memory=overwritten"));
		release(&result);
	}
}
END_TEST

START_TEST(a_load_is_refused_by_its_reason)
{
	struct message_arm arm = arm_of(8, 10);
	uint32_t estimate_ms;

	arm.load = MESSAGE_LOAD_HEAVY;
	power_on("baremetal");
	start_session();
	ck_assert_int_eq(peer_arm(&peer, &arm, &estimate_ms), -EREMOTEIO);
	ck_assert_int_eq(peer_target_error(&peer)->code, WIRE_ERROR_UNSUPPORTED);
	ck_assert_str_eq(peer_target_error(&peer)->text, "no threads");
}
END_TEST

/* One audit of 3 s; a loaded host only adds lateness, so the steadiest of three counts. */
static void audit(struct clockfit_audit *best)
{
	struct message_arm arm = arm_of(42, 0);

	arm.duration_ms = 3000;
	for (int i = 0; i < 3; i++) {
		struct clockfit_audit fit;
		struct result result;
		uint32_t points;
		uint32_t count;
		uint64_t *counter;
		uint64_t *os_ns;

		measure(&arm, &result);
		counter = (uint64_t *)pull(&result, "counter", &points);
		os_ns = (uint64_t *)pull(&result, "os_ns", &count);
		ck_assert_uint_eq(points, count);
		ck_assert_uint_ge(points, 20);
		ck_assert_int_eq(clockfit_audit(counter, os_ns, points, COUNTER_HZ, 1000, &fit), 0);
		if (i == 0 || fit.uncertainty < best->uncertainty)
			*best = fit;
		free(counter);
		free(os_ns);
		release(&result);
		if (best->uncertainty < 20)
			break;
	}
}

START_TEST(its_tick_keeps_the_counters_time)
{
	struct clockfit_audit fit;

	power_on("baremetal");
	start_session();
	audit(&fit);
	ck_assert_msg(fit.ppm > -45 && fit.ppm < 45, "%g ppm", fit.ppm);
	ck_assert(!fit.one_count_per_tick);
}
END_TEST

START_TEST(long_tick_loses_one_count_in_ten_thousand)
{
	struct clockfit_audit fit;

	power_on("long-tick");
	start_session();
	audit(&fit);
	ck_assert_msg(fit.ppm > 55 && fit.ppm < 145, "%g ppm", fit.ppm);
}
END_TEST

START_TEST(its_timed_sleeps_come_back)
{
	struct message_arm arm = arm_of(98, 4);
	struct result result;

	power_on("baremetal");
	start_session();
	measure(&arm, &result);
	check_series(&result, "latency", 4, 0);
	release(&result);
}
END_TEST

START_TEST(dead_timer_says_hello_and_never_wakes)
{
	struct message_arm arm = arm_of(98, 4);
	struct peer_exchange exchange;
	struct peer_window window;
	uint32_t estimate_ms;

	power_on("dead-timer");
	start_session();
	ck_assert_int_eq(peer_ping(&peer, &exchange), 0);
	estimate_ms = arm_and_go(&arm);
	ck_assert_int_eq(peer_wait_done(&peer, estimate_ms + 200, &window), -ETIMEDOUT);
}
END_TEST

START_TEST(chatter_talks_inside_a_window_and_is_counted)
{
	struct message_arm arm = arm_of(1, 900);
	struct result result;

	power_on("chatter");
	start_session();
	measure(&arm, &result);
	ck_assert_uint_ge(result.window.silence.bytes, 40);
	ck_assert_uint_ge(counter_of(&result, "uart_tx"), 40);
	ck_assert_uint_ge(counter_of(&result, "kernel_messages"), 1);
	release(&result);
	ck_assert_ptr_nonnull(strstr(machine.text, "usb 1-1: reset high-speed USB device"));
}
END_TEST

START_TEST(a_watchdog_left_on_resets_the_board_under_the_session)
{
	struct message_hello hello;
	const char *first;
	int status = 0;

	/* Built like the image that is shipped, with 2 s in place of 16. */
	power_on("watchdog-short");
	start_session();
	for (unsigned int i = 0; i < 100; i++) {
		status = peer_poll(&peer, 200);
		if (status < 0)
			break;
	}
	ck_assert_int_eq(status, -ECONNRESET);
	first = strstr(machine.text, "sameboard bare metal");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_nonnull(strstr(first + 1, "sameboard bare metal"));
	/* The system's own uptime began again. */
	ck_assert_int_eq(peer_open_session(&peer, NONCE + 1, &hello), 0);
	ck_assert_uint_lt(hello.uptime, 2u * COUNTER_HZ);
}
END_TEST

START_TEST(a_burst_of_noise_costs_nothing_but_itself)
{
	uint8_t noise[700];
	struct peer_exchange exchange;

	power_on("baremetal");
	start_session();
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)(i * 37 + 1);
	qemu_machine_write(&machine, noise, sizeof(noise));
	ck_assert_msg(peer_ping(&peer, &exchange) == 0, "%s", peer_error(&peer));
	ck_assert_uint_ge(exchange.pong.sent, exchange.pong.received);
}
END_TEST

START_TEST(what_comes_inside_a_window_waits_for_its_end)
{
	enum { PINGS = 40 };
	struct message ping = {.type = MESSAGE_PING};
	struct message_arm arm = arm_of(1, 100);
	struct peer_window window;
	uint8_t body[FRAME_HOST_BODY_MAX];
	uint8_t wire[FRAME_HOST_WIRE_MAX];
	uint32_t estimate_ms;

	power_on("baremetal");
	start_session();
	estimate_ms = arm_and_go(&arm);
	/* 840 bytes, and nobody reads: they must all fit the ring. */
	for (unsigned int i = 0; i < PINGS; i++) {
		int size = message_encode_frame(
			&ping, (uint8_t)(100 + i), NONCE, body, sizeof(body), wire, sizeof(wire));

		ck_assert_int_gt(size, 0);
		qemu_machine_write(&machine, wire, (size_t)size);
	}
	ck_assert_msg(peer_wait_done(&peer, 2 * estimate_ms + 10000, &window) == 0, "%s",
		peer_error(&peer));
	for (unsigned int i = 0; i < 50 && stray_pongs < PINGS; i++)
		ck_assert_int_ge(peer_poll(&peer, 100), 0);
	ck_assert_uint_eq(stray_pongs, PINGS);
}
END_TEST

/* ---------------------------------------------------------------- the file */

static size_t read_file(const char *path, uint8_t *bytes, size_t capacity)
{
	FILE *file = fopen(path, "rb");
	size_t size;

	ck_assert_msg(file != NULL, "%s is missing: make agents", path);
	size = fread(bytes, 1, capacity, file);
	fclose(file);
	ck_assert_uint_lt(size, capacity);
	return size;
}

static void put(uint8_t *at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

/* An ELF file of one segment, so that QEMU puts the image where we say. */
static void wrap_image(const char *path, uint64_t address)
{
	static uint8_t bytes[ELF_HEAD + IMAGE_MAX];
	char image[600];
	uint8_t *segment = bytes + 64;
	size_t size;
	FILE *file;

	image_path(image, sizeof(image), "baremetal");
	size = read_file(image, bytes + ELF_HEAD, IMAGE_MAX);
	memcpy(bytes, "\177ELF\2\1\1", 7);
	put(bytes + 16, 2, 2);	     /* an executable */
	put(bytes + 18, 243, 2);     /* for RISC-V */
	put(bytes + 20, 1, 4);	     /* version */
	put(bytes + 24, address, 8); /* entry */
	put(bytes + 32, 64, 8);	     /* where its segments are listed */
	put(bytes + 52, 64, 2);
	put(bytes + 54, 56, 2);
	put(bytes + 56, 1, 2);
	put(segment, 1, 4);	/* to be loaded */
	put(segment + 4, 7, 4); /* read, written, run */
	put(segment + 8, ELF_HEAD, 8);
	put(segment + 16, address, 8);
	put(segment + 24, address, 8);
	put(segment + 32, size, 8);
	put(segment + 40, size, 8);
	put(segment + 48, ELF_HEAD, 8);
	file = fopen(path, "wb");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, ELF_HEAD + size, file), ELF_HEAD + size);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(it_runs_wherever_it_is_put)
{
	static const uint64_t addresses[] = {0x80400000, 0x8a345000};
	struct message_arm arm = arm_of(1, 20);
	struct result result;
	char path[64];

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/image.elf", directory);
	wrap_image(path, addresses[_i]);
	power_on_file(path);
	start_session();
	unlink(path);
	rmdir(directory);
	measure(&arm, &result);
	check_series(&result, "latency", 20, 0);
	release(&result);
}
END_TEST

static bool contains(const uint8_t *bytes, size_t size, const char *text)
{
	return memmem(bytes, size, text, strlen(text)) != NULL;
}

START_TEST(the_image_that_measures_has_no_test_build_in_it)
{
	static const char *const others[] = {"dead-timer", "chatter", "watchdog-left-on",
		"long-tick", "long-handoff", "tick-spin"};
	static uint8_t image[IMAGE_MAX];
	static uint8_t other[IMAGE_MAX];
	char path[600];
	size_t size;

	image_path(path, sizeof(path), "baremetal");
	size = read_file(path, image, sizeof(image));
	ck_assert_int_eq(memcmp(image + 48, "RISCV\0\0\0RSC\5", 12), 0);
	ck_assert(!contains(image, size, "usb 1-1"));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		size_t other_size;

		image_path(path, sizeof(path), others[i]);
		other_size = read_file(path, other, sizeof(other));
		ck_assert(!contains(image, size, others[i]));
		ck_assert(contains(other, other_size, others[i]));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("baremetal");
	TCase *tcase = tcase_create("baremetal");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, NULL, power_off);
	tcase_set_timeout(tcase, 90);
	tcase_add_test(tcase, it_prints_one_line_and_then_only_answers);
	tcase_add_test(tcase, its_facts_say_what_it_is_and_how_it_was_built);
	tcase_add_test(tcase, its_catalogue_says_what_it_cannot_do_and_why);
	tcase_add_loop_test(tcase, each_release_gets_a_wake_up_that_is_never_early, 0, 2);
	tcase_add_test(tcase, an_interrupt_is_split_at_its_first_instruction);
	tcase_add_test(tcase, each_row_that_needs_no_threads_fills_its_series);
	tcase_add_test(tcase, a_load_is_refused_by_its_reason);
	tcase_add_test(tcase, its_tick_keeps_the_counters_time);
	tcase_add_test(tcase, long_tick_loses_one_count_in_ten_thousand);
	tcase_add_test(tcase, its_timed_sleeps_come_back);
	tcase_add_test(tcase, dead_timer_says_hello_and_never_wakes);
	tcase_add_test(tcase, chatter_talks_inside_a_window_and_is_counted);
	tcase_add_test(tcase, a_watchdog_left_on_resets_the_board_under_the_session);
	tcase_add_test(tcase, what_comes_inside_a_window_waits_for_its_end);
	tcase_add_test(tcase, a_burst_of_noise_costs_nothing_but_itself);
	tcase_add_loop_test(tcase, it_runs_wherever_it_is_put, 0, 2);
	tcase_add_test(tcase, the_image_that_measures_has_no_test_build_in_it);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
