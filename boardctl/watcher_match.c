/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in lines. */
#include <ctype.h>
#include <string.h>

#include "boardctl/watcher_private.h"

#define PROMPT_MAX   80u /* longer ones are none */
#define PREFIXES_MAX 3
#define STAMP_CHARS  "0123456789:.,-/+TZ"

#define PAIRS 6 /* of a text are looked up */

/* The line may have the text. */
static bool may_have(const struct watcher *w, const char *text)
{
	for (unsigned i = 0; i < PAIRS && text[0] && text[1]; i++, text++)
		if (!watcher_pair_is_in(w->pairs, (unsigned char)text[0], (unsigned char)text[1]))
			return false;
	return true;
}

/* Linux' "[    1.234567] ", perhaps with a caller: its end, or NULL. */
static const char *find_printk(const char *text)
{
	for (text = strchr(text, '['); text; text = strchr(text + 1, '[')) {
		const char *at = text + 1 + strspn(text + 1, " ");
		size_t digits = strspn(at, "0123456789");

		if (!digits || at[digits] != '.')
			continue;
		at += digits + 1;
		digits = strspn(at, "0123456789");
		if (digits == 6 && at[6] == ']')
			return at + 7;
	}
	return NULL;
}

bool watcher_has_printk(const char *text)
{
	return find_printk(text) != NULL;
}

/* While only stamps told that it is Linux, they may be a capturing program's. */
static bool is_due(const struct watcher_rule *rule, const struct watcher *w, const char *text)
{
	bool is_stage = !rule->is_printk &&
			(rule->kind == WATCHER_RULE_STATE || rule->kind == WATCHER_RULE_PROGRESS);

	if (!rule->states || rule->states & WATCHER_BIT(w->state))
		return true;
	return w->is_guess && is_stage && rule->states & WATCHER_BIT(WATCHER_STATE_NONE) &&
	       find_printk(text);
}

bool watcher_rule_fits(const struct watcher_rule *rule, const struct watcher *w, const char *text)
{
	const char *at = text;

	if (!may_have(w, rule->texts[0]) || !is_due(rule, w, text))
		return false;
	if (rule->is_printk) {
		at = find_printk(text);
		if (!at || !at[strspn(at, " ")])
			return false;
	}
	for (size_t i = 0; i < WATCHER_TEXTS_MAX && rule->texts[i]; i++) {
		at = strstr(at, rule->texts[i]);
		if (!at)
			return false;
		at += strlen(rule->texts[i]);
	}
	if ((size_t)(at - text) <= w->overlap)
		return false;
	return !rule->without || !strstr(text, rule->without);
}

bool watcher_finds(const struct watcher *w, const char *line, const char *text)
{
	const char *at = line;
	size_t size = strlen(text);

	if (!size || !may_have(w, text))
		return false;
	while ((at = strstr(at, text)) && (size_t)(at - line) + size <= w->overlap)
		at++;
	return at != NULL;
}

/* "12.345678 ": seconds as `ts -s` writes them, its size without the blank, or 0. */
static size_t measure_seconds(const char *text)
{
	size_t whole = strspn(text, "0123456789"), decimals;

	if (!whole || text[whole] != '.')
		return 0;
	decimals = strspn(text + whole + 1, "0123456789");
	return decimals >= 3 && decimals <= 9 && text[whole + 1 + decimals] == ' '
		       ? whole + 1 + decimals
		       : 0;
}

/* "[2024-01-01 12:00:00.123]", "[   12.345678]", "12:00:00.123>": its size, or 0. */
static size_t measure_stamp(const char *text)
{
	size_t size;

	if (*text == '[') {
		size = 1 + strspn(text + 1, STAMP_CHARS " ");
		if (text[size] != ']' || !strpbrk(text, ":."))
			return 0;
		return size < 6 ? 0 : size + 1;
	}
	size = measure_seconds(text);
	if (size)
		return size;
	size = strspn(text, STAMP_CHARS);
	if (size < 5 || !isdigit((unsigned char)*text) || !strchr(" >|", text[size]) || !text[size])
		return 0;
	if (!memchr(text, ':', size) && !memchr(text, '-', size))
		return 0;
	return text[size] == ' ' ? size : size + 1;
}

const char *watcher_skip_prefix(const char *text)
{
	for (int i = 0; i < PREFIXES_MAX; i++) {
		size_t size;

		text += strspn(text, " \t?");
		size = measure_stamp(text);
		if (!size)
			break;
		text += size;
	}
	return text + strspn(text, " \t?");
}

static bool fits(const char *pattern, const char *text)
{
	while (*pattern && *pattern != '*') {
		if (*pattern++ != *text++)
			return false;
	}
	if (!*pattern)
		return !*text;
	for (size_t i = 0; text[i] && !strchr(" \t#", text[i]); i++)
		if (fits(pattern + 1, text + i + 1))
			return true;
	return false;
}

bool watcher_ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	return end_size && size >= end_size && !memcmp(text + size - end_size, end, end_size);
}

bool watcher_prompt_fits(const struct watcher_prompt *prompt, const char *text)
{
	size_t size = strlen(text), end = strlen(prompt->text);

	/* Most end here. */
	if (!size || !end || text[size - 1] != prompt->text[end - 1])
		return false;
	if (prompt->is_anywhere)
		return watcher_ends_with(text, prompt->text);
	return size <= PROMPT_MAX && fits(prompt->text, text);
}
