/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second implementation of the target's side, in Python and written from
 * PROTOCOL.md alone: if it serves a whole job, the document says enough.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/pty_agent.h"

#define NONCE	   0x5eedu
#define ANSWER_MS  20000
#define SERIES_MAX 16

static struct pty_agent lab;

static void start_agent(void)
{
	static const char *const argv[] = {"python3", "-B", "tests/agent/agent.py", "@", NULL};

	pty_agent_start(&lab, argv);
}

static void stop_agent(void)
{
	pty_agent_stop(&lab);
}

#define must(call)                                                                                 \
	do {                                                                                       \
		int result_ = (call);                                                              \
		ck_assert_msg(result_ >= 0, "%s: %d, %s", #call, result_, peer_error(&lab.peer));  \
	} while (0)

/* The target's own refusal, with its code and detail. */
#define refuses(code_, detail_, call)                                                              \
	do {                                                                                       \
		ck_assert_int_eq((call), -EREMOTEIO);                                              \
		ck_assert_int_eq(peer_target_error(&lab.peer)->code, (code_));                     \
		ck_assert_uint_eq(peer_target_error(&lab.peer)->detail, (detail_));                \
	} while (0)

static void open_session(void)
{
	struct message_hello hello;

	must(peer_wait_hello(&lab.peer, ANSWER_MS, &hello));
	ck_assert_str_eq(hello.system, "python");
	must(peer_open_session(&lab.peer, NONCE, &hello));
	ck_assert_uint_eq(hello.counter_hz, 1000000000);
	ck_assert_uint_eq(hello.state, MESSAGE_STATE_IDLE);
}

static void measure(const struct message_arm *arm, struct peer_window *window)
{
	uint32_t estimate_ms;

	must(peer_arm(&lab.peer, arm, &estimate_ms));
	must(peer_arm(&lab.peer, arm, &estimate_ms));
	must(peer_go(&lab.peer, arm->window, ANSWER_MS));
	must(peer_wait_done(&lab.peer, estimate_ms + ANSWER_MS, window));
	ck_assert_int_eq(window->done.status, 0);
	ck_assert_uint_eq(window->silence.bytes, 0);
	ck_assert(!window->is_resolved_by_ping);
	ck_assert_uint_gt(window->done.end, window->done.start);
}

/* The bytes of a series by its name; the caller frees them. */
static void *pull(const struct peer_window *window, const char *name, struct series_entry *entry)
{
	struct peer_transfer transfer;
	struct series_entry *entries;
	uint8_t *bytes = NULL;
	size_t count;

	must(peer_pull_index(&lab.peer, &window->done, &entries, &count));
	for (size_t i = 0; i < count; i++) {
		if (strcmp(entries[i].name, name) != 0)
			continue;
		*entry = entries[i];
		bytes = calloc(1, entry->bytes + 1);
		must(peer_transfer_init(&transfer, window->done.window, entry->id, entry->bytes,
			entry->crc, bytes));
		must(peer_pull(&lab.peer, &transfer));
	}
	free(entries);
	ck_assert_msg(bytes != NULL, "no series %s", name);
	return bytes;
}

START_TEST(the_vectors_hold_in_python_too)
{
	ck_assert_int_eq(system("python3 -B tests/agent/vectors.py tests/data/vectors.txt"), 0);
}
END_TEST

START_TEST(a_whole_job_runs_over_a_pty)
{
	struct message_arm arm = {.window = 1, .bench = 1, .n = 500, .period_us = 1000, .seed = 7};
	struct peer_exchange exchange;
	struct series_entry entry;
	struct peer_window window;
	int32_t *counts;
	char *text;
	size_t size;

	open_session();
	must(peer_ping(&lab.peer, &exchange));
	ck_assert_uint_gt(exchange.pong.sent, exchange.pong.received);
	must(peer_probe(&lab.peer, &text, &size));
	ck_assert_ptr_nonnull(strstr(text, "system=python\n"));
	free(text);
	must(peer_catalog(&lab.peer, &text, &size));
	ck_assert_ptr_nonnull(strstr(text, "1 wake.idle supported\n"));
	ck_assert_ptr_nonnull(strstr(text, "33 spawn unsupported no processes\n"));
	free(text);
	measure(&arm, &window);
	counts = pull(&window, "latency", &entry);
	ck_assert_uint_eq(entry.count, 500);
	for (uint32_t i = 0; i < entry.count; i++)
		ck_assert_int_ge(counts[i], 0);
	free(counts);
	free(pull(&window, "cold", &entry));
	ck_assert_uint_eq(entry.count, 100);
	free(pull(&window, "floor.after", &entry));
	ck_assert_uint_eq(entry.count, 1000);
	must(peer_release(&lab.peer, 1));
	must(peer_release(&lab.peer, 1));
	arm.window = 2;
	arm.bench = 42;
	arm.duration_ms = 300;
	measure(&arm, &window);
	free(pull(&window, "os_ns", &entry));
	ck_assert_uint_eq(entry.kind, SERIES_KIND_STAMPS);
	ck_assert_uint_ge(entry.count, 3);
	must(peer_release(&lab.peer, 2));
	must(peer_quit(&lab.peer));
	ck_assert_int_eq(pty_agent_wait(&lab), 0);
	ck_assert_uint_eq(lab.text_bytes, 0);
	ck_assert_uint_eq(lab.peer.statistics.retries, 0);
}
END_TEST

START_TEST(what_it_must_refuse_is_refused_as_the_document_says)
{
	struct message_arm arm = {.window = 5, .bench = 1, .n = 10, .period_us = 1000};
	struct message_arm other = arm;
	struct peer_transfer transfer;
	struct message_pong pong;
	uint32_t estimate_ms;
	uint8_t byte;

	must(peer_wait_hello(&lab.peer, ANSWER_MS, NULL));
	ck_assert_int_eq(peer_resume_session(&lab.peer, NONCE, &pong), -ECONNRESET);
	must(peer_open_session(&lab.peer, NONCE, NULL));
	ck_assert_int_eq(peer_resume_session(&lab.peer, NONCE + 1, &pong), -ESTALE);
	must(peer_open_session(&lab.peer, NONCE, NULL));
	must(peer_transfer_init(&transfer, 0, SERIES_ID_FACTS, 1, 0, &byte));
	refuses(WIRE_ERROR_BAD_STATE, MESSAGE_STATE_IDLE, peer_pull(&lab.peer, &transfer));
	must(peer_transfer_init(&transfer, 0, 9, 1, 0, &byte));
	refuses(WIRE_ERROR_BAD_RANGE, 9, peer_pull(&lab.peer, &transfer));
	other.bench = 200;
	refuses(WIRE_ERROR_UNKNOWN_BENCH, 200, peer_arm(&lab.peer, &other, &estimate_ms));
	other.bench = 33;
	refuses(WIRE_ERROR_UNSUPPORTED, 33, peer_arm(&lab.peer, &other, &estimate_ms));
	other = arm;
	other.n = UINT32_MAX;
	refuses(WIRE_ERROR_NO_MEMORY, 100000, peer_arm(&lab.peer, &other, &estimate_ms));
	must(peer_arm(&lab.peer, &arm, &estimate_ms));
	other = arm;
	other.seed++;
	refuses(WIRE_ERROR_BUSY, 5, peer_arm(&lab.peer, &other, &estimate_ms));
	refuses(WIRE_ERROR_BUSY, 5, peer_release(&lab.peer, 6));
	must(peer_transfer_init(&transfer, 5, 0, 1, 0, &byte));
	refuses(WIRE_ERROR_BAD_STATE, MESSAGE_STATE_ARMED, peer_pull(&lab.peer, &transfer));
	must(peer_release(&lab.peer, 5));
	/* Another nonce gives the window up. */
	must(peer_arm(&lab.peer, &arm, &estimate_ms));
	must(peer_resume_session(&lab.peer, NONCE, &pong));
	ck_assert_uint_eq(pong.state, MESSAGE_STATE_ARMED);
	ck_assert_uint_eq(pong.done.window, 5);
	must(peer_open_session(&lab.peer, NONCE + 1, NULL));
	must(peer_resume_session(&lab.peer, NONCE + 1, &pong));
	ck_assert_uint_eq(pong.state, MESSAGE_STATE_IDLE);
}
END_TEST

START_TEST(the_line_is_raised_and_given_back)
{
	struct message_bauded rates;
	struct peer_exchange exchange;
	char *text;
	size_t size;

	open_session();
	must(peer_query_rates(&lab.peer, &rates));
	ck_assert_uint_eq(rates.console, 115384);
	ck_assert_uint_eq(rates.base, 1500000);
	must(peer_raise(&lab.peer, 1500000));
	ck_assert_uint_eq(lab.baud, 1500000);
	must(peer_prove_rate(&lab.peer));
	refuses(WIRE_ERROR_BAD_STATE, MESSAGE_STATE_IDLE, peer_catalog(&lab.peer, &text, &size));
	must(peer_lower(&lab.peer));
	ck_assert_uint_eq(lab.baud, 115200);
	must(peer_catalog(&lab.peer, &text, &size));
	free(text);
	/* Left alone it goes back. */
	must(peer_raise(&lab.peer, 750000));
	must(peer_poll(&lab.peer, 4500));
	must(peer_query_rates(&lab.peer, &rates));
	ck_assert_uint_eq(rates.baud, 115384);
	must(peer_lower(&lab.peer));
	must(peer_ping(&lab.peer, &exchange));
	must(peer_quit(&lab.peer));
	ck_assert_int_eq(pty_agent_wait(&lab), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_python");
	TCase *vectors = tcase_create("vectors");
	TCase *job = tcase_create("job");
	SRunner *runner;
	int failed;

	tcase_set_timeout(vectors, 30);
	tcase_add_test(vectors, the_vectors_hold_in_python_too);
	suite_add_tcase(suite, vectors);
	tcase_set_timeout(job, 60);
	tcase_add_checked_fixture(job, start_agent, stop_agent);
	tcase_add_test(job, a_whole_job_runs_over_a_pty);
	tcase_add_test(job, what_it_must_refuse_is_refused_as_the_document_says);
	tcase_add_test(job, the_line_is_raised_and_given_back);
	suite_add_tcase(suite, job);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
