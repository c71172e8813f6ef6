/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/watcher.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "boardctl/watcher_private.h"

#define ENDLESS_LINES 100u
/* Judged when so many bytes were not enough for a banner, or at a silence. */
#define WRONG_BAUD_BYTES      200u
#define WRONG_BAUD_BYTES_LIVE 4000u
/* A capture may be an excerpt. */
#define WRONG_BAUD_BYTES_FILE 32u
/* Nothing comes behind a prompt for so long: it is one. */
#define WEAK_PROMPT_MS 300u

enum escape {
	ESCAPE_NONE,
	ESCAPE_BEGUN,
	ESCAPE_CSI, /* to a byte 40..7E */
	ESCAPE_OSC, /* to BEL */
};

#define LOADERS                                                                                    \
	(WATCHER_BIT(WATCHER_STATE_SPL) | WATCHER_BIT(WATCHER_STATE_OPENSBI) |                     \
		WATCHER_BIT(WATCHER_STATE_UBOOT) | WATCHER_BIT(WATCHER_STATE_UBOOT_PROMPT))

/* ---------------------------------------------------------------- set-up */

static int copy_string(char *to, const char *from, const char *otherwise)
{
	const char *text = from ? from : otherwise;

	if (strlen(text) >= WATCHER_STRING_SIZE)
		return -EINVAL;
	strcpy(to, text);
	return 0;
}

static void add_prompt_end(struct watcher *w, const char *prompt)
{
	size_t size = strlen(prompt);
	unsigned char last = size ? (unsigned char)prompt[size - 1] : 0;

	if (size > 1 && prompt[size - 2] != '*') {
		watcher_pair_add(w->prompt_ends, (unsigned char)prompt[size - 2], last);
		return;
	}
	if (size)
		w->prompt_lasts[last / 8] |= (uint8_t)(1u << last % 8);
}

int watcher_init(struct watcher *w, const struct watcher_config *config)
{
	const struct watcher_rules *rules = config->rules;

	memset(w, 0, sizeof(*w));
	w->line_number = 1;
	if (!rules)
		return -EINVAL;
	w->rules = rules;
	for (size_t i = 0; i < WATCHER_STATES; i++) {
		uint32_t limit_ms = config->limit_ms[i] ? config->limit_ms[i] : rules->limit_ms[i];

		w->limit_ms[i] = limit_ms ? limit_ms : WATCHER_NO_LIMIT;
	}
	if (copy_string(w->loader_banner, config->loader_banner, "U-Boot 20") ||
		copy_string(w->prompt, config->prompt, "") ||
		copy_string(w->first_banner, config->first_banner, "") ||
		copy_string(w->shell_prompt, config->shell_prompt, "") ||
		copy_string(w->medium, config->medium, ""))
		return -EINVAL;
	for (size_t i = 0; i < rules->prompt_count; i++)
		add_prompt_end(w, rules->prompts[i].text);
	add_prompt_end(w, w->prompt);
	add_prompt_end(w, w->shell_prompt);
	return 0;
}

void watcher_restart(struct watcher *w, uint64_t now_ms)
{
	/* What is configured stands first. */
	memset(&w->state, 0, sizeof(*w) - offsetof(struct watcher, state));
	w->line_number = 1;
	w->is_started = w->is_power_on_known = true;
	w->time_ms = w->power_on_ms = now_ms;
}

/* ---------------------------------------------------------------- repetition */

/* Some crashes print for ever, so no silence comes: the same block of lines
 * again and again. At a shell that is somebody's wish. */
