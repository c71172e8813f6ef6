/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/word.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/document.h"
#include "harness/paths.h"

#define NAME_MAX_LENGTH 63

bool word_is_name(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789._-");

	return isalnum((unsigned char)text[0]) && length <= NAME_MAX_LENGTH && !text[length];
}

bool word_is_hex(const char *text, size_t digits)
{
	return strlen(text) == digits && strspn(text, "0123456789abcdefABCDEF") == digits;
}

const char *word_find(const char *const *words, const char *text)
{
	for (; *words; words++) {
		if (!strcmp(*words, text))
			return *words;
	}
	return NULL;
}

void word_join(const char *const *words, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; words[i] && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s\"%s\"",
			!i	       ? ""
			: words[i + 1] ? ", "
				       : " or ",
			words[i]);
}

static int is_json(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       !strcmp(entry->d_name + length - 5, ".json");
}

char **word_list_files(const char *dir)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, is_json, alphasort);
	char **list;

	if (count < 0)
		return NULL;
	list = calloc((size_t)count + 1, sizeof(*list));
	for (int i = 0; i < count; i++) {
		if (list)
			list[i] = strndup(entries[i]->d_name, strlen(entries[i]->d_name) - 5);
		free(entries[i]);
	}
	free(entries);
	return list;
}

void word_free_list(char **list)
{
	for (char **name = list; name && *name; name++)
		free(*name);
	free(list);
}

/* "demo", "smoke" of one folder, behind what is in `text` already. */
static size_t append_names(
	const char *dir, const char *name, char *text, size_t size, size_t at, char **nearest)
{
	char **list = word_list_files(dir);
	const char *near_name = list ? document_nearest(name, (const char *const *)list) : NULL;

	if (near_name && !*nearest)
		*nearest = strdup(near_name);
	for (size_t i = 0; list && list[i] && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s\"%s\"", at ? ", " : "", list[i]);
	word_free_list(list);
	return at;
}

int word_find_suite(const char *name, char **path, char *error, size_t error_size)
{
	char tree[PATH_MAX] = "", installed[PATH_MAX] = "";
	const char *dirs[] = {getenv("SAMEBOARD_SUITES"), tree, installed};
	size_t length = strlen(name), at = 0;
	char names[300] = "";
	char *nearest = NULL;

	*path = NULL;
	if (strchr(name, '/') || (length > 5 && !strcmp(name + length - 5, ".json"))) {
		*path = strdup(name);
		return *path ? 0 : -ENOMEM;
	}
	paths_beside_program("../harness/suites", tree, sizeof(tree));
	paths_beside_program("../share/sameboard/suites", installed, sizeof(installed));
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (!dirs[i] || !*dirs[i])
			continue;
		if (asprintf(path, "%s/%s.json", dirs[i], name) < 0) {
			*path = NULL;
			return -ENOMEM;
		}
		if (!access(*path, F_OK))
			return 0;
		free(*path);
		*path = NULL;
		at = append_names(dirs[i], name, names, sizeof(names), at, &nearest);
	}
	if (nearest)
		snprintf(error, error_size, "there is no suite \"%s\"; did you mean \"%s\"?", name,
			nearest);
	else
		snprintf(error, error_size,
			"there is no suite \"%s\"; expected %s, or the path of a file NAME.json "
			"(folders: $SAMEBOARD_SUITES, %s, %s)",
			name, at ? names : "one of none that were found", tree, installed);
	free(nearest);
	return -ENOENT;
}
