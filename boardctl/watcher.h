/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_WATCHER_H
#define BOARDCTL_WATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Follows a boot by its console text. Fed with bytes cut anywhere; the result
 * depends on the bytes and on the times given, not on the cuts. It reads no
 * clock, allocates nothing and holds nothing outside its struct.
 *
 * What it knows of firmware and systems are the caller's rules. Lines are
 * matched anywhere, after ESC sequences, CR and leading blanks are gone. The
 * first serious line decides the cause; what follows becomes a warning.
 */
enum watcher_state {
	WATCHER_STATE_NONE, /* nothing yet, or nothing known */
	WATCHER_STATE_SPL,
	WATCHER_STATE_OPENSBI,
	WATCHER_STATE_UBOOT,
	WATCHER_STATE_UBOOT_PROMPT, /* a candidate: only a nonce in an output proves it */
	WATCHER_STATE_HANDOFF,	    /* the loader has started the system */
	WATCHER_STATE_LINUX,
	WATCHER_STATE_NUTTX,
	WATCHER_STATE_RTTHREAD,
	WATCHER_STATE_RTSMART,
	WATCHER_STATE_BAREMETAL, /* first_banner of a system without rules of its own */
	WATCHER_STATE_OTHER_OS,
	WATCHER_STATE_USERSPACE,
	WATCHER_STATE_LOGIN,
	WATCHER_STATE_SHELL, /* a candidate too */
	WATCHER_STATES,
};

enum watcher_cause {
	WATCHER_CAUSE_NONE,
	WATCHER_CAUSE_PANIC,
	WATCHER_CAUSE_OOPS,
	WATCHER_CAUSE_STALL,
	WATCHER_CAUSE_TASK_CRASH, /* a program, not the system */
	WATCHER_CAUSE_OOM,
	WATCHER_CAUSE_STORAGE_ERROR,
	WATCHER_CAUSE_INIT_FAILED,
	WATCHER_CAUSE_PASSWORD_DIALOGUE, /* the first login asks for a new password */
	WATCHER_CAUSE_HANG,		 /* silent too long, or the same lines for ever */
	WATCHER_CAUSE_RESET,		 /* a first banner after a later state */
	WATCHER_CAUSE_RESET_LOOP,	 /* the same reset from the same state again */
	WATCHER_CAUSE_LOADER_FAILED,
	WATCHER_CAUSE_LOADER_CRASH,
	WATCHER_CAUSE_LOADER_HALTED,
	WATCHER_CAUSE_SPL_FAILED,
	WATCHER_CAUSE_WRONG_MEDIUM,
	WATCHER_CAUSE_WRONG_BAUD, /* unreadable, and never a banner */
	/* Only of watcher_conclude(): nothing is wrong. */
	WATCHER_CAUSE_SHELL,
	WATCHER_CAUSE_LOGIN,
	WATCHER_CAUSE_BOOTING,
	WATCHER_CAUSES,
};

#define WATCHER_LINE_SIZE    512 /* longer lines are matched in overlapping pieces */
#define WATCHER_PERIOD_MAX   32	 /* lines in the longest repetition that is noticed */
#define WATCHER_STRING_SIZE  96	 /* of a configured text */
#define WATCHER_TEXT_MAX     127 /* of a text in a rule or prompt */
#define WATCHER_TEXTS_MAX    3	 /* in a rule */
#define WATCHER_STEPS_MAX    48
#define WATCHER_WARNINGS_MAX 16
#define WATCHER_WARNING_SIZE 160
#define WATCHER_BOUNCE_MS    1000 /* contacts of a relay have settled then */
#define WATCHER_NO_LIMIT     UINT32_MAX
#define WATCHER_BIT(state)   (UINT32_C(1) << (state))

/* ---------------------------------------------------------------- rules */

/*
 * For every line the first rule counts whose texts are in it, in this order,
 * while the watcher is in one of its states.
 */
enum watcher_rule_kind {
	WATCHER_RULE_STATE,    /* the boot has reached state */
	WATCHER_RULE_BANNER,   /* so too; printed only at a start, so after it it is a reset */
	WATCHER_RULE_SERIOUS,  /* cause */
	WATCHER_RULE_PENDING,  /* cause, unless the boot goes on */
	WATCHER_RULE_PROGRESS, /* the boot goes on */
	WATCHER_RULE_WARNING,  /* kept beside the verdict */
	WATCHER_RULE_MEDIUM,   /* firmware reads the next stage from there */
	WATCHER_RULE_RESET,    /* a reset is announced: the next banner is none of a cold start */
	WATCHER_RULE_IGNORE,   /* looks serious and isn't */
};