static void check_repetition(struct watcher *w, const char *text)
{
	uint32_t hash = 2166136261u;

	for (const char *c = watcher_skip_prefix(text); *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	for (uint32_t back = 1; back <= WATCHER_PERIOD_MAX && back <= w->hash_count; back++) {
		uint32_t *repeats = &w->repeats[back - 1];

		*repeats = w->hashes[(w->hash_count - back) % WATCHER_PERIOD_MAX] == hash
				   ? *repeats + 1
				   : 0;
		if (*repeats == ENDLESS_LINES && w->state < WATCHER_STATE_LOGIN) {
			watcher_settle_pending(w);
			watcher_warn(w, "endless-output", text);
			if (w->verdict.cause == WATCHER_CAUSE_NONE)
				watcher_judge(w, WATCHER_CAUSE_HANG, text);
		}
	}
	w->hashes[w->hash_count++ % WATCHER_PERIOD_MAX] = hash;
}

/* ---------------------------------------------------------------- prompts */

static void take_loader_prompt(struct watcher *w, const char *text)
{
	if (w->state == WATCHER_STATE_UBOOT && w->pending.cause == WATCHER_CAUSE_LOADER_FAILED)
		watcher_settle_pending(w);
	if (w->state == WATCHER_STATE_HANDOFF) {
		char reason[WATCHER_LINE_SIZE] = "the loader is back at its prompt";

		if (w->pending.cause)
			memcpy(reason, w->pending.text, sizeof(reason));
		watcher_judge(w, WATCHER_CAUSE_LOADER_FAILED, reason);
	}
	watcher_clear_pending(w, false);
	w->is_typed = true;
	watcher_reach(w, WATCHER_STATE_UBOOT_PROMPT, text);
}

static void take_prompt(struct watcher *w, const struct watcher_prompt *prompt, const char *text)
{
	w->weak = NULL;
	w->any_banner_seen = true;
	if (prompt->state == WATCHER_STATE_UBOOT_PROMPT) {
		take_loader_prompt(w, text);
		return;
	}
	if (w->system == WATCHER_STATE_NONE)
		watcher_advance(w, prompt->system, text);
	watcher_clear_pending(w, true);
	w->is_replay = false;
	w->is_at_shell = prompt->state == WATCHER_STATE_SHELL;
	watcher_reach(w, prompt->state, text);
}

static bool is_due(const struct watcher *w, const struct watcher_prompt *prompt)
{
	if (prompt->state == WATCHER_STATE_UBOOT_PROMPT && w->prompt[0])
		return false;
	return prompt->states ? prompt->states & WATCHER_BIT(w->state)
			      : !(LOADERS & WATCHER_BIT(w->state));
}

static const struct watcher_prompt *find_prompt(const struct watcher *w, const char *text)
{
	static const struct watcher_prompt loader = {.state = WATCHER_STATE_UBOOT_PROMPT};
	static const struct watcher_prompt shell = {.state = WATCHER_STATE_SHELL};

	if (w->prompt[0] && !strcmp(text, w->prompt) && w->state <= WATCHER_STATE_HANDOFF &&
		(w->state == WATCHER_STATE_NONE || w->state >= WATCHER_STATE_UBOOT))
		return &loader;
	if (w->state >= WATCHER_STATE_HANDOFF && watcher_ends_with(text, w->shell_prompt))
		return &shell;
	for (size_t i = 0; i < w->rules->prompt_count; i++)
		if (is_due(w, &w->rules->prompts[i]) &&
			watcher_prompt_fits(&w->rules->prompts[i], text))
			return &w->rules->prompts[i];
	return NULL;
}

static bool may_end_prompt(const struct watcher *w)
{
	unsigned char last = (unsigned char)w->line[w->line_size - 1];

	if (w->prompt_lasts[last / 8] & 1u << last % 8)
		return true;
	return w->line_size > 1 &&
	       watcher_pair_is_in(w->prompt_ends, (unsigned char)w->line[w->line_size - 2], last);
}

/* Prompts stand in lines that don't end; looked at after every byte that may
 * end one, so that cuts make no difference. */
static void check_prompts(struct watcher *w)
{
	const struct watcher_prompt *prompt;
	const char *text;

	if (w->is_typed || w->overlap || !may_end_prompt(w))
		return;
	text = watcher_skip_prefix(w->line + w->part);
	prompt = find_prompt(w, text);
	if (!prompt || prompt->state == WATCHER_STATE_NONE)
		return;
	w->prompt_end = w->line_size;
	if (prompt->is_weak)
		w->weak = prompt;
	else
		take_prompt(w, prompt, text);
}

/* Captures lose blanks at the ends of lines, and so at prompts'. */
static void check_cut_prompt(struct watcher *w)
{
	if (!w->line_size || w->line[w->line_size - 1] == ' ' ||
		w->line_size + 1 >= WATCHER_LINE_SIZE)
		return;
	w->line[w->line_size++] = ' ';
	w->line[w->line_size] = '\0';
	check_prompts(w);
	w->line[--w->line_size] = '\0';
	if (w->weak && w->prompt_end > w->line_size)
		w->prompt_end = w->line_size;
}

/* ---------------------------------------------------------------- lines */

static void cut_end(struct watcher *w)
{
	while (w->line_size && strchr(" \t", w->line[w->line_size - 1]))
		w->line_size--;
	w->line[w->line_size] = '\0';
}

/* Whether the line goes on as if somebody typed a command there. */
static void check_typed(struct watcher *w)
{
	const char *typed = w->line + w->prompt_end;

	if (w->weak && (isalnum((unsigned char)*typed) || (*typed && strchr("./_", *typed))))
		take_prompt(w, w->weak, w->line);
	if (w->weak && !typed[strspn(typed, " ")])
		w->last_weak = w->weak;
	w->weak = NULL;
	for (size_t i = 0; w->is_at_shell && i < w->rules->replay_count; i++)
		if (strstr(typed, w->rules->replays[i]))
			w->is_replay = true;
}

static void match_piece(struct watcher *w)
{
	/* What we typed at the loader's prompt is no news about the board. */
	if (w->line_size && !w->is_typed)
		watcher_match_line(w, w->line);
}

static void clear_line(struct watcher *w)
{
	w->line_size = w->part = w->overlap = 0;
	w->line[0] = '\0';
	memset(w->pairs, 0, sizeof(w->pairs));
	w->is_typed = w->is_at_shell = false;
	w->weak = NULL;
	w->prompt_end = 0;
}

static void end_line(struct watcher *w)
{
	bool is_typed;

	check_cut_prompt(w);
	if (w->line_size)
		w->last_weak = NULL;
	if (w->prompt_end)
		check_typed(w);
	is_typed = w->is_typed;
	cut_end(w);
	match_piece(w);
	if (w->line_size && !is_typed) {
		check_repetition(w, w->line);
		memcpy(w->last, w->line, w->line_size + 1);
	}
	w->last_is_typed = is_typed;
	clear_line(w);
	w->line_number++;
}

/* The line is longer than there is room: its end may be the beginning of a text. */
static void end_piece(struct watcher *w)
{
	size_t keep = WATCHER_TEXT_MAX;

	match_piece(w);
	memmove(w->line, w->line + w->line_size - keep, keep + 1);
	w->line_size = w->overlap = keep;
	w->part = 0;
	memset(w->pairs, 0, sizeof(w->pairs));
	for (size_t i = 1; i < keep; i++)
		watcher_pair_add(
			w->pairs, (unsigned char)w->line[i - 1], (unsigned char)w->line[i]);
}

static void add_byte(struct watcher *w, unsigned char byte)
{
	bool is_blank = byte == ' ' || byte == '\t';

	if (is_blank && !w->line_size)
		return;
	if (w->has_cr)
		w->part = w->line_size;
	if (byte < 0x20 || byte > 0x7e)
		byte = is_blank ? ' ' : '?';
	w->line[w->line_size++] = (char)byte;
	w->line[w->line_size] = '\0';
	if (w->line_size > 1)
		watcher_pair_add(w->pairs, (unsigned char)w->line[w->line_size - 2], byte);
	check_prompts(w);
	if (w->line_size == WATCHER_LINE_SIZE - 1)
		end_piece(w);
}

/* The loader's countdown steps back over its digit. */
static void step_back(struct watcher *w)
{
	if (!w->line_size)
		return;
	w->line[--w->line_size] = '\0';
	if (w->part > w->line_size)
		w->part = w->line_size;
	if (w->overlap > w->line_size)
		w->overlap = w->line_size;
	if (w->prompt_end > w->line_size)
		w->prompt_end = w->line_size;
}

/* ---------------------------------------------------------------- bytes */

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
	if ((byte < 0x20 && !strchr("\t\n\r\b\a\x1b", byte)) || byte > 0x7e)
		w->unreadable++;
	if (take_escape(w, byte))
		return;
	switch (byte) {
	case '\n':
		end_line(w);
		break;
	case '\r':
		w->has_cr = true;
		return;
	case '\a':
		return;
	case '\0':
		/* A line without power gives them too. */
		w->nuls++;
		return;
	case '\b':
		step_back(w);
		break;
	default:
		add_byte(w, byte);
		break;
	}
	w->has_cr = false;
}

