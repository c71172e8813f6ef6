/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs say of themselves, the man pages and the README agree; the
 * links between documents lead somewhere.  Run in the root of the tree.
 */
#include <check.h>
#include <cjson/cJSON.h>
#include <ctype.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/doc_words.h"

static void find_commands(struct words *commands)
{
	words_find_listed(commands, "sameboard", "Commands:\n");
}

/* --------------------------------------------------------------- man pages */

/* The options that a line of mdoc names: "Fl -lab". */
static void add_flags(struct words *flags, const char *line)
{
	const char *word = line;

	while ((word = strstr(word, "Fl -")) != NULL) {
		char option[64];

		word += 4;
		snprintf(option, sizeof(option), "--%.*s",
			(int)strspn(word, "abcdefghijklmnopqrstuvwxyz-"), word);
		words_add(flags, option, strlen(option));
		/* "Fl -help | -version" */
		while ((word = strpbrk(word, " \n")) != NULL && strncmp(word, " | -", 4) == 0) {
			word += 4;
			snprintf(option, sizeof(option), "--%.*s",
				(int)strspn(word, "abcdefghijklmnopqrstuvwxyz-"), word);
			words_add(flags, option, strlen(option));
		}
		if (!word)
			break;
	}
}

struct page {
	struct words flags;	 /* named anywhere */
	struct words explained;	 /* ".It Fl" */
	struct words commands;	 /* ".It Cm" */
	struct words of_command; /* below ".It Cm COMMAND" */
};

static void read_page(struct page *page, const char *name, const char *command)
{
	char path[64], item[64] = "";
	bool is_inside = false;
	char *text;

	snprintf(path, sizeof(path), "harness/man/%s.1", name);
	if (command)
		snprintf(item, sizeof(item), ".It Cm %s", command);
	text = doc_read_file(path);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strncmp(line, ".Sh ", 4) == 0)
			is_inside = false;
		if (strncmp(line, ".It Cm ", 7) == 0) {
			words_add(&page->commands, line + 7, strcspn(line + 7, " ="));
			is_inside = command && strncmp(line, item, strlen(item)) == 0 &&
				    (line[strlen(item)] == ' ' || line[strlen(item)] == '\0');
		}
		add_flags(&page->flags, line);
		if (strncmp(line, ".It Fl ", 7) == 0)
			add_flags(&page->explained, line);
		if (is_inside)
			add_flags(&page->of_command, line);
	}
	free(text);
}

static void free_page(struct page *page)
{
	words_free(&page->flags);
	words_free(&page->explained);
	words_free(&page->commands);
	words_free(&page->of_command);
}

static void assert_within(
	const struct words *part, const struct words *whole, const char *who, const char *what)
{
	for (size_t i = 0; i < part->count; i++)
		ck_assert_msg(
			words_have(whole, part->word[i]), "%s: %s: %s", who, part->word[i], what);
}

static void check_program(const char *program)
{
	char *readme = doc_read_file("README.md");
	struct words options = {0};
	struct page page = {0};

	words_find_options(&options, program, "--help");
	if (strcmp(program, "sameboard") == 0) {
		struct words commands = {0};
		char arguments[64];

		find_commands(&commands);
		for (size_t i = 0; i < commands.count; i++) {
			snprintf(arguments, sizeof(arguments), "%s --help", commands.word[i]);
			words_find_options(&options, program, arguments);
		}
		words_free(&commands);
	}
	read_page(&page, program, NULL);
	assert_within(&options, &page.explained, program, "not explained in the man page");
	assert_within(&page.flags, &options, program, "in the man page, and there is none");
	for (size_t i = 0; i < options.count; i++)
		ck_assert_msg(strstr(readme, options.word[i]), "README.md: no %s of %s",
			options.word[i], program);
	free_page(&page);
	words_free(&options);
	free(readme);
}

START_TEST(options_stand_in_man_pages_and_readme)
{
	check_program("sameboard");
	check_program("sameboardd");
	check_program("vboard");
	check_program("sameboard-agent");
}
END_TEST

START_TEST(commands_stand_in_man_page_and_readme)
{
	char *readme = doc_read_file("README.md");
	struct words commands = {0};
	struct page page = {0};

	find_commands(&commands);
	read_page(&page, "sameboard", NULL);
	assert_within(&commands, &page.commands, "sameboard.1", "not explained");
	assert_within(&page.commands, &commands, "sameboard.1", "no such command");
	for (size_t i = 0; i < commands.count; i++) {
		char text[64];

		snprintf(text, sizeof(text), "sameboard %s", commands.word[i]);
		ck_assert_msg(strstr(readme, text), "README.md: no \"%s\"", text);
	}
	free_page(&page);
	words_free(&commands);
	free(readme);
}
END_TEST

