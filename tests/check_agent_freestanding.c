/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocol/ and agents/core/ must run where there is nothing: their objects
 * may ask for the four functions every freestanding compiler needs and for
 * each other, and may hold no data that changes.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MAX   4096
#define NAME_MAX_SIZE 96

struct symbols {
	char names[SYMBOLS_MAX][NAME_MAX_SIZE];
	size_t count;
};

static struct symbols defined;
static struct symbols undefined;

static bool contains(const struct symbols *symbols, const char *name)
{
	for (size_t i = 0; i < symbols->count; i++) {
		if (strcmp(symbols->names[i], name) == 0)
			return true;
	}
	return false;
}

static void add(struct symbols *symbols, const char *name)
{
	if (contains(symbols, name))
		return;
	ck_assert_uint_lt(symbols->count, SYMBOLS_MAX);
	snprintf(symbols->names[symbols->count++], NAME_MAX_SIZE, "%s", name);
}

static FILE *list_symbols(const char *format, const char *directory)
{
	const char *build = getenv("BUILD");
	char command[512];
	FILE *nm;

	if (!build)
		build = "build";
	snprintf(command, sizeof(command), "nm %s %s/obj/%s/*.o", format, build, directory);
	nm = popen(command, "r");
	ck_assert_ptr_nonnull(nm);
	return nm;
}

/* Lines of the POSIX format: name, type, value, size. */
static void read_symbols(const char *directory)
{
	FILE *nm = list_symbols("-P", directory);
	char line[512];

	while (fgets(line, sizeof(line), nm)) {
		char name[NAME_MAX_SIZE];
		char type;

		if (sscanf(line, "%95s %c", name, &type) != 2)
			continue;
		if (type == 'U')
			add(&undefined, name);
		else if (type != ':')
			add(&defined, name);
	}
	ck_assert_int_eq(pclose(nm), 0);
}

static bool is_of_the_sanitizers(const char *name)
{
	return strncmp(name, "__asan_", 7) == 0 || strncmp(name, "__ubsan_", 8) == 0 ||
	       strcmp(name, "_GLOBAL_OFFSET_TABLE_") == 0;
}

START_TEST(only_four_functions_are_asked_for)
{
	static const char *const allowed[] = {"memcpy", "memmove", "memset", "memcmp"};

	read_symbols("protocol");
	read_symbols("agents/core");
	ck_assert(contains(&defined, "agent_run"));
	ck_assert(contains(&defined, "frame_encode"));
	for (size_t i = 0; i < undefined.count; i++) {
		const char *name = undefined.names[i];
		bool is_allowed = contains(&defined, name) || is_of_the_sanitizers(name);

		for (size_t j = 0; j < sizeof(allowed) / sizeof(allowed[0]); j++)
			is_allowed |= strcmp(name, allowed[j]) == 0;
		ck_assert_msg(is_allowed, "%s is asked for", name);
	}
}
END_TEST

/* Lines of the System V format end with the section. */
static void expect_no_state(const char *directory)
{
	FILE *nm = list_symbols("-f sysv", directory);
	char line[512];
	size_t lines = 0;

	while (fgets(line, sizeof(line), nm)) {
		const char *section = strrchr(line, '|');

		lines++;
		if (!section || strstr(line, "asan") || strstr(line, "ubsan"))
			continue;
		ck_assert_msg(strncmp(section, "|.bss", 5) != 0 &&
				      strncmp(section, "|*COM*", 6) != 0 &&
				      (strncmp(section, "|.data", 6) != 0 ||
					      strncmp(section, "|.data.rel.ro", 13) == 0),
			"state: %s", line);
	}
	ck_assert_int_eq(pclose(nm), 0);
	ck_assert_uint_gt(lines, 0);
}

START_TEST(nothing_is_kept_in_static_storage)
{
	expect_no_state("protocol");
	expect_no_state("agents/core");
	expect_no_state("agents/core/posix");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_freestanding");
	TCase *tcase = tcase_create("freestanding");
	SRunner *runner = srunner_create(suite);
	int failed;

	/* A program is started for each folder, on a machine that may be busy. */
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, only_four_functions_are_asked_for);
	tcase_add_test(tcase, nothing_is_kept_in_static_storage);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
