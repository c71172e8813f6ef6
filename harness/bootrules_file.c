/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bootrules_file.h"

#include "harness/bootrules.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define STATE_WORDS                                                                                \
	"spl", "opensbi", "uboot", "uboot-prompt", "handoff", "linux", "nuttx", "rtthread",        \
		"rtsmart", "baremetal", "other-os", "userspace", "login", "shell"

static const char *const state_words[] = {STATE_WORDS, NULL};
static const char *const prompt_words[] = {"none", STATE_WORDS, NULL};
static const char *const verdict_words[] = {"panic", "oops", "stall", "task-crash", "oom",
	"storage-error", "init-failed", "password-dialogue", "hang", "reset", "loader-failed",
	"loader-crash", "loader-halted", "spl-failed", "wrong-medium", NULL};

#define FROM_EXPECTED "a state, \"none\", \"firmware\", \"loader\" or \"system\""

static const struct document_key rule_keys[] = {
	{.name = "text",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "a text that is in the line",
		DOCUMENT_AT(struct bootrules_rule, text)},
	{.name = "then",
		.kind = DOCUMENT_STRINGS,
		.min = 1,
		.max = WATCHER_TEXTS_MAX - 1,
		.expected = "a text that comes behind it in the line",
		DOCUMENT_AT(struct bootrules_rule, then),
		.count_offset = offsetof(struct bootrules_rule, then_count)},
	{.name = "without",
		.kind = DOCUMENT_STRING,
		.expected = "a text that is not in the line",
		DOCUMENT_AT(struct bootrules_rule, without)},
	{.name = "printk", .kind = DOCUMENT_BOOLEAN, DOCUMENT_AT(struct bootrules_rule, printk)},
	{.name = "from",
		.kind = DOCUMENT_STRINGS,
		.min = 1,
		.max = WATCHER_STATES,
		.expected = FROM_EXPECTED,
		DOCUMENT_AT(struct bootrules_rule, from),
		.count_offset = offsetof(struct bootrules_rule, from_count)},
	{.name = "state",
		.kind = DOCUMENT_CHOICE,
		.words = state_words,
		DOCUMENT_AT(struct bootrules_rule, state)},
	{.name = "banner",
		.kind = DOCUMENT_CHOICE,
		.words = state_words,
		DOCUMENT_AT(struct bootrules_rule, banner)},
	{.name = "verdict",
		.kind = DOCUMENT_CHOICE,
		.words = verdict_words,
		DOCUMENT_AT(struct bootrules_rule, verdict)},
	{.name = "pending",
		.kind = DOCUMENT_CHOICE,
		.words = verdict_words,
		DOCUMENT_AT(struct bootrules_rule, pending)},
	{.name = "warning",
		.kind = DOCUMENT_STRING,
		.expected = "a word for it, like \"kernel-warning\"",
		DOCUMENT_AT(struct bootrules_rule, warning)},
	{.name = "medium",
		.kind = DOCUMENT_STRING,
		.expected = "a word for it, like \"sd\"",
		DOCUMENT_AT(struct bootrules_rule, medium)},
	{.name = "progress",
		.kind = DOCUMENT_BOOLEAN,
		DOCUMENT_AT(struct bootrules_rule, progress)},
	{.name = "reset", .kind = DOCUMENT_BOOLEAN, DOCUMENT_AT(struct bootrules_rule, reset)},
	{.name = "ignore", .kind = DOCUMENT_BOOLEAN, DOCUMENT_AT(struct bootrules_rule, ignore)},
};

static const struct document_shape rule_shape = {
	.noun = "a rule",
	.keys = rule_keys,
	.key_count = COUNT(rule_keys),
	.size = sizeof(struct bootrules_rule),
	.name_offset = SIZE_MAX,
	.node_offset = offsetof(struct bootrules_rule, node),
};