START_TEST(each_command_takes_the_options_that_its_man_page_lists)
{
	struct words commands = {0};

	find_commands(&commands);
	for (size_t i = 0; i < commands.count; i++) {
		struct words options = {0};
		struct page page = {0};
		char arguments[64];

		snprintf(arguments, sizeof(arguments), "%s --help", commands.word[i]);
		words_find_options(&options, "sameboard", arguments);
		read_page(&page, "sameboard", commands.word[i]);
		words_add(&page.of_command, "--help", 6);
		assert_within(&options, &page.of_command, commands.word[i], "not in its man page");
		assert_within(&page.of_command, &options, commands.word[i], "it takes none");
		free_page(&page);
		words_free(&options);
	}
	words_free(&commands);
}
END_TEST

START_TEST(faults_stand_in_man_page_and_readme)
{
	char *readme = doc_read_file("README.md");
	struct words faults = {0};
	struct page page = {0};

	words_find_listed(&faults, "vboard", "faults:\n");
	read_page(&page, "vboard", NULL);
	for (size_t i = 0; i < page.commands.count; i++) /* "no-card Ns Op Cm =host" */
		page.commands.word[i][strcspn(page.commands.word[i], " =")] = '\0';
	assert_within(&faults, &page.commands, "vboard.1", "not explained");
	assert_within(&page.commands, &faults, "vboard.1", "no such fault");
	for (size_t i = 0; i < faults.count; i++) {
		char text[64];

		snprintf(text, sizeof(text), "`%s", faults.word[i]);
		ck_assert_msg(strstr(readme, text), "README.md: no fault %s", faults.word[i]);
	}
	free_page(&page);
	words_free(&faults);
	free(readme);
}
END_TEST

START_TEST(mux_modes_stand_in_help_man_page_and_readme)
{
	static const char *const modes[] = {"get", "dut", "host", "off", "info"};
	char *help = doc_ask("vboard-sdmux", "--help");
	struct page page = {0};

	read_page(&page, "vboard-sdmux", NULL);
	ck_assert_ptr_nonnull(strstr(help, "get|dut|host|off|info\n"));
	ck_assert_uint_eq(page.commands.count, sizeof(modes) / sizeof(modes[0]));
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		ck_assert_msg(words_have(&page.commands, modes[i]), "%s", modes[i]);
	free_page(&page);
	free(help);
}
END_TEST

START_TEST(documents_name_no_option_that_does_not_exist)
{
	static const char *const programs[] = {
		"sameboard", "sameboardd", "vboard", "sameboard-agent"};
	static const char *const documents[] = {"README.md", "CONTRIBUTING.md"};
	struct words options = {0}, commands = {0};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		words_find_options(&options, programs[i], "--help");
	words_add(&options, "--list", 6); /* of ci/setup */
	find_commands(&commands);
	for (size_t i = 0; i < commands.count; i++) {
		char arguments[64];

		snprintf(arguments, sizeof(arguments), "%s --help", commands.word[i]);
		words_find_options(&options, "sameboard", arguments);
	}
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		char *text = doc_read_file(documents[i]);
		struct words named = {0};

		words_add_options(&named, text, strlen(text));
		assert_within(&named, &options, documents[i], "no program has it");
		words_free(&named);
		free(text);
	}
	words_free(&commands);
	words_free(&options);
}
END_TEST

/* ------------------------------------------------------------------ README */

/* The part of the README below "## heading", up to the next one. */
static char *read_section(const char *heading)
{
	char *readme = doc_read_file("README.md"), line[64];
	char *start, *end;

	snprintf(line, sizeof(line), "\n## %s\n", heading);
	start = strstr(readme, line);
	ck_assert_msg(start != NULL, "README.md: no \"## %s\"", heading);
	start += strlen(line);
	end = strstr(start, "\n## ");
	start = strndup(start, end ? (size_t)(end - start) : strlen(start));
	ck_assert_ptr_nonnull(start);
	free(readme);
	return start;
}

static void check_named(const char *section, const char *word, const char *where)
{
	char quoted[96];

	snprintf(quoted, sizeof(quoted), "`%s`", word);
	ck_assert_msg(strstr(section, quoted), "README.md, %s: no %s", where, quoted);
}

START_TEST(every_gate_stands_in_the_readme)
{
	char *text = doc_ask("sameboard", "gates --json"), *section = read_section("Gates");
	cJSON *gates = cJSON_Parse(text);
	const cJSON *gate;

	ck_assert_int_gt(cJSON_GetArraySize(gates), 0);
	cJSON_ArrayForEach(gate, gates)
		check_named(section, cJSON_GetObjectItem(gate, "id")->valuestring, "Gates");
	cJSON_Delete(gates);
	free(section);
	free(text);
}
END_TEST

/* All names below any "properties". */
static unsigned check_keys(const cJSON *schema, const char *section, const char *where)
{
	unsigned count = 0;
	const cJSON *item;

	cJSON_ArrayForEach(item, schema)
	{
		const cJSON *key;

		if (item->string && strcmp(item->string, "properties") == 0)
			cJSON_ArrayForEach(key, item)
			{
				check_named(section, key->string, where);
				count++;
			}
		count += check_keys(item, section, where);
	}
	return count;
}

