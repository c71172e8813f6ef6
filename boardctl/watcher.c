/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/watcher.h"

#include <errno.h>
#include <string.h>

#include "boardctl/watcher_rules.h"

#define ENDLESS_LINES 100u
/* Judged when so many bytes were not enough for a banner, or at a silence. */
#define WRONG_BAUD_BYTES      200u
#define WRONG_BAUD_BYTES_LIVE 4000u

enum escape {
	ESCAPE_NONE,
	ESCAPE_BEGUN,
	ESCAPE_CSI, /* to a byte 40..7E */
	ESCAPE_OSC, /* to BEL */
};

/* ---------------------------------------------------------------- set-up */

static int copy_string(char *to, const char *from, const char *otherwise)
{
	const char *text = from ? from : otherwise;

	if (strlen(text) >= WATCHER_STRING_SIZE)
		return -EINVAL;
	strcpy(to, text);
	return 0;
}

int watcher_init(struct watcher *w, const struct watcher_config *config)
{
	memset(w, 0, sizeof(*w));
	for (size_t i = 0; i < WATCHER_STATES; i++)
		w->limit_ms[i] = config->limit_ms[i] ? config->limit_ms[i] : watcher_limits_ms[i];
	if (copy_string(w->loader_banner, config->loader_banner, "U-Boot 20") ||
		copy_string(w->prompt, config->prompt, "=> ") ||
		copy_string(w->first_banner, config->first_banner, "") ||
		copy_string(w->shell_prompt, config->shell_prompt, ""))
		return -EINVAL;
	return 0;
}

void watcher_restart(struct watcher *w, uint64_t now_ms)
{
	const struct watcher old = *w;

	memset(w, 0, sizeof(*w));
	memcpy(w->loader_banner, old.loader_banner, sizeof(w->loader_banner));
	memcpy(w->prompt, old.prompt, sizeof(w->prompt));
	memcpy(w->first_banner, old.first_banner, sizeof(w->first_banner));
	memcpy(w->shell_prompt, old.shell_prompt, sizeof(w->shell_prompt));
	memcpy(w->limit_ms, old.limit_ms, sizeof(w->limit_ms));
	w->is_started = true;
	w->time_ms = now_ms;
}

/* ---------------------------------------------------------------- judging */

static void note(struct watcher *w, struct watcher_verdict *verdict, enum watcher_cause cause,
	const char *text)
{
	verdict->cause = cause;
	verdict->state = w->state;
	verdict->line = w->line_number;
	verdict->time_ms = w->time_ms;
	memcpy(verdict->text, text, strlen(text) + 1);
}

static void judge(struct watcher *w, enum watcher_cause cause, const char *text)
{
	if (w->verdict.cause == WATCHER_CAUSE_NONE)
		note(w, &w->verdict, cause, text);
	else if (w->verdict.cause == WATCHER_CAUSE_OOPS && cause == WATCHER_CAUSE_PANIC)
		/* The oops was its beginning. */
		note(w, &w->verdict, cause, text);
	else if (w->verdict.cause == WATCHER_CAUSE_RESET && cause == WATCHER_CAUSE_RESET_LOOP)
		w->verdict.cause = cause;
	else
		w->verdict.later++;
}

static void take_banner(struct watcher *w, enum watcher_state next, const char *text)
{
	/* Two consoles on one line print everything twice. */
	bool is_doubled = w->state == next && !strcmp(w->last, text);

	if (w->state >= next && !is_doubled) {
		uint64_t from = UINT64_C(1) << w->state;

		judge(w, w->reset_states & from ? WATCHER_CAUSE_RESET_LOOP : WATCHER_CAUSE_RESET,
			text);
		w->reset_states |= from;
		w->resets++;
		w->first_banner_seen = false;
		w->loader_banner_seen = false;
	}
	w->weak.cause = WATCHER_CAUSE_NONE;
	w->any_banner_seen = true;
	w->state = next;
}

static bool rule_fits(const struct watcher_rule *rule, const struct watcher *w, const char *text)
{
	if (rule->states && !(rule->states & WATCHER_BIT(w->state)))
		return false;
	return strstr(text, rule->text) && (!rule->also || strstr(text, rule->also));
}

static void take_rule(struct watcher *w, const struct watcher_rule *rule, const char *text)
{
	switch (rule->kind) {
	case WATCHER_RULE_STATE:
		w->state = rule->next;
		w->any_banner_seen = true;
		break;
	case WATCHER_RULE_BANNER:
		take_banner(w, rule->next, text);
		break;
	case WATCHER_RULE_SERIOUS:
		judge(w, rule->cause, text);
		break;
	case WATCHER_RULE_WEAK:
		if (w->weak.cause == WATCHER_CAUSE_NONE)
			note(w, &w->weak, rule->cause, text);
		break;
	case WATCHER_RULE_HARMLESS:
		break;
	}
}

