/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/document.h"
#include "tests/scratch.h"

enum colour { RED, GREEN };

struct wheel {
	const char *name;
	uint16_t size;
	const struct document_node *node;
};

struct rate {
	const char *name;
	double hz;
};

struct car {
	const char *title, *note;
	enum colour colour;
	const char *fuel;
	uint8_t doors;
	uint32_t mass;
	int64_t balance;
	double speed;
	bool is_open;
	const char **owners;
	size_t owner_count;
	struct wheel *wheels;
	size_t wheel_count;
	struct wheel *spares; /* from a map */
	size_t spare_count;
	struct rate *rates; /* from a map of numbers */
	size_t rate_count;
	struct wheel steering;
};

static const char *const colours[] = {"red", "green", NULL};
static const char *const fuels[] = {"petrol", "diesel", "none", NULL};

static const struct document_key wheel_keys[] = {
	{.name = "size",
		.kind = DOCUMENT_INTEGER,
		.required = true,
		.min = 10,
		.max = 60000,
		.unit = "mm",
		DOCUMENT_AT(struct wheel, size)},
};

static const struct wheel wheel_defaults = {.size = 400};

static const struct document_shape wheel_shape = {
	.noun = "a wheel",
	.keys = wheel_keys,
	.key_count = 1,
	.size = sizeof(struct wheel),
	.defaults = &wheel_defaults,
	.name_offset = offsetof(struct wheel, name),
	.node_offset = offsetof(struct wheel, node),
};

static const struct document_key rate_value = {
	.kind = DOCUMENT_NUMBER, .min = 0, .max = 10, .unit = "Hz", DOCUMENT_AT(struct rate, hz)};

static const struct document_shape rate_shape = {
	.noun = "a rate",
	.size = sizeof(struct rate),
	.name_offset = offsetof(struct rate, name),
	.node_offset = SIZE_MAX,
	.value = &rate_value,
};

static const struct document_key car_keys[] = {
	{.name = "title",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "a title",
		DOCUMENT_AT(struct car, title)},
	{.name = "note", .kind = DOCUMENT_STRING, .min = -1, DOCUMENT_AT(struct car, note)},
	{.name = "colour",
		.kind = DOCUMENT_WORD,
		.words = colours,
		DOCUMENT_AT(struct car, colour)},
	{.name = "fuel", .kind = DOCUMENT_CHOICE, .words = fuels, DOCUMENT_AT(struct car, fuel)},
	{.name = "doors",
		.kind = DOCUMENT_INTEGER,
		.min = 0,
		.max = 7,
		DOCUMENT_AT(struct car, doors)},
	{.name = "mass", .kind = DOCUMENT_INTEGER, .unit = "kg", DOCUMENT_AT(struct car, mass)},
	{.name = "balance", .kind = DOCUMENT_INTEGER, DOCUMENT_AT(struct car, balance)},
	{.name = "speed",
		.kind = DOCUMENT_NUMBER,
		.min = -1.5,
		.max = 2.5,
		.unit = "m/s",
		DOCUMENT_AT(struct car, speed)},
	{.name = "is_open", .kind = DOCUMENT_BOOLEAN, DOCUMENT_AT(struct car, is_open)},
	{.name = "owners",
		.kind = DOCUMENT_STRINGS,
		.min = 1,
		.max = 3,
		.expected = "a name",
		DOCUMENT_AT(struct car, owners),
		.count_offset = offsetof(struct car, owner_count)},
	{.name = "wheels",
		.kind = DOCUMENT_OBJECTS,
		.min = 1,
		.max = 4,
		.shape = &wheel_shape,
		DOCUMENT_AT(struct car, wheels),
		.count_offset = offsetof(struct car, wheel_count)},
	{.name = "spares",
		.kind = DOCUMENT_MAP,
		.shape = &wheel_shape,
		DOCUMENT_AT(struct car, spares),
		.count_offset = offsetof(struct car, spare_count)},
	{.name = "rates",
		.kind = DOCUMENT_MAP,
		.shape = &rate_shape,
		DOCUMENT_AT(struct car, rates),
		.count_offset = offsetof(struct car, rate_count)},
	{.name = "steering",
		.kind = DOCUMENT_OBJECT,
		.shape = &wheel_shape,
		DOCUMENT_AT(struct car, steering)},
};

