/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_WATCHER_RULES_H
#define BOARDCTL_WATCHER_RULES_H

#include <stdint.h>

#include "boardctl/watcher.h"

/*
 * What the watcher knows, as data. For every line the first rule counts whose
 * texts are in it, anywhere, while the watcher is in one of its states.
 */
enum watcher_rule_kind {
	WATCHER_RULE_STATE,    /* the boot has reached next */
	WATCHER_RULE_BANNER,   /* so too; printed only at a start, so after next it is a reset */
	WATCHER_RULE_SERIOUS,  /* cause */
	WATCHER_RULE_WEAK,     /* cause, if nothing comes after it */
	WATCHER_RULE_HARMLESS, /* looks serious and isn't */
};

struct watcher_rule {
	enum watcher_rule_kind kind;
	const char *text;
	const char *also; /* and this; NULL = only text */
	uint32_t states;  /* bit per state it counts in; 0 = all */
	enum watcher_state next;
	enum watcher_cause cause;
};

#define WATCHER_BIT(state) (UINT32_C(1) << (state))

/* Ends with text NULL. */
extern const struct watcher_rule watcher_rules[];

/* Texts that tell that a command of the loader failed, where it can't say so by
 * its status. Ends with NULL. */
extern const char *const watcher_loader_failures[];

/* Ends of an unfinished line that are a login or a shell's prompt. Ends with NULL. */
extern const char *const watcher_shell_prompts[];

/* Silence limits in ms. */
extern const uint32_t watcher_limits_ms[WATCHER_STATES];

extern const char *const watcher_state_names[WATCHER_STATES];
extern const char *const watcher_cause_names[WATCHER_CAUSES];

#endif
