/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON schemas for editors say what the readers do: same keys, kinds,
 * ranges and words.
 */
#include <check.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "harness/bootrules.h"
#include "harness/lab.h"
#include "harness/manifest.h"
#include "harness/results.h"
#include "harness/suite.h"
#include "tests/doc_words.h"

static const cJSON *root;

/* "#/$defs/board" to what it names. */
static const cJSON *follow(const cJSON *schema)
{
	const char *ref = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(schema, "$ref"));

	if (!ref)
		return schema;
	ck_assert_int_eq(strncmp(ref, "#/$defs/", 8), 0);
	schema = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(root, "$defs"), ref + 8);
	ck_assert_msg(schema != NULL, "%s", ref);
	return schema;
}

static const cJSON *get(const cJSON *schema, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(schema, name);
}

static void check_type(const cJSON *schema, const char *type, const char *path)
{
	const char *found = cJSON_GetStringValue(get(schema, "type"));

	ck_assert_msg(found && !strcmp(found, type), "%s: type %s, not %s", path,
		found ? found : "(none)", type);
}

static void check_limits(const cJSON *schema, const struct document_key *key, const char *min,
	const char *max, const char *path)
{
	const cJSON *low = get(schema, min), *high = get(schema, max);

	if (!key->min && !key->max)
		return;
	ck_assert_msg(low && low->valuedouble == key->min, "%s: %s", path, min);
	ck_assert_msg(high && high->valuedouble == key->max, "%s: %s", path, max);
}

static void check_words(const cJSON *schema, const struct document_key *key, const char *path)
{
	const cJSON *words = get(schema, "enum");
	int count = 0;

	for (; key->words[count]; count++) {
		const char *word = cJSON_GetStringValue(cJSON_GetArrayItem(words, count));

		ck_assert_msg(word && !strcmp(key->words[count], word), "%s: word %s", path,
			key->words[count]);
	}
	ck_assert_msg(cJSON_GetArraySize(words) == count, "%s: number of words", path);
}

static void check_object(const cJSON *schema, const struct document_shape *shape, const char *path);
static void check_value(const cJSON *schema, const struct document_key *key, const char *path);

static void check_map(const cJSON *schema, const struct document_key *key, const char *path)
{
	const cJSON *value = follow(get(schema, "additionalProperties"));

	check_type(schema, "object", path);
	check_limits(schema, key, "minProperties", "maxProperties", path);
	if (key->shape->value)
		check_value(value, key->shape->value, path);
	else
		check_object(value, key->shape, path);
}

static void check_value(const cJSON *schema, const struct document_key *key, const char *path)
{
	switch (key->kind) {
	case DOCUMENT_STRING:
		check_type(schema, "string", path);
		ck_assert_msg((get(schema, "minLength") != NULL) == (key->min >= 0),
			"%s: whether it may be empty", path);
		break;
	case DOCUMENT_WORD:
	case DOCUMENT_CHOICE:
		check_words(schema, key, path);
		break;
	case DOCUMENT_INTEGER:
		check_type(schema, "integer", path);
		check_limits(schema, key, "minimum", "maximum", path);
		break;
	case DOCUMENT_NUMBER:
		check_type(schema, "number", path);
		check_limits(schema, key, "minimum", "maximum", path);
		break;
	case DOCUMENT_BOOLEAN:
		check_type(schema, "boolean", path);
		break;
	case DOCUMENT_OBJECT:
		check_object(schema, key->shape, path);
		break;
	case DOCUMENT_STRINGS:
		check_type(schema, "array", path);
		check_limits(schema, key, "minItems", "maxItems", path);
		check_type(follow(get(schema, "items")), "string", path);
		break;
	case DOCUMENT_OBJECTS:
		check_type(schema, "array", path);
		check_limits(schema, key, "minItems", "maxItems", path);
		check_object(follow(get(schema, "items")), key->shape, path);
		break;
	case DOCUMENT_MAP:
		check_map(schema, key, path);
		break;
	}
}

static bool is_required(const cJSON *schema, const char *name)
{
	const cJSON *required;

	cJSON_ArrayForEach(required, get(schema, "required"))
	{
		if (!strcmp(cJSON_GetStringValue(required), name))
			return true;
	}
	return false;
}