struct watcher_rule {
	enum watcher_rule_kind kind;
	const char *texts[WATCHER_TEXTS_MAX]; /* the first isn't NULL */
	const char *without;		      /* NULL, or a text that is not in the line */
	bool is_printk;			      /* only with Linux' "[    1.234567] " before it */
	uint32_t states;		      /* bit per state it counts in; 0 = all */
	enum watcher_state state;	      /* reached at least; NONE = it doesn't say */
	enum watcher_cause cause;	      /* of SERIOUS and PENDING */
	const char *word;		      /* of WARNING and MEDIUM: "kernel-warning", "sd" */
};

/*
 * Prompts stand at the start of a line, after blanks and the time stamps of a
 * capturing program. '*' is one or more characters, no blank and no '#'.
 */
struct watcher_prompt {
	const char *text;
	enum watcher_state state;  /* NONE: looks like a prompt and isn't */
	enum watcher_state system; /* whose prompt this is; NONE = of many */
	uint32_t states;	   /* bit per state it counts in; 0 = all but the loader's */
	bool is_anywhere;	   /* also behind other text; no '*' then */
	bool is_weak; /* too short to be sure: believed in silence, or when a command follows */
};

/* Lives as long as the watchers that use it, with all its strings. */
struct watcher_rules {
	const struct watcher_rule *rules;
	size_t rule_count;
	const struct watcher_prompt *prompts;
	size_t prompt_count;
	/* Texts that tell that a command of the loader failed, where it can't say
	 * so by its status. */
	const char *const *loader_failures;
	size_t loader_failure_count;
	/* Commands of a shell whose output is an old log. */
	const char *const *replays;
	size_t replay_count;
	uint32_t limit_ms[WATCHER_STATES]; /* of silence; 0 = WATCHER_NO_LIMIT */
};

/* ---------------------------------------------------------------- watcher */

/* Strings are copied; longer than WATCHER_STRING_SIZE - 1 is -EINVAL. NULL =
 * the default. */
struct watcher_config {
	const struct watcher_rules *rules; /* borrowed; must be given */
	const char *loader_banner;	   /* of the loader; "U-Boot 20" */
	const char *prompt;	  /* the loader's, with its blanks; default: those of the rules */
	const char *first_banner; /* the system's first line, from its manifest; no default */
	const char *shell_prompt; /* the system's, from its manifest; no default */
	const char *medium;	  /* "sd": where firmware must read from; NULL = anywhere */
	/* Silence limit per state in ms; 0 = the rules', WATCHER_NO_LIMIT = none. */
	uint32_t limit_ms[WATCHER_STATES];
};

struct watcher_verdict {
	enum watcher_cause cause;     /* NONE: nothing wrong so far */
	enum watcher_state state;     /* where it happened */
	uint32_t line;		      /* number of the line, from 1; 0 for silence */
	uint64_t time_ms;	      /* as fed */
	char text[WATCHER_LINE_SIZE]; /* the line, stripped; for silence the last line */
	uint32_t later;		      /* serious lines after it */
};

struct watcher_step {
	enum watcher_state state;
	uint32_t line;
	uint64_t time_ms;
};

struct watcher_warning {
	const char *word; /* of the rule, or a cause's name, "relay-bounce", "tainted" */
	uint32_t line;
	uint64_t time_ms;
	char text[WATCHER_WARNING_SIZE]; /* cut */
};

/* For watcher*.c only; tests may look. */
struct watcher {
	const struct watcher_rules *rules;
	char loader_banner[WATCHER_STRING_SIZE];
	char prompt[WATCHER_STRING_SIZE];
	char first_banner[WATCHER_STRING_SIZE];
	char shell_prompt[WATCHER_STRING_SIZE];
	char medium[WATCHER_STRING_SIZE];
	uint32_t limit_ms[WATCHER_STATES];
	uint8_t prompt_ends[64];  /* filter: hashes of the last two bytes of prompts */
	uint8_t prompt_lasts[32]; /* bit per last byte of those that end in any other way */