static const struct document_shape car_shape = {
	.noun = "a car",
	.keys = car_keys,
	.key_count = sizeof(car_keys) / sizeof(car_keys[0]),
	.size = sizeof(struct car),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const char whole[] = "// a car\n"
			    "{ \"title\": \"T\\u00e4x\\ud83d\\ude00\\\"\", /* two\n"
			    "lines */ \"note\": \"\", \"colour\": \"green\",\n"
			    "  \"fuel\": \"none\", \"doors\": 7, \"mass\": 4294967295,\n"
			    "  \"balance\": -9007199254740992, \"speed\": -1.5e0,\n"
			    "  \"is_open\": true, \"owners\": [\"a//b\", \"/*c*/\"],\n"
			    "  \"wheels\": [{ \"size\": 10 }, { \"size\": 60000 }],\n"
			    "  \"spares\": { \"left.one\": { \"size\": 11 } },\n"
			    "  \"rates\": { \"x\": 0.5, \"y\": 10 },\n"
			    "  \"steering\": { \"size\": 12 } }\n"
			    "// the end";

START_TEST(every_kind_of_value_is_read_and_comments_are_not)
{
	struct document *document;
	struct car car = {0};

	ck_assert_int_eq(document_parse(&document, "car.json", whole, sizeof(whole) - 1), 0);
	ck_assert_int_eq(document_read(document, &car_shape, &car), 0);
	ck_assert_str_eq(document_error(document), "");
	ck_assert_str_eq(car.title, "T\xc3\xa4x\xf0\x9f\x98\x80\"");
	ck_assert_str_eq(car.note, "");
	ck_assert_int_eq(car.colour, GREEN);
	ck_assert_str_eq(car.fuel, "none");
	ck_assert_uint_eq(car.doors, 7);
	ck_assert_uint_eq(car.mass, 4294967295u);
	ck_assert_int_eq(car.balance, -9007199254740992);
	ck_assert_double_eq(car.speed, -1.5);
	ck_assert(car.is_open);
	ck_assert_uint_eq(car.owner_count, 2);
	ck_assert_str_eq(car.owners[0], "a//b");
	ck_assert_str_eq(car.owners[1], "/*c*/");
	ck_assert_uint_eq(car.wheel_count, 2);
	ck_assert_uint_eq(car.wheels[1].size, 60000);
	ck_assert_uint_eq(document_line(car.wheels[1].node), 7);
	ck_assert_uint_eq(car.spare_count, 1);
	ck_assert_str_eq(car.spares[0].name, "left.one");
	ck_assert_uint_eq(car.spares[0].size, 11);
	ck_assert_uint_eq(car.rate_count, 2);
	ck_assert_str_eq(car.rates[1].name, "y");
	ck_assert_double_eq(car.rates[0].hz, 0.5);
	ck_assert_uint_eq(car.steering.size, 12);
	ck_assert_str_eq(document_text(document, NULL), whole);
	ck_assert_str_eq(document_string(document_find(document_root(document), "fuel")), "none");
	ck_assert_ptr_null(document_find(document_root(document), "nope"));
	document_close(document);
}
END_TEST

#define T "{\"title\": \"t\",\n"

static const struct {
	const char *text, *error;
} bad[] = {
	/* Syntax. */
	{"", "f:1: the file is empty; expected an object, { ... }"},
	{" \n\n", "f:1: the file is empty; expected an object, { ... }"},
	{"// only\n/* this */", "f:1: the file is empty; expected an object, { ... }"},
	{"[]", "f:1: the document is an array; expected an object, { ... }"},
	{"\n3", "f:2: the document is a number; expected an object, { ... }"},
	{"null", "f:1: the document is null; expected an object, { ... }"},
	{"{", "f:1: the file ends here; expected a key in double quotes"},
	{"{}\n}", "f:2: found '}'; expected nothing after the end of the document"},
	{"{}\nfoo", "f:2: found \"foo\"; expected nothing after the end of the document"},
	{"{} {}", "f:1: found '{'; expected nothing after the end of the document"},
	{"{\n\n/* x\n", "f:3: a comment begins here and never ends; expected */"},
	{"{ /", "f:1: found '/'; expected a key in double quotes"},
	{"{\ntitle: 1}", "f:2: found \"title\"; expected a key in double quotes"},
	{"{'title': 1}", "f:1: found '''; expected a key in double quotes"},
	{"{\"a\" 1}", "f:1: found \"1\"; expected ':' after the key"},
	{"{\"a\": }", "f:1: a: found '}'; expected a value (text in double quotes, number, true, "
		      "false, [ or {)"},
	{"{\"a\": True}",
		"f:1: a: found \"True\"; expected a value (text in double quotes, number, "
		"true, false, [ or {)"},
	{"{\"a\": truely}", "f:1: a: found \"truely\"; expected a value (text in double quotes, "
			    "number, true, false, [ or {)"},
	{"{\"a\": 1\n \"b\": 2}", "f:2: found '\"'; expected ',' or '}'"},
	{"{\"a\": [1\n 2]}", "f:2: a: found \"2\"; expected ',' or ']'"},
	{"{\"a\": 1,\n}", "f:2: a comma before '}'; expected no comma there, or one more key"},
	{"{\"a\": {\"b\": [1,\n]}}",
		"f:2: a.b: a comma before ']'; expected no comma there, or one more value"},
	{"{\"a\": [1, [2, \"x]}", "f:1: a[1][1]: the file ends in a string; expected its closing "
				  "quote"},
	{"{\"a\": \"x\ny\"}",
		"f:1: a: a string holds a line end; expected its closing quote before, "
		"or an escape"},
	{"{\"a\": \"x\ty\"}", "f:1: a: a string holds a control character; expected its closing "
			      "quote before, or an escape"},
	{"{\"a\": \"\\x\"}", "f:1: a: a backslash in a string begins no escape; expected \\\\ \\\" "
			     "\\/ \\b \\f \\n \\r \\t or \\uXXXX"},
	{"{\"a\": \"\\u12g4\"}", "f:1: a: a \\u escape is no character; expected \\uXXXX in "
				 "hexadecimal digits, not 0000, and surrogates in pairs"},
	{"{\"a\": \"\\u0000\"}", "f:1: a: a \\u escape is no character; expected \\uXXXX in "
				 "hexadecimal digits, not 0000, and surrogates in pairs"},
	{"{\"a\": \"\\ud800x\"}", "f:1: a: a \\u escape is no character; expected \\uXXXX in "
				  "hexadecimal digits, not 0000, and surrogates in pairs"},
	{"{\"a\": 012}",
		"f:1: a: a number is written wrongly; expected a decimal number like 20 or "
		"0.5"},
	{"{\"a\": -}", "f:1: a: a number is written wrongly; expected a decimal number like 20 or "
		       "0.5"},
	{"{\"a\": 1.}", "f:1: a: a number ends in its point; expected a digit"},
	{"{\"a\": 1e+}", "f:1: a: a number ends in its exponent; expected a digit"},
	{"{\"a\": 0x10}",
		"f:1: a: a number is followed by a letter; expected a decimal number like "
		"20 or 0.5"},
	{"{\"a\": 1111111111111111111111111111111111111111111111111111111111111}",
		"f:1: a: a number has too many digits; expected at most 60"},
	{"{\"a\": 1,\n\n\"a\": 2}",
		"f:3: a: duplicate key, first in line 1; expected each key once"},
	{"{\"a\": {\"b\": 1,\n\"\\u0062\": 2}}",
		"f:2: a.\\u0062: duplicate key, first in line 1; expected each key once"},
	{"\xef\xbb\xbf{}", "f:1: begins with a byte order mark; expected plain UTF-8"},
	{"{\n\"a\": \"\xff\"}", "f:2: byte 0xff is no UTF-8; expected UTF-8 text"},
	{"{\n\n\"a\": \"\xc0\xaf\"}", "f:3: byte 0xc0 is no UTF-8; expected UTF-8 text"},
	{"{\"a\": \"\xed\xa0\x80\"}", "f:1: byte 0xed is no UTF-8; expected UTF-8 text"},
	{"{\"a\": \"\xf4\x90\x80\x80\"}", "f:1: byte 0xf4 is no UTF-8; expected UTF-8 text"},
	{"{\"a\": \"\xe2\x82", "f:1: byte 0xe2 is no UTF-8; expected UTF-8 text"},
	{"{\"a\": 1 /* \xe4 */}", "f:1: byte 0xe4 is no UTF-8; expected UTF-8 text"},
	/* Keys. */
	{"{}", "f:1: key \"title\" is missing; expected it in a car"},
	{T "\"colr\": \"red\"}", "f:2: colr: unknown key; did you mean \"colour\"?"},
	{T "\"is_opne\": true}", "f:2: is_opne: unknown key; did you mean \"is_open\"?"},
	{T "\"engine\": 1}",
		"f:2: engine: unknown key; expected \"title\", \"note\", \"colour\", \"fuel\", "
		"\"doors\", \"mass\", \"balance\", \"speed\", \"is_open\", \"owners\", "
		"\"wheels\", \"spares\", \"rates\" or \"steering\""},
	{T "\"wheels\": [{\"size\": 10},\n{\"sise\": 10}]}",
		"f:3: wheels[1].sise: unknown key; did you mean \"size\"?"},
	{T "\"wheels\": [{\"size\": 10},\n{}]}",
		"f:3: wheels[1]: key \"size\" is missing; expected it in a wheel"},
	{T "\"steering\": 1}", "f:2: steering: is a number; expected a wheel, { ... }"},
	{T "\"spares\": {\"left\":\n [\"x\"]}}",
		"f:3: spares.left: is an array; expected a wheel, { ... }"},
	{T "\"spares\": {\"\": {\"size\": 10}}}", "f:2: spares.: a key is empty; expected a name"},
	/* Values. */
	{"{\"title\": \"\"}", "f:1: title: is empty; expected a title"},
	{"{\"title\": 5}", "f:1: title: is a number; expected a title"},
	{"{\"title\": null}", "f:1: title: is null; expected a title"},
	{T "\"note\": {}}", "f:2: note: is an object; expected a text"},
	{T "\"colour\": \"blue\"}",
		"f:2: colour: \"blue\" is unknown; expected \"red\" or \"green\""},
	{T "\"colour\": true}", "f:2: colour: is true; expected \"red\" or \"green\""},
	{T "\"fuel\": \"Petrol\"}", "f:2: fuel: \"Petrol\" is unknown; expected \"petrol\", "
				    "\"diesel\" or \"none\""},
	{T "\"doors\": 8}", "f:2: doors: 8 is out of range; expected an integer from 0 to 7"},
	{T "\"doors\": -1}", "f:2: doors: -1 is out of range; expected an integer from 0 to 7"},
	{T "\"doors\": 1.5}", "f:2: doors: is 1.5; expected an integer from 0 to 7"},
	{T "\"doors\": \"1\"}", "f:2: doors: is a text; expected an integer from 0 to 7"},
	{T "\"mass\": 1e400}", "f:2: mass: is inf; expected an integer of kg"},
	{T "\"balance\": 9007199254740994}",
		"f:2: balance: 9007199254740994 is too large to be exact; expected at most "
		"9007199254740992"},
	{T "\"speed\": 2.6}",
		"f:2: speed: 2.6 is out of range; expected a number from -1.5 to 2.5 m/s"},
	{T "\"is_open\": 1}", "f:2: is_open: is a number; expected true or false"},
	{T "\"owners\": []}", "f:2: owners: is empty; expected 1 to 3 texts"},
	{T "\"owners\": [\"a\",\"b\",\"c\",\"d\"]}", "f:2: owners: has 4 texts; expected 1 to 3"},
	{T "\"owners\": [\"a\",\n2]}", "f:3: owners[1]: is a number; expected a name"},
	{T "\"owners\": \"a\"}", "f:2: owners: is a text; expected an array"},
	{T "\"wheels\": {}}", "f:2: wheels: is an object; expected an array"},
	{T "\"spares\": []}", "f:2: spares: is an array; expected an object"},
	{T "\"rates\": {\"a\": 1,\n\"b\": 11}}",
		"f:3: rates.b: 11 is out of range; expected a number from 0 to 10 Hz"},
	{T "\"rates\": {\"a\": \"1\"}}",
		"f:2: rates.a: is a text; expected a number from 0 to 10 Hz"},
	/* What a terminal would obey is not repeated to it. */
	{T "\"colour\": \"\\u001b[2J\\u009b\"}",
		"f:2: colour: \"?[2J??\" is unknown; expected \"red\" or \"green\""},
	/* The first of several errors stays. */
	{T "\"doors\": 9,\n\"nope\": 1,\n\"colour\": 3}",
		"f:2: doors: 9 is out of range; expected an integer from 0 to 7"},
};

START_TEST(every_mistake_is_named_by_file_line_key_and_what_would_be_right)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct document *document;
		struct car car = {0};
		int result = document_parse(&document, "f", bad[i].text, strlen(bad[i].text));

		if (!result)
			result = document_read(document, &car_shape, &car);
		ck_assert_str_eq(document_error(document), bad[i].error);
		ck_assert_int_eq(result, -EINVAL);
		/* Once wrong, always wrong. */
		ck_assert_int_eq(document_read(document, &car_shape, &car), -EINVAL);
		document_close(document);
	}
}
END_TEST