static void take_loader_banner(struct watcher *w, const char *text)
{
	/* The loader's `version` prints it too, right below the typed line. */
	if (!(w->state == WATCHER_STATE_UBOOT_PROMPT && w->last_is_prompt))
		take_banner(w, WATCHER_STATE_UBOOT, text);
	w->loader_banner_seen = true;
}

static void take_first_banner(struct watcher *w, const char *text)
{
	if (w->state < WATCHER_STATE_LINUX || w->state == WATCHER_STATE_BAREMETAL)
		take_banner(w, WATCHER_STATE_BAREMETAL, text);
	w->first_banner_seen = true;
}

static void match_line(struct watcher *w, const char *text)
{
	const struct watcher_rule *rule = watcher_rules;
	bool has_state = false;

	while (rule->text && !rule_fits(rule, w, text))
		rule++;
	if (rule->text) {
		take_rule(w, rule, text);
		has_state = rule->kind == WATCHER_RULE_STATE || rule->kind == WATCHER_RULE_BANNER;
	}
	if (!has_state && w->loader_banner[0] && strstr(text, w->loader_banner))
		take_loader_banner(w, text);
	if (w->first_banner[0] && strstr(text, w->first_banner)) {
		if (has_state)
			w->first_banner_seen = true;
		else
			take_first_banner(w, text);
	}
}

/* Some crashes print for ever, so no silence comes: the same block of lines
 * again and again. */
static void check_repetition(struct watcher *w, const char *text)
{
	uint32_t hash = 2166136261u;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	for (uint32_t back = 1; back <= WATCHER_PERIOD_MAX && back <= w->hash_count; back++) {
		uint32_t *repeats = &w->repeats[back - 1];

		*repeats = w->hashes[(w->hash_count - back) % WATCHER_PERIOD_MAX] == hash
				   ? *repeats + 1
				   : 0;
		if (*repeats == ENDLESS_LINES)
			judge(w, WATCHER_CAUSE_ENDLESS_OUTPUT, text);
	}
	w->hashes[w->hash_count++ % WATCHER_PERIOD_MAX] = hash;
}

/* ---------------------------------------------------------------- lines */

static bool starts_with_prompt(const struct watcher *w)
{
	size_t size = strlen(w->prompt);

	return size && !strncmp(w->line, w->prompt, size);
}

static void cut_end(struct watcher *w)
{
	while (w->line_size && strchr(" \t", w->line[w->line_size - 1]))
		w->line_size--;
	w->line[w->line_size] = '\0';
}

static void end_line(struct watcher *w)
{
	/* What we typed at the loader's prompt is no news about the board. */
	bool is_typed = starts_with_prompt(w) && w->state <= WATCHER_STATE_HANDOFF;

	w->line_number++;
	cut_end(w);
	if (w->line_size && !is_typed) {
		match_line(w, w->line);
		check_repetition(w, w->line);
		memcpy(w->last, w->line, w->line_size + 1);
	}
	w->last_is_prompt = is_typed;
	w->line_size = 0;
	w->line[0] = '\0';
}

static bool ends_with(const struct watcher *w, const char *text)
{
	size_t size = strlen(text);

	return size && w->line_size >= size && !strcmp(w->line + w->line_size - size, text);
}

static void check_loader_prompt(struct watcher *w)
{
	if (w->state == WATCHER_STATE_HANDOFF)
		judge(w, WATCHER_CAUSE_LOADER_FAILED,
			w->weak.cause ? w->weak.text : "the loader is back at its prompt");
	w->state = WATCHER_STATE_UBOOT_PROMPT;
	w->weak.cause = WATCHER_CAUSE_NONE;
}

/* Prompts stand in lines that don't end; looked at after every byte, so that
 * cuts make no difference. */
static void check_prompts(struct watcher *w)
{
	if (w->state <= WATCHER_STATE_HANDOFF) {
		if (w->prompt[0] && !strcmp(w->line, w->prompt) &&
			(w->state == WATCHER_STATE_NONE || w->state >= WATCHER_STATE_UBOOT))
			check_loader_prompt(w);
		return;
	}
	if (w->state != WATCHER_STATE_LINUX && w->state != WATCHER_STATE_USERSPACE)
		return;
	if (ends_with(w, w->shell_prompt))
		w->state = WATCHER_STATE_SHELL;
	for (size_t i = 0; watcher_shell_prompts[i]; i++)
		if (ends_with(w, watcher_shell_prompts[i]))
			w->state = WATCHER_STATE_SHELL;
}

