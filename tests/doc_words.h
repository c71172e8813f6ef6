/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words found in documents and in what programs say of themselves.  Whatever
 * cannot be done fails the test.
 */
#ifndef TESTS_DOC_WORDS_H
#define TESTS_DOC_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define WORDS_MAX 128

/* A set; zeroed it is empty. */
struct words {
	char *word[WORDS_MAX];
	size_t count;
};

bool words_have(const struct words *words, const char *word);
void words_add(struct words *words, const char *word, size_t length);
void words_free(struct words *words);

/* Every long option in a text, as "--lab". */
void words_add_options(struct words *options, const char *text, size_t size);

/* The options that "BUILD/PROGRAM ARGUMENTS" explains, one at least. */
void words_find_options(struct words *options, const char *program, const char *arguments);

/* First words of the indented lines below a heading of the program's help, one at least. */
void words_find_listed(struct words *words, const char *program, const char *heading);

/* The whole text; the caller frees it. */
char *doc_read_stream(FILE *stream);
char *doc_read_file(const char *path);

/* What "BUILD/PROGRAM ARGUMENTS" prints, something at least; it must pass. */
char *doc_ask(const char *program, const char *arguments);

#endif
