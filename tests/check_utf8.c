/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <string.h>

#include "boardctl/fail.h"
#include "boardctl/utf8.h"

static const struct {
	const char *text, *mended, *as_text, *as_line;
} rows[] = {
	{"", "", "", ""},
	{"plain", "plain", "plain", "plain"},
	{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
	/* Alone, cut, too long a form, half of a pair, beyond the last. */
	{"a\x80z", "a?z", "a?z", "a?z"},
	{"a\xff\xfez", "a??z", "a??z", "a??z"},
	{"ab\xe2\x82", "ab??", "ab??", "ab??"},
	{"\xc0\xaf", "??", "??", "??"},
	{"\xe0\x9f\xbf", "???", "???", "???"},
	{"\xed\xa0\x80", "???", "???", "???"},
	{"\xf4\x90\x80\x80", "????", "????", "????"},
	/* What a terminal would obey. */
	{"\x1b[2J\x7f", "\x1b[2J\x7f", "?[2J?", "?[2J?"},
	{"\xc2\x9b"
	 "2J\xc2\xa0",
		"\xc2\x9b"
		"2J\xc2\xa0",
		"??2J\xc2\xa0", "??2J\xc2\xa0"},
	{"a\n\tb\r", "a\n\tb\r", "a\n\tb?", "a??b?"},
};

START_TEST(what_is_no_text_becomes_question_marks)
{
	char text[64];

	strcpy(text, rows[_i].text);
	utf8_mend(text);
	ck_assert_str_eq(text, rows[_i].mended);
	strcpy(text, rows[_i].text);
	utf8_mend_text(text);
	ck_assert_str_eq(text, rows[_i].as_text);
	strcpy(text, rows[_i].text);
	utf8_mend_line(text);
	ck_assert_str_eq(text, rows[_i].as_line);
}
END_TEST

START_TEST(a_sequence_is_measured_within_what_is_left)
{
	ck_assert_uint_eq(utf8_measure("", 0), 0);
	ck_assert_uint_eq(utf8_measure("a", 1), 1);
	ck_assert_uint_eq(utf8_measure("\xe2\x82\xac", 3), 3);
	ck_assert_uint_eq(utf8_measure("\xe2\x82\xac", 2), 0);
}
END_TEST

START_TEST(an_error_that_was_cut_ends_in_whole_letters)
{
	char text[8];

	ck_assert_int_eq(fail_format(text, sizeof(text), -5, "relay: \xc3\xa4"), -5);
	ck_assert_str_eq(text, "relay: ");
	ck_assert_int_eq(fail_format(text, sizeof(text), -5, "relay \xc3\xa4"), -5);
	ck_assert_str_eq(text, "relay ?");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("utf8");
	TCase *tcase = tcase_create("utf8");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, what_is_no_text_becomes_question_marks, 0,
		(int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(tcase, a_sequence_is_measured_within_what_is_left);
	tcase_add_test(tcase, an_error_that_was_cut_ends_in_whole_letters);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
