/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/document_scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/utf8.h"

/* cJSON reads 63 characters of a number. */
#define NUMBER_MAX 60

static void blank(char *from, char *to)
{
	for (; from < to; from++) {
		if (*from != '\n')
			*from = ' ';
	}
}

unsigned scan_blank_comments(char *text, size_t size)
{
	char *end = text + size;
	unsigned line = 1;

	for (char *c = text; c < end; c++) {
		char *start = c;

		if (*c == '\n') {
			line++;
		} else if (*c == '"') {
			for (c++; c < end && *c != '"' && *c != '\n'; c++)
				c += *c == '\\' && c + 1 < end;
			line += c < end && *c == '\n';
		} else if (*c == '/' && c + 1 < end && c[1] == '/') {
			while (c < end && *c != '\n')
				c++;
			blank(start, c);
			c--;
		} else if (*c == '/' && c + 1 < end && c[1] == '*') {
			unsigned opened = line;

			for (c += 2; c + 1 < end && !(c[0] == '*' && c[1] == '/'); c++)
				line += *c == '\n';
			if (c + 1 >= end)
				return opened;
			c++;
			blank(start, c + 1);
		}
	}
	return 0;
}

bool scan_find_bad_byte(
	const char *text, size_t size, unsigned *line, unsigned char *byte, const char **what)
{
	*line = 1;
	for (size_t i = 0; i < size;) {
		size_t length = utf8_measure(text + i, size - i);

		*byte = (unsigned char)text[i];
		if (!text[i] || !length) {
			*what = text[i] ? "is no UTF-8" : "is a NUL byte";
			return true;
		}
		*line += text[i] == '\n';
		i += length;
	}
	return false;
}

/* Puts `text` in front of what is at `at` already; false if it does not fit. */
static bool prepend(char *path, size_t *at, const char *text, size_t length)
{
	if (length > *at)
		return false;
	*at -= length;
	memcpy(path + *at, text, length);
	return true;
}

static bool prepend_name(
	const struct scan *scan, const struct scan_value *value, char *path, size_t *at)
{
	char index[32];

	if (scan->values[value->parent].type == SCAN_ARRAY)
		return prepend(path, at, index,
			(size_t)snprintf(index, sizeof(index), "[%zu]", value->index));
	if (!prepend(path, at, scan->text + value->key, value->key_length))
		return false;
	return scan->values[value->parent].parent == SIZE_MAX || prepend(path, at, ".", 1);
}

void scan_write_path(const struct scan *scan, size_t value, char *path, size_t size)
{
	size_t at = size - 1;

	path[at] = '\0';
	while (value < scan->value_count && scan->values[value].parent != SIZE_MAX) {
		if (!prepend_name(scan, &scan->values[value], path, &at))
			break;
		value = scan->values[value].parent;
	}
	memmove(path, path + at, size - at);
}

static int fail(struct scan *scan, size_t value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct scan *scan, size_t value, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(scan->error, sizeof(scan->error), format, args);
	va_end(args);
	scan->error_line = scan->line;
	scan_write_path(scan, value, scan->error_path, sizeof(scan->error_path));
	return -EINVAL;
}

static void skip_space(struct scan *scan)
{
	for (; scan->at < scan->size; scan->at++) {
		char c = scan->text[scan->at];

		if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
			return;
		scan->line += c == '\n';
	}
}

/* What stands at the place, for "X, expected Y". */
static const char *name_here(const struct scan *scan, char text[40])
{
	char c = scan->at < scan->size ? scan->text[scan->at] : '\0';
	size_t length = 0;

	if (scan->at >= scan->size)
		return "the file ends here";
	while (scan->at + length < scan->size && length < 16 &&
		isalnum((unsigned char)scan->text[scan->at + length]))
		length++;
	if (length)
		snprintf(text, 40, "found \"%.*s\"", (int)length, scan->text + scan->at);
	else if (isprint((unsigned char)c))
		snprintf(text, 40, "found '%c'", c);
	else
		snprintf(text, 40, "found byte 0x%02x", (unsigned char)c);
	return text;
}

static int fail_here(struct scan *scan, size_t value, const char *expected)
{
	char found[40];

	return fail(scan, value, "%s; expected %s", name_here(scan, found), expected);
}