static void check_baud(struct watcher *w, uint64_t least)
{
	uint64_t count = w->bytes - w->nuls;

	/* A burst of garbage at power-on is normal; nothing but garbage isn't. */
	if (!w->any_banner_seen && count >= least && w->unreadable > count / 2 &&
		w->verdict.cause == WATCHER_CAUSE_NONE)
		watcher_judge(w, WATCHER_CAUSE_WRONG_BAUD,
			"most bytes are unreadable and no banner came");
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
			check_baud(w, WRONG_BAUD_BYTES);
	}
}

/* ---------------------------------------------------------------- ends */

/* The prompt that may be there is the last that was printed. */
static void believe_prompt(struct watcher *w)
{
	if (w->weak && w->prompt_end == w->line_size)
		take_prompt(w, w->weak, w->line);
	else if (w->last_weak && !w->line_size)
		take_prompt(w, w->last_weak, w->last);
	w->last_weak = NULL;
}

/* A last line that was cut before its end may tell why. */
static void judge_rest(struct watcher *w)
{
	check_cut_prompt(w);
	believe_prompt(w);
	match_piece(w);
	/* It may still look elsewhere. */
	if (w->pending.cause == WATCHER_CAUSE_NONE)
		watcher_check_medium(w);
}

void watcher_tick(struct watcher *w, uint64_t now_ms)
{
	uint32_t limit_ms = w->limit_ms[w->state];

	if (!w->is_started || now_ms < w->time_ms)
		return;
	if (now_ms - w->time_ms >= WEAK_PROMPT_MS)
		believe_prompt(w);
	if (limit_ms == WATCHER_NO_LIMIT || now_ms - w->time_ms < limit_ms ||
		w->verdict.cause != WATCHER_CAUSE_NONE)
		return;
	judge_rest(w);
	if (w->verdict.cause != WATCHER_CAUSE_NONE || w->state >= WATCHER_STATE_LOGIN)
		return;
	check_baud(w, WRONG_BAUD_BYTES);
	watcher_settle_pending(w);
	if (w->verdict.cause == WATCHER_CAUSE_NONE) {
		watcher_judge(w, WATCHER_CAUSE_HANG, w->line_size ? w->line : w->last);
		w->verdict.line = 0;
		w->verdict.time_ms = now_ms;
	}
}

