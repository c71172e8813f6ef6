/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/document_private.h"
#include "harness/word.h"

#define WORD_MAX 64

/* Where a value stands: its key in an object, or the node itself in an array. */
struct place {
	const struct document_node *node;
	const struct document_key *key;
};

static int fail_type(struct document *document, const struct place *place, const char *expected)
{
	return document_fail(document, place->node, NULL, "is %s; expected %s",
		document_describe(place->node), expected);
}

/* Levenshtein's distance, at most WORD_MAX letters; adjacent swaps count as one. */
static size_t measure_distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2];
	size_t n = strlen(a), m = strlen(b);

	if (n > WORD_MAX || m > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= m; j++)
		last[j] = before[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *free_row = before;

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		before = last;
		last = row;
		row = free_row;
	}
	return last[m];
}

const char *document_nearest(const char *word, const char *const *words)
{
	size_t limit = strlen(word) < 4 ? 1 : strlen(word) < 8 ? 2 : 3;
	const char *nearest = NULL;

	for (; *words; words++) {
		size_t distance = measure_distance(word, *words);

		/* A word that is begun or ended alike is near as well: "bench_name". */
		if (distance > limit && strlen(*words) >= 3 && strstr(word, *words))
			distance = limit;
		if (distance <= limit && (!nearest || distance < measure_distance(word, nearest)))
			nearest = *words;
	}
	return nearest;
}

/* The words of a table's keys; *words is the document's. */
static const char **list_keys(struct document *document, const struct document_shape *shape)
{
	const char **words = document_allocate(document, (shape->key_count + 1) * sizeof(*words));

	for (size_t i = 0; words && i < shape->key_count; i++)
		words[i] = shape->keys[i].name;
	return words;
}

static int fail_unknown(struct document *document, const struct document_node *node,
	const struct document_shape *shape)
{
	const char **words = list_keys(document, shape);
	const char *nearest;
	char text[640];

	if (!words)
		return document_fail(document, node, NULL, "out of memory");
	nearest = document_nearest(node->json->string, words);
	if (nearest)
		return document_fail(
			document, node, NULL, "unknown key; did you mean \"%s\"?", nearest);
	word_join(words, text, sizeof(text));
	return document_fail(document, node, NULL, "unknown key; expected %s", text);
}

static void write_number(double number, char *text, size_t size)
{
	snprintf(text, size, number == floor(number) && fabs(number) < 0x1p60 ? "%.0f" : "%g",
		number);
}

/* "an integer from 1 to 100 boots" */
static void describe_range(const struct document_key *key, char *text, size_t size)
{
	const char *noun = key->kind == DOCUMENT_INTEGER ? "an integer" : "a number";
	const char *unit = key->unit ? key->unit : "";
	const char *space = key->unit ? " " : "";
	char min[32], max[32];

	write_number(key->min, min, sizeof(min));
	write_number(key->max, max, sizeof(max));
	if (key->min || key->max)
		snprintf(text, size, "%s from %s to %s%s%s", noun, min, max, space, unit);
	else
		snprintf(text, size, "%s%s%s", noun, key->unit ? " of " : "", unit);
}

static int read_string(struct document *document, const struct place *place, char *out)
{
	const char *expected = place->key->expected ? place->key->expected : "a text";
	const char *text = cJSON_GetStringValue(place->node->json);

	if (!text)
		return fail_type(document, place, expected);
	if (!*text && place->key->min >= 0)
		return document_fail(
			document, place->node, NULL, "is empty; expected %s", expected);
	memcpy(out, &text, sizeof(text));
	return 0;
}