static const struct document_key prompt_keys[] = {
	{.name = "text",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "a prompt with its blanks, like \"nsh> \"",
		DOCUMENT_AT(struct bootrules_prompt, text)},
	{.name = "state",
		.kind = DOCUMENT_CHOICE,
		.required = true,
		.words = prompt_words,
		DOCUMENT_AT(struct bootrules_prompt, state)},
	{.name = "system",
		.kind = DOCUMENT_CHOICE,
		.words = state_words,
		DOCUMENT_AT(struct bootrules_prompt, system)},
	{.name = "from",
		.kind = DOCUMENT_STRINGS,
		.min = 1,
		.max = WATCHER_STATES,
		.expected = FROM_EXPECTED,
		DOCUMENT_AT(struct bootrules_prompt, from),
		.count_offset = offsetof(struct bootrules_prompt, from_count)},
	{.name = "anywhere",
		.kind = DOCUMENT_BOOLEAN,
		DOCUMENT_AT(struct bootrules_prompt, anywhere)},
	{.name = "weak", .kind = DOCUMENT_BOOLEAN, DOCUMENT_AT(struct bootrules_prompt, weak)},
};

static const struct document_shape prompt_shape = {
	.noun = "a prompt",
	.keys = prompt_keys,
	.key_count = COUNT(prompt_keys),
	.size = sizeof(struct bootrules_prompt),
	.name_offset = SIZE_MAX,
	.node_offset = offsetof(struct bootrules_prompt, node),
};

static const struct document_key limit_value = {
	.name = "",
	.kind = DOCUMENT_INTEGER,
	.min = 0,
	.max = 86400000,
	.unit = "ms",
	DOCUMENT_AT(struct bootrules_limit, ms),
};

static const struct document_shape limit_shape = {
	.noun = "a limit of silence",
	.size = sizeof(struct bootrules_limit),
	.name_offset = offsetof(struct bootrules_limit, state),
	.node_offset = SIZE_MAX,
	.value = &limit_value,
};

static const struct document_key file_keys[] = {
	{.name = "description",
		.kind = DOCUMENT_STRING,
		.min = -1,
		.expected = "a sentence on the rules",
		DOCUMENT_AT(struct bootrules_file, description)},
	{.name = "replace", .kind = DOCUMENT_BOOLEAN, DOCUMENT_AT(struct bootrules_file, replace)},
	{.name = "rules",
		.kind = DOCUMENT_OBJECTS,
		.min = 0,
		.max = 2000,
		.shape = &rule_shape,
		DOCUMENT_AT(struct bootrules_file, rules),
		.count_offset = offsetof(struct bootrules_file, rule_count)},
	{.name = "prompts",
		.kind = DOCUMENT_OBJECTS,
		.min = 0,
		.max = 200,
		.shape = &prompt_shape,
		DOCUMENT_AT(struct bootrules_file, prompts),
		.count_offset = offsetof(struct bootrules_file, prompt_count)},
	{.name = "loader_failures",
		.kind = DOCUMENT_STRINGS,
		.min = 0,
		.max = 200,
		.expected = "a text that tells that a command of the loader failed",
		DOCUMENT_AT(struct bootrules_file, loader_failures),
		.count_offset = offsetof(struct bootrules_file, loader_failure_count)},
	{.name = "replays",
		.kind = DOCUMENT_STRINGS,
		.min = 0,
		.max = 50,
		.expected = "a command that prints an old log",
		DOCUMENT_AT(struct bootrules_file, replays),
		.count_offset = offsetof(struct bootrules_file, replay_count)},
	{.name = "silence_ms",
		.kind = DOCUMENT_MAP,
		.min = 0,
		.max = WATCHER_STATES,
		.shape = &limit_shape,
		DOCUMENT_AT(struct bootrules_file, silence_ms),
		.count_offset = offsetof(struct bootrules_file, silence_count)},
};

const struct document_shape bootrules_shape = {
	.noun = "a rules file",
	.keys = file_keys,
	.key_count = COUNT(file_keys),
	.size = sizeof(struct bootrules_file),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};
