/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/text.h"

void text_init(struct text *text, char *data, uint32_t capacity)
{
	text->data = data;
	text->size = 0;
	text->capacity = capacity;
	text->line = 0;
	text->truncated = false;
}

static void append_byte(struct text *text, char byte)
{
	if (text->size < text->capacity)
		text->data[text->size++] = byte;
	else
		text->truncated = true;
}

void text_append_bytes(struct text *text, const char *piece, size_t size)
{
	for (size_t i = 0; i < size; i++)
		append_byte(text, (unsigned char)piece[i] < 0x20 ? ' ' : piece[i]);
}

void text_append(struct text *text, const char *piece)
{
	for (; *piece; piece++)
		append_byte(text, (unsigned char)*piece < 0x20 ? ' ' : *piece);
}

void text_append_u64(struct text *text, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	text_append_bytes(text, digits + at, sizeof(digits) - at);
}

void text_append_i64(struct text *text, int64_t value)
{
	if (value < 0)
		append_byte(text, '-');
	text_append_u64(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void text_append_hex(struct text *text, uint64_t value)
{
	int shift = 60;

	while (shift > 0 && value >> shift == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		append_byte(text, "0123456789abcdef"[value >> shift & 15]);
}

void text_end_line(struct text *text)
{
	/* A line cut short would be read as a value: drop it whole. */
	if (text->truncated || text->size == text->capacity) {
		text->truncated = true;
		text->size = text->line;
		return;
	}
	text->data[text->size++] = '\n';
	text->line = text->size;
}

static void put_key(struct text *text, const char *key)
{
	text_append(text, key);
	text_append(text, "=");
}

void text_put(struct text *text, const char *key, const char *value)
{
	put_key(text, key);
	text_append(text, value);
	text_end_line(text);
}

void text_put_u64(struct text *text, const char *key, uint64_t value)
{
	put_key(text, key);
	text_append_u64(text, value);
	text_end_line(text);
}

void text_put_u64s(struct text *text, const char *keys, const uint64_t *values)
{
	do {
		while (*keys && *keys != ' ')
			append_byte(text, *keys++);
		append_byte(text, '=');
		text_append_u64(text, *values++);
		text_end_line(text);
	} while (*keys++);
}

void text_put_lines(struct text *text, const char *lines)
{
	for (; *lines; lines++) {
		if (*lines == '\n')
			text_end_line(text);
		else
			append_byte(text, *lines);
	}
}

void text_put_i64(struct text *text, const char *key, int64_t value)
{
	put_key(text, key);
	text_append_i64(text, value);
	text_end_line(text);
}