static int add_value(struct scan *scan, const struct scan_value *like, size_t *index)
{
	*index = scan->value_count;
	if (scan->value_count == scan->value_room) {
		size_t room = scan->value_room ? scan->value_room * 2 : 64;
		struct scan_value *grown = realloc(scan->values, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		scan->values = grown;
		scan->value_room = room;
	}
	scan->values[scan->value_count] = *like;
	scan->values[scan->value_count].line = scan->line;
	scan->values[scan->value_count].offset = scan->at;
	/* Until its end is known it has everything behind it. */
	scan->values[scan->value_count++].next = SIZE_MAX;
	return 0;
}

static bool is_hex4(const char *text, size_t left)
{
	if (left < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return false;
	}
	return true;
}

/* A \uXXXX at the place: false if it is no character, or half of one. */
static bool skip_unicode(struct scan *scan)
{
	const char *text = scan->text + scan->at + 1;
	size_t left = scan->size - scan->at - 1;
	unsigned high, low;

	if (!is_hex4(text, left) || sscanf(text, "%4x", &high) != 1 || high == 0 ||
		(high >= 0xdc00 && high <= 0xdfff))
		return false;
	scan->at += 4;
	if (high < 0xd800 || high > 0xdbff)
		return true;
	if (left < 10 || text[4] != '\\' || text[5] != 'u' || !is_hex4(text + 6, left - 6) ||
		sscanf(text + 6, "%4x", &low) != 1 || low < 0xdc00 || low > 0xdfff)
		return false;
	scan->at += 6;
	return true;
}

/* From the opening quote to behind the closing one. */
static int skip_string(struct scan *scan, size_t value)
{
	for (scan->at++; scan->at < scan->size; scan->at++) {
		unsigned char c = (unsigned char)scan->text[scan->at];

		if (c == '"') {
			scan->at++;
			return 0;
		}
		if (c < 0x20)
			return fail(scan, value,
				"a string holds a %s; expected its closing quote before, or an escape",
				c == '\n' ? "line end" : "control character");
		if (c != '\\')
			continue;
		scan->at++;
		c = scan->at < scan->size ? (unsigned char)scan->text[scan->at] : 0;
		if (c == 'u' && !skip_unicode(scan))
			return fail(scan, value,
				"a \\u escape is no character; expected \\uXXXX in hexadecimal digits, "
				"not 0000, and surrogates in pairs");
		if (!c || !strchr("\"\\/bfnrtu", c))
			return fail(scan, value,
				"a backslash in a string begins no escape; expected \\\\ \\\" \\/ \\b "
				"\\f \\n \\r \\t or \\uXXXX");
	}
	return fail(scan, value, "the file ends in a string; expected its closing quote");
}

static size_t count_digits(const struct scan *scan, size_t at)
{
	size_t digits = 0;

	while (at + digits < scan->size && isdigit((unsigned char)scan->text[at + digits]))
		digits++;
	return digits;
}

static int skip_number(struct scan *scan, size_t value)
{
	size_t at = scan->at;
	size_t digits;

	at += scan->text[at] == '-';
	digits = count_digits(scan, at);
	if (!digits || (digits > 1 && scan->text[at] == '0'))
		return fail(scan, value,
			"a number is written wrongly; expected a decimal number like 20 or 0.5");
	at += digits;
	if (at < scan->size && scan->text[at] == '.') {
		digits = count_digits(scan, ++at);
		at += digits;
		if (!digits)
			return fail(scan, value, "a number ends in its point; expected a digit");
	}
	if (at < scan->size && (scan->text[at] == 'e' || scan->text[at] == 'E')) {
		at++;
		at += at < scan->size && (scan->text[at] == '+' || scan->text[at] == '-');
		digits = count_digits(scan, at);
		at += digits;
		if (!digits)
			return fail(scan, value, "a number ends in its exponent; expected a digit");
	}
	if (at < scan->size && (isalnum((unsigned char)scan->text[at]) || scan->text[at] == '_'))
		return fail(scan, value,
			"a number is followed by a letter; expected a decimal number like 20 or 0.5");
	if (at - scan->at > NUMBER_MAX)
		return fail(scan, value, "a number has too many digits; expected at most %d",
			NUMBER_MAX);
	scan->at = at;
	return 0;
}

static bool skip_word(struct scan *scan, const char *word)
{
	size_t length = strlen(word);

	if (scan->size - scan->at < length || strncmp(scan->text + scan->at, word, length))
		return false;
	if (scan->at + length < scan->size && isalnum((unsigned char)scan->text[scan->at + length]))
		return false;
	scan->at += length;
	return true;
}

static int scan_any(struct scan *scan, const struct scan_value *like);

/* Error if an earlier member of the object has the same key. */
static int check_duplicate(struct scan *scan, const struct scan_value *like)
{
	const char *key = scan->text + like->key;

	for (size_t i = like->parent + 1; i < scan->value_count; i = scan->values[i].next) {
		const struct scan_value *other = &scan->values[i];

		if (other->key_length == like->key_length &&
			!memcmp(scan->text + other->key, key, like->key_length))
			return fail(scan, i,
				"duplicate key, first in line %u; expected each key once",
				other->line);
	}
	if (like->index >= SCAN_MEMBERS_MAX)
		return fail(
			scan, like->parent, "too many keys; expected at most %d", SCAN_MEMBERS_MAX);
	return 0;
}

static int scan_member(struct scan *scan, size_t object, size_t index)
{
	struct scan_value like = {.parent = object, .index = index};
	int result;

	if (scan->at >= scan->size || scan->text[scan->at] != '"')
		return fail_here(scan, object, "a key in double quotes");
	like.key = scan->at + 1;
	result = skip_string(scan, object);
	if (result)
		return result;
	like.key_length = scan->at - 1 - like.key;
	result = check_duplicate(scan, &like);
	if (result)
		return result;
	skip_space(scan);
	if (scan->at >= scan->size || scan->text[scan->at] != ':')
		return fail_here(scan, object, "':' after the key");
	scan->at++;
	return scan_any(scan, &like);
}

static int scan_element(struct scan *scan, size_t array, size_t index)
{
	struct scan_value like = {.parent = array, .index = index};

	return scan_any(scan, &like);
}

/* Members or elements up to the closing bracket. */
static int scan_inside(struct scan *scan, size_t value, bool is_object)
{
	const char close = is_object ? '}' : ']';
	size_t count = 0;

	if (++scan->depth > scan->depth_max)
		return fail(scan, value, "nested too deeply; expected at most %u levels",
			scan->depth_max);
	scan->at++;
	for (;;) {
		int result;

		skip_space(scan);
		if (!count && scan->at < scan->size && scan->text[scan->at] == close)
			break;
		result = is_object ? scan_member(scan, value, count)
				   : scan_element(scan, value, count);
		if (result)
			return result;
		count++;
		skip_space(scan);
		if (scan->at < scan->size && scan->text[scan->at] == close)
			break;
		if (scan->at >= scan->size || scan->text[scan->at] != ',')
			return fail_here(scan, value, is_object ? "',' or '}'" : "',' or ']'");
		scan->at++;
		skip_space(scan);
		if (scan->at < scan->size && scan->text[scan->at] == close)
			return fail(scan, value,
				"a comma before '%c'; expected no comma there, or one more %s",
				close, is_object ? "key" : "value");
	}
	scan->at++;
	scan->depth--;
	return 0;
}

static int scan_plain(struct scan *scan, size_t value, enum scan_type *type)
{
	char c = scan->at < scan->size ? scan->text[scan->at] : '\0';

	if (c == '"') {
		*type = SCAN_STRING;
		return skip_string(scan, value);
	}
	if (c == '-' || isdigit((unsigned char)c)) {
		*type = SCAN_NUMBER;
		return skip_number(scan, value);
	}
	*type = SCAN_BOOLEAN;
	if (skip_word(scan, "true") || skip_word(scan, "false"))
		return 0;
	*type = SCAN_NULL;
	if (skip_word(scan, "null"))
		return 0;
	return fail_here(
		scan, value, "a value (text in double quotes, number, true, false, [ or {)");
}

static int scan_any(struct scan *scan, const struct scan_value *like)
{
	enum scan_type type;
	size_t value;
	char c;
	int result;

	skip_space(scan);
	result = add_value(scan, like, &value);
	if (result)
		return result;
	c = scan->at < scan->size ? scan->text[scan->at] : '\0';
	type = c == '{' ? SCAN_OBJECT : SCAN_ARRAY;
	scan->values[value].type = type;
	result = c == '{' || c == '[' ? scan_inside(scan, value, c == '{')
				      : scan_plain(scan, value, &type);
	scan->values[value].type = type;
	scan->values[value].next = scan->value_count;
	scan->values[value].length = scan->at - scan->values[value].offset;
	return result;
}

int scan_text(struct scan *scan, const char *text, size_t size, unsigned depth_max)
{
	const struct scan_value root = {.parent = SIZE_MAX};
	int result;

	memset(scan, 0, sizeof(*scan));
	scan->text = text;
	scan->size = size;
	scan->line = 1;
	scan->depth_max = depth_max;
	skip_space(scan);
	if (scan->at == scan->size) {
		scan->line = 1;
		return fail(scan, SIZE_MAX, "the file is empty; expected an object, { ... }");
	}
	result = scan_any(scan, &root);
	if (result)
		return result;
	skip_space(scan);
	if (scan->at < scan->size)
		return fail_here(scan, SIZE_MAX, "nothing after the end of the document");
	return 0;
}

void scan_fini(struct scan *scan)
{
	free(scan->values);
	memset(scan, 0, sizeof(*scan));
}