START_TEST(every_key_of_lab_suite_and_manifest_stands_in_the_readme)
{
	static const struct {
		const char *schema, *heading;
	} files[] = {
		{"harness/schema/lab.json", "Lab file"},
		{"harness/schema/suite.json", "Suites"},
		{"harness/schema/manifest.json", "Image manifests"},
		{"harness/schema/rules.json", "Boot watcher"},
		{"harness/schema/results.json", "Results of others"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *text = doc_read_file(files[i].schema);
		char *section = read_section(files[i].heading);
		cJSON *schema = cJSON_Parse(text);

		ck_assert_uint_gt(check_keys(schema, section, files[i].heading), 10);
		cJSON_Delete(schema);
		free(section);
		free(text);
	}
}
END_TEST

START_TEST(every_suite_stands_in_the_readme)
{
	char *section = read_section("Suites");
	glob_t found;

	ck_assert_int_eq(glob("harness/suites/*.json", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *name = strrchr(found.gl_pathv[i], '/') + 1;

		name[strlen(name) - 5] = '\0';
		check_named(section, name, "Suites");
	}
	globfree(&found);
	free(section);
}
END_TEST

/* ------------------------------------------------------------------- links */

/* Whether a file has the heading of "#an-anchor", as renderers spell it. */
static bool has_anchor(const char *path, const char *anchor)
{
	char *text = doc_read_file(path);
	bool is_found = false;

	for (char *line = strtok(text, "\n"); line && !is_found; line = strtok(NULL, "\n")) {
		char slug[128];
		size_t used = 0;

		if (line[0] != '#')
			continue;
		for (line += strspn(line, "# "); *line && used + 1 < sizeof(slug); line++) {
			if (isalnum((unsigned char)*line) || *line == '-' || *line == '_')
				slug[used++] = (char)tolower((unsigned char)*line);
			else if (*line == ' ')
				slug[used++] = '-';
		}
		slug[used] = '\0';
		is_found = strcmp(slug, anchor) == 0;
	}
	free(text);
	return is_found;
}

static void check_link(const char *document, const char *target, size_t length)
{
	char link[256], path[512];
	char *anchor;
	const char *slash = strrchr(document, '/');

	snprintf(link, sizeof(link), "%.*s", (int)length, target);
	if (strstr(link, "://"))
		return;
	anchor = strchr(link, '#');
	if (anchor)
		*anchor++ = '\0';
	if (*link)
		snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - document) + 1 : 0,
			document, link);
	else
		snprintf(path, sizeof(path), "%s", document);
	ck_assert_msg(access(path, F_OK) == 0, "%s: link to %s", document, link);
	if (anchor)
		ck_assert_msg(
			has_anchor(path, anchor), "%s: link to %s#%s", document, link, anchor);
}

START_TEST(relative_links_lead_somewhere)
{
	unsigned links = 0;
	glob_t found;

	ck_assert_int_eq(glob("*.md", 0, NULL, &found), 0);
	ck_assert_int_eq(glob("*/*.md", GLOB_APPEND, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *text = doc_read_file(found.gl_pathv[i]);

		for (char *at = text; (at = strstr(at, "](")) != NULL; links++) {
			at += 2;
			check_link(found.gl_pathv[i], at, strcspn(at, ")\n"));
		}
		free(text);
	}
	ck_assert_uint_gt(links, 5);
	globfree(&found);
}
END_TEST

/* -------------------------------------------------------------- completion */

START_TEST(completion_offers_every_command)
{
	struct words commands = {0};
	const char *build = getenv("BUILD");
	char script[512], *offered;
	FILE *pipe;

	snprintf(script, sizeof(script),
		"exec bash -c '. harness/completion/sameboard.bash && "
		"COMP_WORDS=(\"$1/sameboard\" \"\") COMP_CWORD=1 && _sameboard && "
		"printf \"%%s\\n\" \"${COMPREPLY[@]}\"' - '%s'",
		build ? build : "build");
	pipe = popen(script, "r");
	ck_assert_ptr_nonnull(pipe);
	offered = doc_read_stream(pipe);
	ck_assert_int_eq(pclose(pipe), 0);
	find_commands(&commands);
	for (size_t i = 0; i < commands.count; i++)
		ck_assert_msg(strstr(offered, commands.word[i]), "%s is not offered: %s",
			commands.word[i], offered);
	words_free(&commands);
	free(offered);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("docs");
	TCase *tcase = tcase_create("docs");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, options_stand_in_man_pages_and_readme);
	tcase_add_test(tcase, commands_stand_in_man_page_and_readme);
	tcase_add_test(tcase, each_command_takes_the_options_that_its_man_page_lists);
	tcase_add_test(tcase, faults_stand_in_man_page_and_readme);
	tcase_add_test(tcase, mux_modes_stand_in_help_man_page_and_readme);
	tcase_add_test(tcase, documents_name_no_option_that_does_not_exist);
	tcase_add_test(tcase, every_gate_stands_in_the_readme);
	tcase_add_test(tcase, every_key_of_lab_suite_and_manifest_stands_in_the_readme);
	tcase_add_test(tcase, every_suite_stands_in_the_readme);
	tcase_add_test(tcase, relative_links_lead_somewhere);
	tcase_add_test(tcase, completion_offers_every_command);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
