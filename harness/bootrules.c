/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bootrules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bootrules_file.h"

/* harness/rules/boot.json, as the Makefile writes it down. */
static const char built_in[] =
#include "harness/bootrules_default.inc"
	;

#define SOURCES 2 /* the own file, the built-in one */

struct source {
	struct document *document;
	struct bootrules_file file;
};

struct bootrules {
	struct source sources[SOURCES];
	struct watcher_rules rules;
	bool is_complete;
	char error[768];
};

/* ---------------------------------------------------------------- states */

static enum watcher_state find_state(const char *name)
{
	enum watcher_state state = WATCHER_STATE_NONE;

	while (state < WATCHER_STATES && strcmp(watcher_state_name(state), name) != 0)
		state++;
	return state;
}

static enum watcher_cause find_cause(const char *name)
{
	enum watcher_cause cause = WATCHER_CAUSE_NONE;

	while (cause < WATCHER_CAUSES && strcmp(watcher_cause_name(cause), name) != 0)
		cause++;
	return cause;
}

#define UP_TO(state) (WATCHER_BIT((state) + 1) - 1)

/* In an excerpt the state may not be known yet: "none" is in each of these. */
static uint32_t find_group(const char *name)
{
	uint32_t firmware = UP_TO(WATCHER_STATE_OPENSBI);
	uint32_t loader = UP_TO(WATCHER_STATE_HANDOFF) & ~WATCHER_BIT(WATCHER_STATE_SPL) &
			  ~WATCHER_BIT(WATCHER_STATE_OPENSBI);
	uint32_t system = (UP_TO(WATCHER_STATES - 1) & ~UP_TO(WATCHER_STATE_UBOOT_PROMPT)) |
			  WATCHER_BIT(WATCHER_STATE_NONE);

	return !strcmp(name, "firmware") ? firmware
	       : !strcmp(name, "loader") ? loader
	       : !strcmp(name, "system") ? system
					 : 0;
}

static int read_from(struct document *document, const struct document_node *node,
	const char *const *words, size_t count, uint32_t *states)
{
	*states = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t group = find_group(words[i]);
		enum watcher_state state = find_state(words[i]);

		if (!group && state == WATCHER_STATES)
			return document_fail(document, node, "from",
				"\"%s\" is unknown; expected a state, \"none\", \"firmware\", "
				"\"loader\" or \"system\"",
				words[i]);
		*states |= group ? group : WATCHER_BIT(state);
	}
	return 0;
}

static int check_size(struct document *document, const struct document_node *node, const char *key,
	const char *text)
{
	size_t size = text ? strlen(text) : 0;

	if (size <= WATCHER_TEXT_MAX)
		return 0;
	return document_fail(document, node, key, "is %zu bytes long; expected at most %d", size,
		WATCHER_TEXT_MAX);
}

/* ---------------------------------------------------------------- rules */

static const struct {
	enum watcher_rule_kind kind;
	const char *key;
} effects[] = {
	{WATCHER_RULE_BANNER, "banner"},
	{WATCHER_RULE_SERIOUS, "verdict"},
	{WATCHER_RULE_PENDING, "pending"},
	{WATCHER_RULE_WARNING, "warning"},
	{WATCHER_RULE_MEDIUM, "medium"},
	{WATCHER_RULE_PROGRESS, "progress"},
	{WATCHER_RULE_RESET, "reset"},
	{WATCHER_RULE_IGNORE, "ignore"},
};

static int read_effect(struct document *document, const struct bootrules_rule *written,
	enum watcher_rule_kind *kind)
{
	unsigned found = 0;

	*kind = WATCHER_RULE_STATE;
	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
		if (!document_find(written->node, effects[i].key))
			continue;
		*kind = effects[i].kind;
		found++;
	}
	if (found > 1 || (!found && !written->state))
		return document_fail(document, written->node, NULL,
			"says %s; expected one of \"banner\", \"verdict\", \"pending\", "
			"\"warning\", \"medium\", \"progress\", \"reset\", \"ignore\", or \"state\" "
			"alone",
			found ? "two things of one line" : "nothing of its line");
	if (written->state && (*kind == WATCHER_RULE_BANNER || *kind == WATCHER_RULE_IGNORE))
		return document_fail(document, written->node, "state",
			"has no meaning here; expected it without \"%s\"",
			*kind == WATCHER_RULE_BANNER ? "banner" : "ignore");
	return 0;
}

static int read_rule(
	struct document *document, const struct bootrules_rule *written, struct watcher_rule *rule)
{
	const char *state = written->banner ? written->banner : written->state;
	const char *cause = written->verdict ? written->verdict : written->pending;
	int result = read_effect(document, written, &rule->kind);

	rule->texts[0] = written->text;
	if (!result)
		result = check_size(document, written->node, "text", written->text);
	if (!result)
		result = check_size(document, written->node, "without", written->without);
	for (size_t i = 0; !result && i < written->then_count; i++) {
		result = check_size(document, written->node, "then", written->then[i]);
		rule->texts[i + 1] = written->then[i];
	}
	if (!result)
		result = read_from(
			document, written->node, written->from, written->from_count, &rule->states);
	rule->without = written->without;
	rule->is_printk = written->printk;
	rule->state = state ? find_state(state) : WATCHER_STATE_NONE;
	rule->cause = cause ? find_cause(cause) : WATCHER_CAUSE_NONE;
	rule->word = written->warning ? written->warning : written->medium;
	return result;
}

static int read_prompt(struct document *document, const struct bootrules_prompt *written,
	struct watcher_prompt *prompt)
{
	int result = check_size(document, written->node, "text", written->text);