static int read_word(struct document *document, const struct place *place, char *out)
{
	const char *text = cJSON_GetStringValue(place->node->json);
	const char *const *words = place->key->words;
	char expected[640];

	word_join(words, expected, sizeof(expected));
	if (!text)
		return fail_type(document, place, expected);
	for (unsigned i = 0; words[i]; i++) {
		if (strcmp(words[i], text))
			continue;
		if (place->key->kind == DOCUMENT_CHOICE)
			memcpy(out, &words[i], sizeof(words[i]));
		else
			memcpy(out, &i, sizeof(i));
		return 0;
	}
	return document_fail(
		document, place->node, NULL, "\"%s\" is unknown; expected %s", text, expected);
}

static void write_integer(int64_t integer, size_t size, char *out)
{
	const uint8_t byte = (uint8_t)integer;
	const uint16_t half = (uint16_t)integer;
	const uint32_t word = (uint32_t)integer;

	switch (size) {
	case 1:
		memcpy(out, &byte, 1);
		break;
	case 2:
		memcpy(out, &half, 2);
		break;
	case 4:
		memcpy(out, &word, 4);
		break;
	default:
		memcpy(out, &integer, 8);
	}
}

static int read_number(struct document *document, const struct place *place, char *out)
{
	const struct document_key *key = place->key;
	bool is_integer = key->kind == DOCUMENT_INTEGER;
	double number = place->node->json->valuedouble;
	char expected[160], text[32];

	describe_range(key, expected, sizeof(expected));
	if (!cJSON_IsNumber(place->node->json))
		return fail_type(document, place, expected);
	write_number(number, text, sizeof(text));
	if (!isfinite(number) || (is_integer && number != floor(number)))
		return document_fail(
			document, place->node, NULL, "is %s; expected %s", text, expected);
	if (is_integer && fabs(number) > 0x1p53)
		return document_fail(document, place->node, NULL,
			"%s is too large to be exact; expected at most 9007199254740992", text);
	if ((key->min || key->max) && (number < key->min || number > key->max))
		return document_fail(document, place->node, NULL, "%s is out of range; expected %s",
			text, expected);
	if (is_integer)
		write_integer((int64_t)number, key->size, out);
	else
		memcpy(out, &number, sizeof(number));
	return 0;
}

static int read_boolean(struct document *document, const struct place *place, char *out)
{
	bool truth = cJSON_IsTrue(place->node->json);

	if (!cJSON_IsBool(place->node->json))
		return fail_type(document, place, "true or false");
	memcpy(out, &truth, sizeof(truth));
	return 0;
}

static int read_object(struct document *document, const struct document_node *node,
	const struct document_shape *shape, char *out);

static int read_value(struct document *document, const struct place *place, char *out);

static int check_count(struct document *document, const struct place *place, size_t count)
{
	const struct document_key *key = place->key;
	const char *noun = key->kind == DOCUMENT_STRINGS ? "texts"
			   : key->kind == DOCUMENT_MAP	 ? "keys"
							 : "objects";

	if (!(key->min || key->max) || ((double)count >= key->min && (double)count <= key->max))
		return 0;
	if (!count)
		return document_fail(document, place->node, NULL,
			"is empty; expected %.0f to %.0f %s", key->min, key->max, noun);
	return document_fail(document, place->node, NULL, "has %zu %s; expected %.0f to %.0f",
		count, noun, key->min, key->max);
}

/* One element of an array or map to `element`. */
static int read_element(struct document *document, const struct document_key *key,
	const struct document_node *node, char *element)
{
	static const struct document_key string = {.kind = DOCUMENT_STRING};
	struct place place = {node, &string};

	if (key->kind == DOCUMENT_STRINGS) {
		struct document_key expecting = string;

		expecting.expected = key->expected;
		place.key = &expecting;
		return read_string(document, &place, element);
	}
	if (key->shape->defaults)
		memcpy(element, key->shape->defaults, key->shape->size);
	if (key->kind == DOCUMENT_MAP && key->shape->name_offset != SIZE_MAX) {
		const char *name = node->json->string;

		if (!*name)
			return document_fail(
				document, node, NULL, "a key is empty; expected a name");
		memcpy(element + key->shape->name_offset, &name, sizeof(name));
	}
	if (key->kind == DOCUMENT_MAP && key->shape->value) {
		place.key = key->shape->value;
		return read_value(document, &place, element + place.key->offset);
	}
	return read_object(document, node, key->shape, element);
}

