/* SPDX-License-Identifier: Apache-2.0 */
/* States and verdicts of the watcher. */
#include <string.h>

#include "boardctl/watcher_private.h"

/* Something of the system runs: what its loader had complained about was no harm. */
#define SYSTEMS                                                                                    \
	(WATCHER_BIT(WATCHER_STATE_LINUX) | WATCHER_BIT(WATCHER_STATE_NUTTX) |                     \
		WATCHER_BIT(WATCHER_STATE_RTTHREAD) | WATCHER_BIT(WATCHER_STATE_RTSMART) |         \
		WATCHER_BIT(WATCHER_STATE_BAREMETAL) | WATCHER_BIT(WATCHER_STATE_OTHER_OS))

static void copy_text(char *to, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memcpy(to, text, length);
	to[length] = '\0';
}

/* ---------------------------------------------------------------- verdicts */

void watcher_note(struct watcher *w, struct watcher_verdict *verdict, enum watcher_cause cause,
	const char *text)
{
	verdict->cause = cause;
	verdict->state = w->state;
	verdict->line = w->line_number;
	verdict->time_ms = w->time_ms;
	copy_text(verdict->text, sizeof(verdict->text), text);
}

static void add_warning(struct watcher *w, const char *word, const struct watcher_verdict *from)
{
	struct watcher_warning *last =
		w->warning_count ? &w->warnings[(w->warning_count < WATCHER_WARNINGS_MAX
								? w->warning_count
								: WATCHER_WARNINGS_MAX) -
						1]
				 : NULL;

	/* Consoles that print all twice, drivers that try again. */
	if (last && !strcmp(last->word, word) &&
		!strncmp(last->text, from->text, WATCHER_WARNING_SIZE - 1))
		return;
	if (w->warning_count++ >= WATCHER_WARNINGS_MAX)
		return;
	last = &w->warnings[w->warning_count - 1];
	last->word = word;
	last->line = from->line;
	last->time_ms = from->time_ms;
	copy_text(last->text, sizeof(last->text), from->text);
}

void watcher_warn(struct watcher *w, const char *word, const char *text)
{
	struct watcher_verdict now;

	watcher_note(w, &now, WATCHER_CAUSE_NONE, text);
	add_warning(w, word, &now);
}

static void demote(struct watcher *w, struct watcher_verdict *verdict)
{
	add_warning(w, watcher_cause_name(verdict->cause), verdict);
	verdict->cause = WATCHER_CAUSE_NONE;
}

/* The system that crashed is what is left of its programs. */
static void fall_back(struct watcher *w, const char *text)
{
	if (w->system != WATCHER_STATE_NONE && w->state > w->system)
		watcher_reach(w, w->system, text);
}

void watcher_settle_pending(struct watcher *w)
{
	if (w->pending.cause == w->verdict.cause)
		w->pending.cause = WATCHER_CAUSE_NONE;
	if (w->pending.cause == WATCHER_CAUSE_NONE)
		return;
	if (w->verdict.cause == WATCHER_CAUSE_NONE) {
		w->verdict = w->pending;
		w->pending.cause = WATCHER_CAUSE_NONE;
		if (w->verdict.cause == WATCHER_CAUSE_PANIC)
			fall_back(w, w->verdict.text);
	} else {
		demote(w, &w->pending);
	}
}

void watcher_judge(struct watcher *w, enum watcher_cause cause, const char *text)
{
	enum watcher_cause first = w->verdict.cause;
	enum watcher_cause doubt = w->pending.cause;

	/* A root that can't be read ends in a panic; the card was the cause. */
	if (doubt == cause ||
		(doubt == WATCHER_CAUSE_STORAGE_ERROR &&
			(cause == WATCHER_CAUSE_PANIC || cause == WATCHER_CAUSE_INIT_FAILED))) {
		watcher_settle_pending(w);
		first = w->verdict.cause;
	} else {
		w->pending.cause = WATCHER_CAUSE_NONE;
	}
	if (first == WATCHER_CAUSE_NONE) {
		watcher_note(w, &w->verdict, cause, text);
	} else if (first == cause && doubt == cause) {
		/* What was in doubt was this. */
	} else if (first == WATCHER_CAUSE_OOPS && cause == WATCHER_CAUSE_PANIC) {
		/* The oops was its beginning. */
		demote(w, &w->verdict);
		watcher_note(w, &w->verdict, cause, text);
	} else if (first == WATCHER_CAUSE_RESET && cause == WATCHER_CAUSE_RESET_LOOP) {
		w->verdict.cause = cause;
		w->verdict.later++;
	} else {
		w->verdict.later++;
		if (first != cause)
			watcher_warn(w, watcher_cause_name(cause), text);
	}
	if (cause == WATCHER_CAUSE_PANIC)
		fall_back(w, text);
}

