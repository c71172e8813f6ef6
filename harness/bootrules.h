/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the boot watcher knows of firmware and systems, from a JSON file with
 * comments; see harness/schema/rules.json. The built-in file is
 * harness/rules/boot.json, compiled in. An own file's rules and prompts are
 * tried before the built-in ones, so it can add to them, hide them ("ignore")
 * or do without them ("replace").
 *
 * Errors: 0 or a negative errno, text in bootrules_error() ("FILE:LINE: KEY:
 * ..."). The rules live until bootrules_close() and may be read from any thread.
 */
#ifndef SAMEBOARD_HARNESS_BOOTRULES_H
#define SAMEBOARD_HARNESS_BOOTRULES_H

#include "boardctl/watcher.h"
#include "harness/document.h"

struct bootrules;

/*
 * The built-in rules, and before them those of the file `path` unless it is
 * NULL. *rules is set even on failure (NULL only without memory); always close it.
 */
int bootrules_open(struct bootrules **rules, const char *path);

/* The same with the own rules from text; `name` stands for the file. */
int bootrules_parse(struct bootrules **rules, const char *name, const char *text, size_t size);
void bootrules_close(struct bootrules *rules);
const char *bootrules_error(const struct bootrules *rules);

/* NULL where opening failed. */
const struct watcher_rules *bootrules_get(const struct bootrules *rules);

/* The table that the file is read by (compared with the JSON schema by a test). */
extern const struct document_shape bootrules_shape;

#endif
