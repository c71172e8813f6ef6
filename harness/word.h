/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and where files of that name are.  Errors: 0 or a negative errno with
 * the text in the caller's buffer.  No hidden state; safe from any thread.
 */
#ifndef SAMEBOARD_HARNESS_WORD_H
#define SAMEBOARD_HARNESS_WORD_H

#include <stdbool.h>
#include <stddef.h>

/* What word_is_name() asks for, to end an "expected ...". */
#define WORD_NAME_RULE "1 to 63 letters, digits, '.', '_' or '-', a letter or digit first"

bool word_is_name(const char *text);

/* `digits` hexadecimal digits and nothing else. */
bool word_is_hex(const char *text, size_t digits);

/* `text` among `words` (ends with NULL), or NULL. */
const char *word_find(const char *const *words, const char *text);

/* "a", "b" or "c"; cut to size. */
void word_join(const char *const *words, char *text, size_t size);

/*
 * Base names without ".json" of the files DIR/NAME.json in order, ending with
 * NULL; free each and the list.  NULL if the folder cannot be read.
 */
char **word_list_files(const char *dir);
void word_free_list(char **list);

/*
 * The file of a suite named as in suite_open(); *path is the caller's.
 * -ENOENT names the suites there are and where they were looked for.
 */
int word_find_suite(const char *name, char **path, char *error, size_t error_size);

#endif