void watcher_clear_pending(struct watcher *w, bool is_system)
{
	enum watcher_cause cause = w->pending.cause;
	bool is_loaders = cause == WATCHER_CAUSE_LOADER_FAILED ||
			  cause == WATCHER_CAUSE_SPL_FAILED || cause == WATCHER_CAUSE_RESET;

	if (cause == WATCHER_CAUSE_NONE || (!is_system && !is_loaders))
		return;
	/* Loaders look in many places: what isn't there is no news. */
	if (is_loaders || cause == WATCHER_CAUSE_PASSWORD_DIALOGUE)
		w->pending.cause = WATCHER_CAUSE_NONE;
	else
		demote(w, &w->pending);
}

/* ---------------------------------------------------------------- states */

void watcher_reach(struct watcher *w, enum watcher_state next, const char *text)
{
	uint32_t row = w->step_count < WATCHER_STEPS_MAX ? w->step_count : WATCHER_STEPS_MAX - 1;

	watcher_note(w, &w->reached, WATCHER_CAUSE_NONE, text);
	w->reached.state = next;
	w->is_guess = false;
	if (w->state == next && w->step_count)
		return;
	w->state = next;
	w->seen |= WATCHER_BIT(next);
	w->steps[row] = (struct watcher_step){next, w->line_number, w->time_ms};
	w->step_count++;
	if (SYSTEMS & WATCHER_BIT(next))
		w->system = next;
}

void watcher_check_medium(struct watcher *w)
{
	if (w->medium_found && w->medium[0] && strcmp(w->medium_found, w->medium) != 0) {
		struct watcher_verdict *from = &w->from;

		if (w->verdict.cause == WATCHER_CAUSE_NONE) {
			w->verdict = *from;
			w->verdict.cause = WATCHER_CAUSE_WRONG_MEDIUM;
		} else {
			add_warning(w, watcher_cause_name(WATCHER_CAUSE_WRONG_MEDIUM), from);
		}
	}
	w->medium_found = NULL;
}

void watcher_advance(struct watcher *w, enum watcher_state next, const char *text)
{
	if (next <= w->state && !(w->is_guess && next != WATCHER_STATE_NONE))
		return;
	if (next > WATCHER_STATE_SPL) {
		watcher_check_medium(w);
		if (w->verdict.cause == WATCHER_CAUSE_SPL_FAILED)
			demote(w, &w->verdict);
	}
	if (next > WATCHER_STATE_HANDOFF && w->verdict.cause == WATCHER_CAUSE_LOADER_FAILED)
		demote(w, &w->verdict);
	watcher_clear_pending(w, false);
	watcher_reach(w, next, text);
}

static void take_reset(struct watcher *w, const char *text)
{
	uint32_t from = WATCHER_BIT(w->state);

	/* The banner proves what was announced. */
	if (w->pending.cause == WATCHER_CAUSE_RESET)
		w->pending.cause = WATCHER_CAUSE_NONE;
	watcher_settle_pending(w);
	if (w->is_power_on_known && w->time_ms - w->power_on_ms < WATCHER_BOUNCE_MS &&
		w->state <= WATCHER_STATE_UBOOT) {
		w->bounces++;
		watcher_warn(w, "relay-bounce", text);
	} else {
		watcher_judge(w,
			w->reset_states & from ? WATCHER_CAUSE_RESET_LOOP : WATCHER_CAUSE_RESET,
			text);
		w->reset_states |= from;
		w->resets++;
	}
	w->first_banner_seen = false;
	w->loader_banner_seen = false;
	w->seen = 0;
	w->system = WATCHER_STATE_NONE;
	w->medium_found = NULL;
	w->is_replay = false;
	w->state = WATCHER_STATE_NONE;
}

/* Only the stamps let it look like Linux, and now they are before firmware too. */
static bool is_stamped(const struct watcher *w, enum watcher_state next, const char *text)
{
	return w->is_guess && next < WATCHER_STATE_LINUX && watcher_has_printk(text);
}

/* Some loaders start OpenSBI together with the system. */
static bool is_chain(const struct watcher *w, enum watcher_state next)
{
	return next == WATCHER_STATE_OPENSBI && w->state == WATCHER_STATE_HANDOFF &&
	       !(w->seen & WATCHER_BIT(WATCHER_STATE_OPENSBI)) &&
	       w->seen & (WATCHER_BIT(WATCHER_STATE_SPL) | WATCHER_BIT(WATCHER_STATE_UBOOT));
}

void watcher_take_banner(struct watcher *w, enum watcher_state next,
	const struct watcher_rule *rule, const char *text)
{
	/* Two consoles on one line print everything twice. */
	bool is_doubled = w->state == next && !strcmp(w->last, text);
	/* A stage may have two banners: TPL and SPL. */
	bool is_other = w->state == next && rule && w->banner && rule != w->banner &&
			w->banner->state == next;
	bool is_reset = w->state >= next && !is_doubled && !is_other && !is_chain(w, next) &&
			!is_stamped(w, next, text);

	if (w->is_reset_announced && !is_doubled)
		is_reset = true;
	w->is_reset_announced = false;
	w->any_banner_seen = true;
	w->banner = rule;
	if (is_reset)
		take_reset(w, text);
	if (w->state > next) {
		watcher_clear_pending(w, false);
		watcher_reach(w, next, text);
	} else {
		watcher_advance(w, next, text);
	}
}

