/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_WATCHER_H
#define BOARDCTL_WATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Follows a boot by its console text. Fed with bytes cut anywhere; the result
 * depends on the bytes and on the times given, not on the cuts. It reads no
 * clock and holds nothing outside its struct.
 *
 * Lines are matched anywhere, after ESC sequences, CR and leading blanks are
 * gone. The first serious line decides the cause; what follows is kept as
 * later events only in the count.
 */
enum watcher_state {
	WATCHER_STATE_NONE, /* nothing yet, or nothing known */
	WATCHER_STATE_SPL,
	WATCHER_STATE_OPENSBI,
	WATCHER_STATE_UBOOT,
	WATCHER_STATE_UBOOT_PROMPT, /* a candidate: only a nonce in an output proves it */
	WATCHER_STATE_HANDOFF,	    /* the loader has started the system */
	WATCHER_STATE_LINUX,
	WATCHER_STATE_USERSPACE,
	WATCHER_STATE_SHELL,	 /* login or shell prompt */
	WATCHER_STATE_BAREMETAL, /* first_banner of a system without rules of its own */
	WATCHER_STATES,
};

enum watcher_cause {
	WATCHER_CAUSE_NONE,
	WATCHER_CAUSE_PANIC,
	WATCHER_CAUSE_OOPS,
	WATCHER_CAUSE_STALL,
	WATCHER_CAUSE_OOM,
	WATCHER_CAUSE_STORAGE_ERROR,
	WATCHER_CAUSE_HANG,	  /* silent beyond the state's limit */
	WATCHER_CAUSE_RESET,	  /* a first banner after a later state */
	WATCHER_CAUSE_RESET_LOOP, /* the same reset from the same state again */
	WATCHER_CAUSE_LOADER_FAILED,
	WATCHER_CAUSE_LOADER_CRASH,
	WATCHER_CAUSE_LOADER_HALTED,
	WATCHER_CAUSE_SPL_FAILED,
	WATCHER_CAUSE_WRONG_MEDIUM,
	WATCHER_CAUSE_ENDLESS_OUTPUT, /* one line again and again */
	WATCHER_CAUSE_WRONG_BAUD,     /* unreadable, and never a banner */
	WATCHER_CAUSES,
};

#define WATCHER_LINE_SIZE   512 /* longer lines are matched in pieces of this size */
#define WATCHER_PERIOD_MAX  32	/* lines in the longest repetition that is noticed */
#define WATCHER_STRING_SIZE 96

/* Strings are copied; longer than WATCHER_STRING_SIZE - 1 is -EINVAL. NULL =
 * the default. */
struct watcher_config {
	const char *loader_banner; /* "U-Boot 20" */
	const char *prompt;	   /* the loader's, with its blanks: "=> " */
	const char *first_banner;  /* the system's first line, from its manifest; no default */
	const char *shell_prompt;  /* the system's, from its manifest; no default */
	/* Silence limit per state in ms; 0 = the default, WATCHER_NO_LIMIT = none. */
	uint32_t limit_ms[WATCHER_STATES];
};
#define WATCHER_NO_LIMIT UINT32_MAX

struct watcher_verdict {
	enum watcher_cause cause;     /* NONE: nothing wrong so far */
	enum watcher_state state;     /* where it happened */
	uint32_t line;		      /* number of the line, from 1; 0 for hang */
	uint64_t time_ms;	      /* as fed */
	char text[WATCHER_LINE_SIZE]; /* the line, stripped; for hang the last line */
	uint32_t later;		      /* serious lines after it */
};

struct watcher {
	char loader_banner[WATCHER_STRING_SIZE];
	char prompt[WATCHER_STRING_SIZE];
	char first_banner[WATCHER_STRING_SIZE];
	char shell_prompt[WATCHER_STRING_SIZE];
	uint32_t limit_ms[WATCHER_STATES];

	enum watcher_state state;
	struct watcher_verdict verdict;
	bool first_banner_seen;
	bool loader_banner_seen;
	bool any_banner_seen;
	unsigned resets;
	uint64_t reset_states; /* bit per state that a reset came from */

	char line[WATCHER_LINE_SIZE];
	size_t line_size;
	uint32_t line_number;
	char last[WATCHER_LINE_SIZE]; /* last line with text */
	bool last_is_prompt;	      /* the line before was typed at the loader's prompt */
	struct watcher_verdict weak;  /* serious, should nothing come after it */
	uint32_t hashes[WATCHER_PERIOD_MAX];
	uint32_t hash_count;
	uint32_t repeats[WATCHER_PERIOD_MAX]; /* lines in a row that equal the one so far back */
	int escape;
	uint64_t time_ms; /* of the last byte, or of the start */
	uint64_t bytes, unreadable;
	bool is_started;
};

/* 0 or -EINVAL (a string is too long). */
int watcher_init(struct watcher *watcher, const struct watcher_config *config);

/* The board was powered on at now_ms: silence counts from here. Forgets lines,
 * state and verdict, keeps the configuration. */
void watcher_restart(struct watcher *watcher, uint64_t now_ms);

void watcher_feed(struct watcher *watcher, uint64_t now_ms, const void *data, size_t size);

/* Call now and then, also without bytes: judges silence. */
void watcher_tick(struct watcher *watcher, uint64_t now_ms);

enum watcher_state watcher_state(const struct watcher *watcher);

/* Never NULL; borrowed until the next call. */
const struct watcher_verdict *watcher_verdict(const struct watcher *watcher);

/* The system's first banner came (after the last reset). */
bool watcher_has_first_banner(const struct watcher *watcher);
/* The loader's banner came (after the last reset). */
bool watcher_has_loader_banner(const struct watcher *watcher);
/* Any known banner ever came: without one after power-on the lab is at fault. */
bool watcher_has_any_banner(const struct watcher *watcher);

/*
 * A verdict that was foreseen (a loader command that may fail and is tried
 * again, a reset that was asked for): forget it and go on from the present state.
 */
void watcher_clear_verdict(struct watcher *watcher);

/* "uboot-prompt", "loader-failed": the words of reports and of the data file. */
const char *watcher_state_name(enum watcher_state state);
const char *watcher_cause_name(enum watcher_cause cause);

/* Whether a line tells that a loader command failed; for outputs of single
 * commands. Returns the part of the line that matched, or NULL. */
const char *watcher_match_loader_failure(const char *line);

#endif