void watcher_finish(struct watcher *w)
{
	judge_rest(w);
	check_baud(w, WRONG_BAUD_BYTES_FILE);
	watcher_settle_pending(w);
	/* People keep what they have waited for: a system that was started and said nothing. */
	if (w->state == WATCHER_STATE_HANDOFF && w->verdict.cause == WATCHER_CAUSE_NONE) {
		w->verdict = w->reached;
		w->verdict.cause = WATCHER_CAUSE_HANG;
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

const struct watcher_verdict *watcher_conclude(struct watcher *w)
{
	bool is_usable = w->state >= WATCHER_STATE_LOGIN;

	if (w->verdict.cause == WATCHER_CAUSE_OOPS && is_usable)
		watcher_warn(w, "tainted", w->verdict.text);
	if (w->verdict.cause != WATCHER_CAUSE_NONE)
		return &w->verdict;
	w->reached.cause = w->state == WATCHER_STATE_SHELL   ? WATCHER_CAUSE_SHELL
			   : w->state == WATCHER_STATE_LOGIN ? WATCHER_CAUSE_LOGIN
							     : WATCHER_CAUSE_BOOTING;
	return &w->reached;
}

size_t watcher_get_steps(const struct watcher *w, const struct watcher_step **steps)
{
	*steps = w->steps;
	return w->step_count < WATCHER_STEPS_MAX ? w->step_count : WATCHER_STEPS_MAX;
}

size_t watcher_get_warnings(const struct watcher *w, const struct watcher_warning **warnings)
{
	*warnings = w->warnings;
	return w->warning_count < WATCHER_WARNINGS_MAX ? w->warning_count : WATCHER_WARNINGS_MAX;
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
	memset(&w->pending, 0, sizeof(w->pending));
	w->is_reset_announced = false;
	w->reset_states = 0;
}