/* `out` is the whole struct: its pointer and its count are set. */
static int read_list(struct document *document, const struct place *place, char *out)
{
	const struct document_key *key = place->key;
	bool is_map = key->kind == DOCUMENT_MAP;
	size_t element_size =
		key->kind == DOCUMENT_STRINGS ? sizeof(const char *) : key->shape->size;
	size_t count = 0;
	char *elements;
	int result;

	if (is_map ? !cJSON_IsObject(place->node->json) : !cJSON_IsArray(place->node->json))
		return fail_type(document, place, is_map ? "an object" : "an array");
	for (const struct document_node *child = place->node + 1; child < place->node->next;
		child = child->next)
		count++;
	result = check_count(document, place, count);
	if (result)
		return result;
	elements = document_allocate(document, count * element_size + 1);
	if (!elements)
		return document_fail(document, place->node, NULL, "out of memory");
	memcpy(out + key->offset, &elements, sizeof(elements));
	memcpy(out + key->count_offset, &count, sizeof(count));
	for (const struct document_node *child = place->node + 1; child < place->node->next;
		child = child->next, elements += element_size) {
		result = read_element(document, key, child, elements);
		if (result)
			return result;
	}
	return 0;
}

static int read_value(struct document *document, const struct place *place, char *out)
{
	switch (place->key->kind) {
	case DOCUMENT_STRING:
		return read_string(document, place, out);
	case DOCUMENT_WORD:
	case DOCUMENT_CHOICE:
		return read_word(document, place, out);
	case DOCUMENT_INTEGER:
	case DOCUMENT_NUMBER:
		return read_number(document, place, out);
	case DOCUMENT_BOOLEAN:
		return read_boolean(document, place, out);
	case DOCUMENT_OBJECT:
		return read_object(document, place->node, place->key->shape, out);
	case DOCUMENT_STRINGS:
	case DOCUMENT_OBJECTS:
	case DOCUMENT_MAP:
		return read_list(document, place, out - place->key->offset);
	}
	return -EINVAL;
}

static const struct document_key *find_key(const struct document_shape *shape, const char *name)
{
	for (size_t i = 0; i < shape->key_count; i++) {
		if (!strcmp(shape->keys[i].name, name))
			return &shape->keys[i];
	}
	return NULL;
}

static int check_required(struct document *document, const struct document_node *node,
	const struct document_shape *shape)
{
	for (size_t i = 0; i < shape->key_count; i++) {
		const struct document_key *key = &shape->keys[i];

		if (key->required && !document_find(node, key->name))
			return document_fail(document, node, NULL,
				"key \"%s\" is missing; expected it in %s", key->name, shape->noun);
	}
	return 0;
}

static int read_object(struct document *document, const struct document_node *node,
	const struct document_shape *shape, char *out)
{
	if (!cJSON_IsObject(node->json))
		return document_fail(document, node, NULL, "is %s; expected %s, { ... }",
			document_describe(node), shape->noun);
	if (shape->node_offset != SIZE_MAX)
		memcpy(out + shape->node_offset, &node, sizeof(node));
	for (const struct document_node *child = node + 1; child < node->next;
		child = child->next) {
		struct place place = {child, find_key(shape, child->json->string)};
		int result;

		if (!place.key)
			return fail_unknown(document, child, shape);
		result = read_value(document, &place, out + place.key->offset);
		if (result)
			return result;
	}
	return check_required(document, node, shape);
}

int document_read(struct document *document, const struct document_shape *shape, void *out)
{
	if (document->error || !document->nodes)
		return -EINVAL;
	return read_object(document, document->nodes, shape, out);
}