START_TEST(a_nul_byte_is_named_with_its_line)
{
	struct document *document;

	ck_assert_int_eq(document_parse(&document, "f", "{\n\0}", 4), -EINVAL);
	ck_assert_str_eq(
		document_error(document), "f:2: byte 0x00 is a NUL byte; expected UTF-8 text");
	document_close(document);
}
END_TEST

START_TEST(deep_nesting_ends_at_its_limit)
{
	char text[4096];

	for (int depth = 31; depth <= 32; depth++) {
		struct document *document;
		size_t at = (size_t)sprintf(text, "{\"a\": ");

		for (int i = 0; i < depth; i++)
			text[at++] = '[';
		for (int i = 0; i < depth; i++)
			text[at++] = ']';
		text[at++] = '}';
		ck_assert_int_eq(
			document_parse(&document, "f", text, at), depth == 31 ? 0 : -EINVAL);
		if (depth == 32)
			ck_assert_ptr_nonnull(strstr(document_error(document),
				"[0][0]: nested too deeply; expected at most 32 levels"));
		document_close(document);
	}
}
END_TEST

START_TEST(large_files_end_at_their_limit_and_stay_quick)
{
	struct scratch scratch;
	size_t size = DOCUMENT_SIZE_MAX;
	char *text = malloc(size + 2);
	char expected[512];
	struct document *document;

	scratch_init(&scratch);
	memset(text, ' ', size + 1);
	text[0] = '{';
	text[size - 1] = '}';
	ck_assert_int_eq(document_parse(&document, "f", text, size), 0);
	document_close(document);
	ck_assert_int_eq(document_parse(&document, "f", text, size + 1), -EFBIG);
	ck_assert_str_eq(document_error(document),
		"f: is larger than 1048576 bytes; expected a smaller file");
	document_close(document);
	scratch_write(&scratch, "big", text, size + 1);
	ck_assert_int_eq(document_open(&document, scratch.path), -EFBIG);
	snprintf(expected, sizeof(expected),
		"%s: is larger than 1048576 bytes; expected a smaller file", scratch.path);
	ck_assert_str_eq(document_error(document), expected);
	document_close(document);
	/* A device has no size to look at. */
	ck_assert_int_eq(document_open(&document, "/dev/zero"), -EFBIG);
	document_close(document);
	/* A file of keys only, which all are compared. */
	{
		size_t at = (size_t)sprintf(text, "{");

		for (unsigned i = 0; at < size - 40; i++)
			at += (size_t)sprintf(text + at, "%s\"k%u\":0", i ? "," : "", i);
		at += (size_t)sprintf(text + at, "}");
		ck_assert_int_eq(document_parse(&document, "f", text, at), -EINVAL);
		ck_assert_str_eq(
			document_error(document), "f:1: too many keys; expected at most 4096");
		document_close(document);
	}
	/* A million empty arrays. */
	{
		size_t at = (size_t)sprintf(text, "{\"a\":[0");

		while (at < size - 8)
			at += (size_t)sprintf(text + at, ",[]");
		at += (size_t)sprintf(text + at, "]}");
		ck_assert_int_eq(document_parse(&document, "f", text, at), 0);
		document_close(document);
	}
	free(text);
	scratch_fini(&scratch);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_named)
{
	struct document *document;

	ck_assert_int_eq(document_open(&document, "/nonexistent/x.json"), -ENOENT);
	ck_assert_str_eq(document_error(document),
		"/nonexistent/x.json: cannot be read: No such file or directory");
	document_close(document);
	ck_assert_int_eq(document_open(&document, "/tmp"), -EISDIR);
	ck_assert_str_eq(document_error(document), "/tmp: cannot be read: Is a directory");
	document_close(document);
	document_close(NULL);
}
END_TEST