static void add_byte(struct watcher *w, unsigned char byte)
{
	bool is_blank = byte == ' ' || byte == '\t';

	if (is_blank && !w->line_size)
		return;
	w->line[w->line_size++] = byte < 0x20 || byte > 0x7e ? '?' : (char)byte;
	w->line[w->line_size] = '\0';
	check_prompts(w);
	if (w->line_size == WATCHER_LINE_SIZE - 1) {
		uint32_t number = w->line_number;

		end_line(w);
		w->line_number = number;
	}
}

/* True when the byte belongs to an escape sequence. */
static bool take_escape(struct watcher *w, unsigned char byte)
{
	if (byte == 0x1b) {
		w->escape = ESCAPE_BEGUN;
		return true;
	}
	if (w->escape == ESCAPE_NONE)
		return false;
	if (byte == '\n') {
		w->escape = ESCAPE_NONE;
		return false;
	}
	if (w->escape == ESCAPE_BEGUN)
		w->escape = byte == '[' ? ESCAPE_CSI : byte == ']' ? ESCAPE_OSC : ESCAPE_NONE;
	else if (w->escape == ESCAPE_CSI && byte >= 0x40 && byte <= 0x7e)
		w->escape = ESCAPE_NONE;
	else if (w->escape == ESCAPE_OSC && byte == '\a')
		w->escape = ESCAPE_NONE;
	return true;
}

static void take_byte(struct watcher *w, unsigned char byte)
{
	w->bytes++;
	if (take_escape(w, byte))
		return;
	switch (byte) {
	case '\n':
		end_line(w);
		break;
	case '\r':
	case '\a':
	case '\0':
		break;
	case '\b':
		/* The loader's countdown steps back over its digit. */
		if (w->line_size)
			w->line[--w->line_size] = '\0';
		break;
	default:
		if ((byte < 0x20 && byte != '\t') || byte > 0x7e)
			w->unreadable++;
		add_byte(w, byte);
		break;
	}
}

static void check_baud(struct watcher *w)
{
	/* A burst of garbage at power-on is normal; nothing but garbage isn't. */
	if (!w->any_banner_seen && w->bytes >= WRONG_BAUD_BYTES && w->unreadable > w->bytes / 2 &&
		w->verdict.cause == WATCHER_CAUSE_NONE)
		judge(w, WATCHER_CAUSE_WRONG_BAUD, "most bytes are unreadable and no banner came");
}

void watcher_feed(struct watcher *w, uint64_t now_ms, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	if (!size)
		return;
	w->is_started = true;
	w->time_ms = now_ms;
	for (size_t i = 0; i < size; i++) {
		take_byte(w, bytes[i]);
		if (w->bytes == WRONG_BAUD_BYTES_LIVE)
			check_baud(w);
	}
}

void watcher_tick(struct watcher *w, uint64_t now_ms)
{
	uint32_t limit_ms = w->limit_ms[w->state];

	if (!w->is_started || limit_ms == WATCHER_NO_LIMIT || now_ms < w->time_ms ||
		now_ms - w->time_ms < limit_ms || w->verdict.cause != WATCHER_CAUSE_NONE)
		return;
	/* A last line that was cut before its end may tell why. */
	if (w->line_size)
		match_line(w, w->line);
	if (w->verdict.cause != WATCHER_CAUSE_NONE)
		return;
	check_baud(w);
	if (w->weak.cause != WATCHER_CAUSE_NONE)
		w->verdict = w->weak;
	else if (w->verdict.cause == WATCHER_CAUSE_NONE) {
		judge(w, WATCHER_CAUSE_HANG, w->line_size ? w->line : w->last);
		w->verdict.line = 0;
		w->verdict.time_ms = now_ms;
	}
}

/* ---------------------------------------------------------------- answers */

enum watcher_state watcher_state(const struct watcher *w)
{
	return w->state;
}

const struct watcher_verdict *watcher_verdict(const struct watcher *w)
{
	return &w->verdict;
}

bool watcher_has_first_banner(const struct watcher *w)
{
	return w->first_banner_seen;
}

bool watcher_has_loader_banner(const struct watcher *w)
{
	return w->loader_banner_seen;
}

bool watcher_has_any_banner(const struct watcher *w)
{
	return w->any_banner_seen;
}

void watcher_clear_verdict(struct watcher *w)
{
	memset(&w->verdict, 0, sizeof(w->verdict));
	memset(&w->weak, 0, sizeof(w->weak));
	w->reset_states = 0;
}

const char *watcher_state_name(enum watcher_state state)
{
	return watcher_state_names[state];
}

const char *watcher_cause_name(enum watcher_cause cause)
{
	return watcher_cause_names[cause];
}

const char *watcher_match_loader_failure(const char *line)
{
	for (size_t i = 0; watcher_loader_failures[i]; i++)
		if (strstr(line, watcher_loader_failures[i]))
			return watcher_loader_failures[i];
	return NULL;
}
