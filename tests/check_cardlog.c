/* SPDX-License-Identifier: Apache-2.0 */
/* What the store knows of the boards' cards. */
#include <check.h>
#include <stdlib.h>

#include "db/cardlog.h"

static struct store *store;
static struct cardlog *card;

static void look(const char *board)
{
	free(card);
	ck_assert_msg(cardlog_get(store, board, &card) == 0, "%s", store_error(store));
}

static void expect(const char *sha256, int64_t writes, int64_t errors)
{
	look("p1");
	ck_assert_ptr_nonnull(card);
	ck_assert_str_eq(card->sha256, sha256);
	ck_assert_int_eq(card->writes, writes);
	ck_assert_int_eq(card->errors, errors);
}

START_TEST(writes_and_errors_of_a_card_are_counted)
{
	look("p1");
	ck_assert_ptr_null(card);
	ck_assert_int_eq(cardlog_note_write(store, "p1", "by-id/x", 1 << 20, "aa", 7), 0);
	expect("aa", 1, 0);
	ck_assert_int_eq(card->written_ms, 7);
	ck_assert_int_eq(card->size_bytes, 1 << 20);
	ck_assert_int_eq(cardlog_note_error(store, "p1", "by-id/x", "returns another hash"), 0);
	/* Half written: what is on it nobody knows. */
	expect("", 1, 1);
	ck_assert_str_eq(card->error, "returns another hash");
	ck_assert_int_eq(cardlog_note_write(store, "p1", "by-id/x", 1 << 20, "bb", 9), 0);
	expect("bb", 2, 1);
	look("p2");
	ck_assert_ptr_null(card);
}
END_TEST

START_TEST(a_card_that_failed_first_is_the_one_that_is_written_then)
{
	ck_assert_int_eq(cardlog_note_error(store, "p1", "by-id/x", "no card"), 0);
	expect("", 0, 1);
	ck_assert_int_eq(cardlog_note_write(store, "p1", "by-id/x", 1 << 20, "aa", 7), 0);
	expect("aa", 1, 1);
}
END_TEST

START_TEST(another_device_or_size_is_another_card)
{
	ck_assert_int_eq(cardlog_note_write(store, "p1", "by-id/x", 1 << 20, "aa", 7), 0);
	ck_assert_int_eq(cardlog_note_error(store, "p1", "by-id/x", "bad"), 0);
	ck_assert_int_eq(cardlog_note_write(store, "p1", "by-id/x", 1 << 21, "aa", 8), 0);
	expect("aa", 1, 0);
	ck_assert_str_eq(card->error, "");
	ck_assert_int_eq(cardlog_note_write(store, "p1", "by-id/y", 1 << 21, "aa", 9), 0);
	expect("aa", 1, 0);
	ck_assert_int_eq(cardlog_note_error(store, "p1", "by-id/z", "bad"), 0);
	expect("", 0, 1);
}
END_TEST

START_TEST(a_system_that_writes_its_card_leaves_nothing_known)
{
	ck_assert_int_eq(cardlog_forget(store, "p1"), 0);
	ck_assert_int_eq(cardlog_note_write(store, "p1", "by-id/x", 1 << 20, "aa", 7), 0);
	ck_assert_int_eq(cardlog_forget(store, "p1"), 0);
	expect("", 1, 0);
}
END_TEST

static void set_up(void)
{
	card = NULL;
	ck_assert_int_eq(store_open(&store, ":memory:", 0), 0);
}

static void tear_down(void)
{
	free(card);
	store_close(store);
}

int main(void)
{
	Suite *suite = suite_create("cardlog");
	TCase *cases = tcase_create("cardlog");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, writes_and_errors_of_a_card_are_counted);
	tcase_add_test(cases, a_card_that_failed_first_is_the_one_that_is_written_then);
	tcase_add_test(cases, another_device_or_size_is_another_card);
	tcase_add_test(cases, a_system_that_writes_its_card_leaves_nothing_known);
	suite_add_tcase(suite, cases);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
