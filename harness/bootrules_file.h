/* SPDX-License-Identifier: Apache-2.0 */
/* What document_read() fills, for bootrules*.c only. */
#ifndef SAMEBOARD_HARNESS_BOOTRULES_FILE_H
#define SAMEBOARD_HARNESS_BOOTRULES_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/document.h"

struct bootrules_rule {
	const char *text;
	const char **then;
	size_t then_count;
	const char *without;
	bool printk;
	const char **from;
	size_t from_count;
	const char *state, *banner, *verdict, *pending, *warning, *medium;
	bool progress, reset, ignore;
	const struct document_node *node;
};

struct bootrules_prompt {
	const char *text;
	const char *state, *system;
	const char **from;
	size_t from_count;
	bool anywhere, weak;
	const struct document_node *node;
};

struct bootrules_limit {
	const char *state;
	uint32_t ms;
	const struct document_node *node;
};

struct bootrules_file {
	const char *description;
	bool replace;
	struct bootrules_rule *rules;
	size_t rule_count;
	struct bootrules_prompt *prompts;
	size_t prompt_count;
	const char **loader_failures;
	size_t loader_failure_count;
	const char **replays;
	size_t replay_count;
	struct bootrules_limit *silence_ms;
	size_t silence_count;
};

#endif