START_TEST(a_text_cut_anywhere_is_an_error_and_never_more)
{
	/* Complete as soon as the outer brace is closed, but for half a comment. */
	const size_t end = sizeof(whole) - sizeof("\n// the end");

	for (size_t size = 0; size < sizeof(whole) - 1; size++) {
		struct document *document;
		struct car car = {0};
		char *text = malloc(size + 1); /* so that reading beyond is seen */
		int result;

		memcpy(text, whole, size);
		result = document_parse(&document, "f", text, size);
		if (!result)
			result = document_read(document, &car_shape, &car);
		ck_assert_int_eq(result, size < end || size == end + 2 ? -EINVAL : 0);
		ck_assert(result == 0 || document_error(document)[0]);
		document_close(document);
		free(text);
	}
}
END_TEST

START_TEST(a_text_with_any_byte_changed_is_read_or_refused_and_never_more)
{
	uint32_t random = 1;

	for (size_t i = 0; i < 20000; i++) {
		char text[sizeof(whole)];
		struct document *document;
		struct car car = {0};

		memcpy(text, whole, sizeof(whole));
		for (int k = 0; k < 2; k++) {
			random = random * 1664525 + 1013904223;
			text[(random >> 8) % (sizeof(whole) - 1)] = (char)(random >> 24);
		}
		if (!document_parse(&document, "f", text, sizeof(whole) - 1) &&
			!document_read(document, &car_shape, &car))
			ck_assert_str_eq(document_error(document), "");
		else
			ck_assert_ptr_nonnull(
				strstr(document_error(document), "expected")
					? ""
					: strstr(document_error(document), "did you mean"));
		document_close(document);
	}
}
END_TEST