static void check_object(const cJSON *schema, const struct document_shape *shape, const char *path)
{
	const cJSON *properties = get(schema, "properties");
	const cJSON *property;

	check_type(schema, "object", path);
	ck_assert_msg(cJSON_IsFalse(get(schema, "additionalProperties")),
		"%s: other keys are allowed", path);
	for (size_t i = 0; i < shape->key_count; i++) {
		const struct document_key *key = &shape->keys[i];
		char below[256];

		snprintf(below, sizeof(below), "%s.%s", path, key->name);
		property = get(properties, key->name);
		ck_assert_msg(property != NULL, "%s is not in the schema", below);
		ck_assert_msg(is_required(schema, key->name) == key->required,
			"%s: whether it is required", below);
		ck_assert_msg(get(follow(property), "description") != NULL, "%s has no description",
			below);
		check_value(follow(property), key, below);
	}
	cJSON_ArrayForEach(property, properties)
	{
		bool is_known = false;

		for (size_t i = 0; i < shape->key_count; i++)
			is_known |= !strcmp(shape->keys[i].name, property->string);
		ck_assert_msg(is_known, "%s.%s is not in the reader", path, property->string);
	}
}

static const struct {
	const char *file;
	const struct document_shape *shape;
} files[] = {
	{"harness/schema/lab.json", &lab_shape},
	{"harness/schema/suite.json", &suite_shape},
	{"harness/schema/manifest.json", &manifest_shape},
	{"harness/schema/rules.json", &bootrules_shape},
	{"harness/schema/results.json", &results_shape},
};

START_TEST(schemas_and_readers_have_the_same_keys)
{
	FILE *file = fopen(files[_i].file, "r");
	static char text[65536];
	cJSON *schema;
	size_t size;

	ck_assert_msg(file != NULL, "%s: run from the root of the tree", files[_i].file);
	size = fread(text, 1, sizeof(text) - 1, file);
	ck_assert_uint_lt(size, sizeof(text) - 1);
	fclose(file);
	text[size] = '\0';
	root = schema = cJSON_Parse(text);
	ck_assert_ptr_nonnull(schema);
	ck_assert_str_eq(cJSON_GetStringValue(get(root, "$schema")),
		"https://json-schema.org/draft/2020-12/schema");
	check_object(root, files[_i].shape, files[_i].file);
	cJSON_Delete(schema);
}
END_TEST

/* The words of a driver key against the table that drivers are found in. */
static const cJSON *find_words(const cJSON *schema, const char *object, const char *key)
{
	const cJSON *board = get(get(schema, "$defs"), "board");

	return get(get(get(get(get(board, "properties"), object), "properties"), key), "enum");
}

#define CHECK_DRIVERS(words, drivers)                                                              \
	do {                                                                                       \
		int count = 0;                                                                     \
                                                                                                   \
		for (; (drivers)[count]; count++)                                                  \
			ck_assert_str_eq((drivers)[count]->name,                                   \
				cJSON_GetStringValue(cJSON_GetArrayItem(words, count)));           \
		ck_assert_int_eq(cJSON_GetArraySize(words), count);                                \
	} while (0)

START_TEST(a_lab_file_may_name_every_driver)
{
	char *text = doc_read_file("harness/schema/lab.json");
	cJSON *schema = cJSON_Parse(text);

	const struct link_driver *links[16] = {NULL};

	/* A child is no wire of a lab: only the board "local" has one. */
	for (size_t i = 0, kept = 0; drivers_link[i]; i++) {
		if (strcmp(drivers_link[i]->name, "child") != 0 && kept + 1 < 16)
			links[kept++] = drivers_link[i];
	}
	CHECK_DRIVERS(find_words(schema, "console", "driver"), links);
	CHECK_DRIVERS(find_words(schema, "power", "driver"), drivers_power);
	CHECK_DRIVERS(find_words(schema, "sdmux", "driver"), drivers_sdmux);
	cJSON_Delete(schema);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("schema");
	TCase *tcase = tcase_create("schema");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(
		tcase, schemas_and_readers_have_the_same_keys, 0, sizeof(files) / sizeof(files[0]));
	tcase_add_test(tcase, a_lab_file_may_name_every_driver);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