/* ---------------------------------------------------------------- lines */

static void take_pending(struct watcher *w, const struct watcher_rule *rule, const char *text)
{
	if (rule->state)
		watcher_advance(w, rule->state, text);
	if (w->pending.cause == WATCHER_CAUSE_NONE)
		watcher_note(w, &w->pending, rule->cause, text);
}

static void take_rule(struct watcher *w, const struct watcher_rule *rule, const char *text)
{
	bool is_guess;

	/* A log may begin at a shell: its crash tells whose that was. */
	if (w->system == WATCHER_STATE_NONE && SYSTEMS & WATCHER_BIT(rule->state))
		w->system = rule->state;
	switch (rule->kind) {
	case WATCHER_RULE_STATE:
		w->any_banner_seen = true;
		is_guess = rule->is_printk && w->state == WATCHER_STATE_NONE;
		watcher_advance(w, rule->state, text);
		w->is_guess = is_guess;
		break;
	case WATCHER_RULE_BANNER:
		watcher_take_banner(w, rule->state, rule, text);
		break;
	case WATCHER_RULE_SERIOUS:
		watcher_advance(w, rule->state, text);
		watcher_judge(w, rule->cause, text);
		break;
	case WATCHER_RULE_PENDING:
		take_pending(w, rule, text);
		break;
	case WATCHER_RULE_PROGRESS:
		watcher_advance(w, rule->state, text);
		watcher_clear_pending(w, false);
		break;
	case WATCHER_RULE_WARNING:
		watcher_advance(w, rule->state, text);
		watcher_warn(w, rule->word, text);
		break;
	case WATCHER_RULE_MEDIUM:
		watcher_advance(w, rule->state, text);
		watcher_note(w, &w->from, WATCHER_CAUSE_WRONG_MEDIUM, text);
		w->medium_found = rule->word;
		break;
	case WATCHER_RULE_RESET:
		watcher_advance(w, rule->state, text);
		w->is_reset_announced = true;
		if (w->pending.cause == WATCHER_CAUSE_NONE)
			watcher_note(w, &w->pending, WATCHER_CAUSE_RESET, text);
		break;
	case WATCHER_RULE_IGNORE:
		break;
	}
}

static void take_loader_banner(struct watcher *w, const char *text)
{
	/* The loader's `version` prints it too, right below the typed line; so
	 * does Linux, where firmware has a name. */
	if (w->state >= WATCHER_STATE_LINUX && !w->is_guess && watcher_has_printk(text))
		return;
	if (!(w->state == WATCHER_STATE_UBOOT_PROMPT && w->last_is_typed))
		watcher_take_banner(w, WATCHER_STATE_UBOOT, NULL, text);
	w->loader_banner_seen = true;
}

static void take_first_banner(struct watcher *w, const char *text)
{
	if (w->state < WATCHER_STATE_LINUX || w->state == WATCHER_STATE_BAREMETAL)
		watcher_take_banner(w, WATCHER_STATE_BAREMETAL, NULL, text);
	w->first_banner_seen = true;
}

static const struct watcher_rule *find_rule(const struct watcher *w, const char *text)
{
	for (size_t i = 0; i < w->rules->rule_count; i++)
		if (watcher_rule_fits(&w->rules->rules[i], w, text))
			return &w->rules->rules[i];
	return NULL;
}

/* What a shell prints from a log has happened already. */
static void match_replay(struct watcher *w, const char *text)
{
	const struct watcher_rule *rule = find_rule(w, text);

	if (rule && rule->kind == WATCHER_RULE_SERIOUS)
		watcher_warn(w, watcher_cause_name(rule->cause), text);
	else if (rule && rule->kind == WATCHER_RULE_WARNING)
		watcher_warn(w, rule->word, text);
}

void watcher_match_line(struct watcher *w, const char *text)
{
	const struct watcher_rule *rule;
	bool has_state = false;

	if (w->is_replay) {
		match_replay(w, text);
		return;
	}
	rule = find_rule(w, text);
	if (rule) {
		take_rule(w, rule, text);
		has_state = rule->kind == WATCHER_RULE_STATE || rule->kind == WATCHER_RULE_BANNER;
	}
	if ((!has_state || w->is_guess) && watcher_finds(w, text, w->loader_banner))
		take_loader_banner(w, text);
	if (watcher_finds(w, text, w->first_banner)) {
		if (has_state)
			w->first_banner_seen = true;
		else
			take_first_banner(w, text);
	}
}