	if (!result && written->anywhere && strchr(written->text, '*'))
		result = document_fail(document, written->node, "anywhere",
			"a prompt with '*' stands at the start of a line; expected it without "
			"\"anywhere\"");
	if (!result)
		result = read_from(document, written->node, written->from, written->from_count,
			&prompt->states);
	prompt->text = written->text;
	prompt->state = find_state(written->state);
	prompt->system = written->system ? find_state(written->system) : WATCHER_STATE_NONE;
	prompt->is_anywhere = written->anywhere;
	prompt->is_weak = written->weak;
	return result;
}

static int read_limits(struct document *document, const struct bootrules_file *file,
	uint32_t limit_ms[WATCHER_STATES])
{
	for (size_t i = 0; i < file->silence_count; i++) {
		enum watcher_state state = find_state(file->silence_ms[i].state);

		if (state == WATCHER_STATES)
			return document_fail(document,
				document_find(document_root(document), "silence_ms"),
				file->silence_ms[i].state,
				"is no state; expected \"none\", "
				"\"spl\", \"opensbi\", \"uboot\", \"handoff\", \"linux\" or another");
		limit_ms[state] = file->silence_ms[i].ms;
	}
	return 0;
}

/* ---------------------------------------------------------------- joining */

/* Both arrays have room for all of a source. */
static int add_source(struct bootrules *rules, struct source *source, struct watcher_rule *rule,
	struct watcher_prompt *prompt)
{
	const struct bootrules_file *file = &source->file;
	int result = 0;

	for (size_t i = 0; !result && i < file->rule_count; i++)
		result = read_rule(source->document, &file->rules[i], &rule[i]);
	for (size_t i = 0; !result && i < file->prompt_count; i++)
		result = read_prompt(source->document, &file->prompts[i], &prompt[i]);
	rules->rules.rule_count += file->rule_count;
	rules->rules.prompt_count += file->prompt_count;
	return result;
}

static const char *const *join(const char *const *first, size_t first_count,
	const char *const *second, size_t second_count)
{
	const char **all = calloc(first_count + second_count + 1, sizeof(*all));

	for (size_t i = 0; all && i < first_count + second_count; i++)
		all[i] = i < first_count ? first[i] : second[i - first_count];
	return all;
}

static int fail_source(struct bootrules *rules, const struct source *source, int result)
{
	snprintf(rules->error, sizeof(rules->error), "%s",
		result == -ENOMEM ? "out of memory" : document_error(source->document));
	return result;
}

static int join_sources(struct bootrules *rules)
{
	struct bootrules_file *own = &rules->sources[0].file, *rest = &rules->sources[1].file;
	struct watcher_rules *all = &rules->rules;
	struct watcher_rule *rule = calloc(own->rule_count + rest->rule_count + 1, sizeof(*rule));
	struct watcher_prompt *prompt =
		calloc(own->prompt_count + rest->prompt_count + 1, sizeof(*prompt));

	all->rules = rule;
	all->prompts = prompt;
	all->loader_failures = join(own->loader_failures, own->loader_failure_count,
		rest->loader_failures, rest->loader_failure_count);
	all->loader_failure_count = own->loader_failure_count + rest->loader_failure_count;
	all->replays = join(own->replays, own->replay_count, rest->replays, rest->replay_count);
	all->replay_count = own->replay_count + rest->replay_count;
	if (!rule || !prompt || !all->loader_failures || !all->replays)
		return fail_source(rules, NULL, -ENOMEM);
	for (size_t i = 0; i < SOURCES; i++) {
		struct source *source = &rules->sources[i];
		int result = add_source(
			rules, source, rule + all->rule_count, prompt + all->prompt_count);

		if (result)
			return fail_source(rules, source, result);
	}
	/* The own file has the last word. */
	for (size_t i = SOURCES; i-- > 0;) {
		struct source *source = &rules->sources[i];
		int result = read_limits(source->document, &source->file, all->limit_ms);

		if (result)
			return fail_source(rules, source, result);
	}
	rules->is_complete = true;
	return 0;
}

/* result: what opening the own document gave. */
static int finish(struct bootrules *rules, int result)
{
	struct source *own = &rules->sources[0], *rest = &rules->sources[1];

	if (!result && own->document)
		result = document_read(own->document, &bootrules_shape, &own->file);
	if (result)
		return fail_source(rules, own, result);
	if (!own->file.replace) {
		result = document_parse(
			&rest->document, "built-in rules", built_in, sizeof(built_in) - 1);
		if (!result)
			result = document_read(rest->document, &bootrules_shape, &rest->file);
		if (result)
			return fail_source(rules, rest, result);
	}
	return join_sources(rules);
}

int bootrules_parse(struct bootrules **parsed, const char *name, const char *text, size_t size)
{
	struct bootrules *rules = calloc(1, sizeof(*rules));

	*parsed = rules;
	if (!rules)
		return -ENOMEM;
	return finish(rules, document_parse(&rules->sources[0].document, name, text, size));
}

int bootrules_open(struct bootrules **opened, const char *path)
{
	struct bootrules *rules = calloc(1, sizeof(*rules));

	*opened = rules;
	if (!rules)
		return -ENOMEM;
	return finish(rules, path ? document_open(&rules->sources[0].document, path) : 0);
}

void bootrules_close(struct bootrules *rules)
{
	if (!rules)
		return;
	free((void *)rules->rules.rules);
	free((void *)rules->rules.prompts);
	free((void *)rules->rules.loader_failures);
	free((void *)rules->rules.replays);
	for (size_t i = 0; i < SOURCES; i++)
		document_close(rules->sources[i].document);
	free(rules);
}

const char *bootrules_error(const struct bootrules *rules)
{
	return rules ? rules->error : "out of memory";
}

const struct watcher_rules *bootrules_get(const struct bootrules *rules)
{
	return rules && rules->is_complete ? &rules->rules : NULL;
}
