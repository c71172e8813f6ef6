/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_WATCHER_PRIVATE_H
#define BOARDCTL_WATCHER_PRIVATE_H

#include "boardctl/watcher.h"

/* The parts of the watcher, for watcher*.c only. */

/* ---------------------------------------------------------------- match */

/* Sets of two bytes that follow each other, by their hash: most rules and
 * prompts end at a look there. */
static inline unsigned watcher_hash_pair(unsigned char first, unsigned char second)
{
	return (first * 37u + second) % 512u;
}

static inline void watcher_pair_add(uint8_t set[64], unsigned char first, unsigned char second)
{
	unsigned hash = watcher_hash_pair(first, second);

	set[hash / 8] |= (uint8_t)(1u << hash % 8);
}

static inline bool watcher_pair_is_in(
	const uint8_t set[64], unsigned char first, unsigned char second)
{
	unsigned hash = watcher_hash_pair(first, second);

	return set[hash / 8] & 1u << hash % 8;
}

/* All texts of the rule are in the line, and not only in what the piece before had. */
bool watcher_rule_fits(const struct watcher_rule *rule, const struct watcher *w, const char *text);

/* The text is in the line, and not only in what the piece before had. Never true for "". */
bool watcher_finds(const struct watcher *w, const char *line, const char *text);

/* Linux' "[    1.234567] " is in the line. */
bool watcher_has_printk(const char *text);

/* Behind blanks, unreadable bytes and the time stamps of a capturing program. */
const char *watcher_skip_prefix(const char *text);

/* The whole text is such a prompt. */
bool watcher_prompt_fits(const struct watcher_prompt *prompt, const char *text);

bool watcher_ends_with(const char *text, const char *end);

/* ---------------------------------------------------------------- judge */

void watcher_note(struct watcher *w, struct watcher_verdict *verdict, enum watcher_cause cause,
	const char *text);
void watcher_warn(struct watcher *w, const char *word, const char *text);
void watcher_judge(struct watcher *w, enum watcher_cause cause, const char *text);

/* The boot is in this state, by this text: later than before or a prompt. */
void watcher_reach(struct watcher *w, enum watcher_state next, const char *text);
/* So, if that is later than the present state. */
void watcher_advance(struct watcher *w, enum watcher_state next, const char *text);
/* A text that only a start prints. rule may be NULL. */
void watcher_take_banner(struct watcher *w, enum watcher_state next,
	const struct watcher_rule *rule, const char *text);
/* Something that was in doubt went well. is_system: up to a login or shell. */
void watcher_clear_pending(struct watcher *w, bool is_system);
/* What was in doubt is decided: it stays so. */
void watcher_settle_pending(struct watcher *w);
/* Firmware has read from there: is it where it should? */
void watcher_check_medium(struct watcher *w);

void watcher_match_line(struct watcher *w, const char *text);

#endif