START_TEST(paths_are_below_the_folder_of_the_file)
{
	static const struct {
		const char *file, *path, *resolved;
	} table[] = {
		{"/etc/lab/lab.json", "uart", "/etc/lab/uart"},
		{"/etc/lab/lab.json", "/dev/ttyS0", "/dev/ttyS0"},
		{"lab.json", "a/b", "a/b"},
		{"x/lab.json", "../b", "x/../b"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct document *document;

		ck_assert_int_eq(document_parse(&document, table[i].file, "{}", 2), 0);
		ck_assert_str_eq(document_resolve(document, table[i].path), table[i].resolved);
		document_close(document);
	}
}
END_TEST

START_TEST(the_nearest_word_is_one_that_was_meant)
{
	static const char *const words[] = {"wake.idle", "wake.cpu", "n", "period_us", NULL};
	static const struct {
		const char *word, *nearest;
	} table[] = {
		{"wake.idel", "wake.idle"},
		{"wake-cpu", "wake.cpu"},
		{"wakecpu", "wake.cpu"},
		{"period", NULL},
		{"period_ms", "period_us"},
		{"m", "n"},
		{"xyzzy", NULL},
		{"", "n"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const char *nearest = document_nearest(table[i].word, words);

		if (table[i].nearest)
			ck_assert_str_eq(nearest ? nearest : "(none)", table[i].nearest);
		else
			ck_assert_ptr_null(nearest);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("document");
	TCase *tcase = tcase_create("document");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, every_kind_of_value_is_read_and_comments_are_not);
	tcase_add_test(tcase, every_mistake_is_named_by_file_line_key_and_what_would_be_right);
	tcase_add_test(tcase, a_nul_byte_is_named_with_its_line);
	tcase_add_test(tcase, deep_nesting_ends_at_its_limit);
	tcase_add_test(tcase, large_files_end_at_their_limit_and_stay_quick);
	tcase_add_test(tcase, a_file_that_cannot_be_read_is_named);
	tcase_add_test(tcase, a_text_cut_anywhere_is_an_error_and_never_more);
	tcase_add_test(tcase, a_text_with_any_byte_changed_is_read_or_refused_and_never_more);
	tcase_add_test(tcase, paths_are_below_the_folder_of_the_file);
	tcase_add_test(tcase, the_nearest_word_is_one_that_was_meant);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