	enum watcher_state state;
	enum watcher_state system; /* the last system that showed */
	uint32_t seen;		   /* bit per state since the last start */
	struct watcher_verdict verdict;
	struct watcher_verdict pending; /* serious, should the boot not go on */
	struct watcher_verdict reached; /* what told the present state */
	struct watcher_verdict from;	/* the medium; where text is its line */
	const char *medium_found;
	const struct watcher_rule *banner; /* the last one's */
	bool first_banner_seen;
	bool loader_banner_seen;
	bool any_banner_seen;
	bool is_reset_announced;
	bool is_guess;	/* nothing but stamps tells that it is Linux */
	bool is_replay; /* an old log is being printed */
	unsigned resets, bounces;
	uint32_t reset_states; /* bit per state that a reset came from */
	struct watcher_step steps[WATCHER_STEPS_MAX];
	uint32_t step_count; /* all; the last ones beyond the table are in its last row */
	struct watcher_warning warnings[WATCHER_WARNINGS_MAX];
	uint32_t warning_count; /* all */

	char line[WATCHER_LINE_SIZE];
	size_t line_size;
	size_t part;	   /* where the text after the last lone CR begins */
	size_t overlap;	   /* bytes that the piece before had too */
	uint8_t pairs[64]; /* filter: hashes of two bytes that follow each other */
	uint32_t line_number;
	char last[WATCHER_LINE_SIZE];		/* last line with text */
	bool last_is_typed;			/* it began with the loader's prompt */
	bool is_typed;				/* so does this one */
	bool is_at_shell;			/* so does it with a shell's */
	const struct watcher_prompt *weak;	/* one that may be at prompt_end */
	const struct watcher_prompt *last_weak; /* one that was all of the line before */
	size_t prompt_end;			/* behind the prompt in this line */
	uint32_t hashes[WATCHER_PERIOD_MAX];
	uint32_t hash_count;
	uint32_t repeats[WATCHER_PERIOD_MAX]; /* lines in a row that equal the one so far back */
	int escape;
	bool has_cr;	      /* the byte before was one */
	uint64_t time_ms;     /* of the last byte, or of the start */
	uint64_t power_on_ms; /* where is_power_on_known */
	uint64_t bytes, nuls, unreadable;
	bool is_started, is_power_on_known;
};

/* 0 or -EINVAL (no rules, or a string is too long). */
int watcher_init(struct watcher *watcher, const struct watcher_config *config);

/* The board was powered on at now_ms: silence and bounce count from here.
 * Forgets lines, state and verdict, keeps the configuration. */
void watcher_restart(struct watcher *watcher, uint64_t now_ms);

void watcher_feed(struct watcher *watcher, uint64_t now_ms, const void *data, size_t size);

/* Call now and then, also without bytes: judges silence. */
void watcher_tick(struct watcher *watcher, uint64_t now_ms);

/* No more bytes come, and no clock says how long: judges what is left of the
 * text. A capture ends here; one that ends at the handoff is a hang, since
 * people capture what they have waited for. */
void watcher_finish(struct watcher *watcher);

enum watcher_state watcher_state(const struct watcher *watcher);

/* Never NULL; borrowed until the next call. */
const struct watcher_verdict *watcher_verdict(const struct watcher *watcher);

/* The same, and where nothing is wrong SHELL, LOGIN or BOOTING with what told
 * it. Borrowed too. */
const struct watcher_verdict *watcher_conclude(struct watcher *watcher);

/* The states in their order, and what is worth knowing beside the verdict.
 * Returns how many are there; borrowed until the next call. */
size_t watcher_get_steps(const struct watcher *watcher, const struct watcher_step **steps);
size_t watcher_get_warnings(const struct watcher *watcher, const struct watcher_warning **warnings);

/* The loader's banner came (after the last reset). */
bool watcher_has_loader_banner(const struct watcher *watcher);
/* Any known banner ever came: without one after power-on the lab is at fault. */
bool watcher_has_any_banner(const struct watcher *watcher);

/*
 * A verdict that was foreseen (a loader command that may fail and is tried
 * again, a reset that was asked for): forget it and go on from the present state.
 */
void watcher_clear_verdict(struct watcher *watcher);

/* "uboot-prompt", "loader-failed": the words of reports and of rules files.
 * "?" where there is none. */
const char *watcher_state_name(enum watcher_state state);
const char *watcher_cause_name(enum watcher_cause cause);

/* Whether a line tells that a loader command failed; for outputs of single
 * commands. Returns the part of the line that matched, or NULL. */
const char *watcher_match_loader_failure(const struct watcher_rules *rules, const char *line);

#endif
