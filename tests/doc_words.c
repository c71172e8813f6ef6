/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/doc_words.h"

#include <check.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool words_have(const struct words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->word[i], word) == 0)
			return true;
	return false;
}

void words_add(struct words *words, const char *word, size_t length)
{
	char *copy = strndup(word, length);

	ck_assert_ptr_nonnull(copy);
	if (words_have(words, copy)) {
		free(copy);
		return;
	}
	ck_assert_uint_lt(words->count, WORDS_MAX);
	words->word[words->count++] = copy;
}

void words_free(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	*words = (struct words){0};
}

/* ------------------------------------------------------------------- input */

char *doc_read_stream(FILE *stream)
{
	char *text = NULL;
	size_t size = 0;

	if (getdelim(&text, &size, '\0', stream) < 0) {
		free(text);
		text = strdup("");
	}
	ck_assert_ptr_nonnull(text);
	return text;
}

char *doc_read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text;

	ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
	text = doc_read_stream(file);
	fclose(file);
	return text;
}

char *doc_ask(const char *program, const char *arguments)
{
	const char *build = getenv("BUILD");
	char command[256];
	FILE *pipe;
	char *text;

	snprintf(command, sizeof(command), "%s/%s %s", build ? build : "build", program, arguments);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	text = doc_read_stream(pipe);
	ck_assert_msg(pclose(pipe) == 0, "%s failed", command);
	ck_assert_msg(*text, "%s says nothing", command);
	return text;
}

void words_add_options(struct words *options, const char *text, size_t size)
{
	for (size_t i = 0; i + 2 < size; i++) {
		size_t length = 2;

		if (strncmp(text + i, "--", 2) != 0 || !islower((unsigned char)text[i + 2]) ||
			(i > 0 && (isalnum((unsigned char)text[i - 1]) || text[i - 1] == '-')))
			continue;
		while (i + length < size &&
			(islower((unsigned char)text[i + length]) || text[i + length] == '-'))
			length++;
		words_add(options, text + i, length);
		i += length;
	}
}

void words_find_options(struct words *options, const char *program, const char *arguments)
{
	char *help = doc_ask(program, arguments);

	for (char *line = strtok(help, "\n"); line; line = strtok(NULL, "\n"))
		if (strncmp(line, "  --", 4) == 0)
			words_add_options(options, line, strcspn(line + 2, " ") + 2);
	free(help);
	ck_assert_msg(options->count, "%s %s: no options", program, arguments);
}

void words_find_listed(struct words *words, const char *program, const char *heading)
{
	char *help = doc_ask(program, "--help");
	char *line = strstr(help, heading);

	ck_assert_msg(line, "%s --help: no \"%s\"", program, heading);
	for (line += strlen(heading); strncmp(line, "  ", 2) == 0;) {
		words_add(words, line + 2, strcspn(line + 2, " =[\n"));
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	free(help);
	ck_assert_msg(words->count, "%s: nothing under \"%s\"", program, heading);
}
