/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/loader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/dialogue.h"
#include "boardctl/monotonic.h"

#define DEFAULT_INTERRUPT_MS 50u
#define DEFAULT_COMMAND_MS   30000u
#define DEFAULT_ECHO_MS	     1000u
#define DEFAULT_RETRIES	     5u
#define COMMAND_SIZE	     1000u
#define CRC_TRIES	     3u
/* Longer than the loader pauses between two lines of one answer. */
#define PROMPT_QUIET_MS 200u

struct loader {
	struct dialogue d;
	char *prompt;
	char *output; /* of the last command; text of d is reused by typing */
	bool knows_status;
	uint32_t nonce;
};

/* ---------------------------------------------------------------- set-up */

static void complete_config(struct loader_config *config)
{
	if (!config->interrupt_size) {
		config->interrupt[0] = ' ';
		config->interrupt_size = 1;
	}
	if (!config->interrupt_ms)
		config->interrupt_ms = DEFAULT_INTERRUPT_MS;
	if (!config->command_ms)
		config->command_ms = DEFAULT_COMMAND_MS;
	if (!config->echo_ms)
		config->echo_ms = DEFAULT_ECHO_MS;
	if (!config->retries)
		config->retries = DEFAULT_RETRIES;
}

int loader_new(struct loader **out, struct link *link, struct watcher *watcher,
	const struct loader_config *config)
{
	struct loader *loader = calloc(1, sizeof(*loader));

	*out = loader;
	if (!loader)
		return -ENOMEM;
	loader->prompt = strdup(config->prompt ? config->prompt : "=> ");
	loader->d.text = calloc(1, DIALOGUE_TEXT_SIZE);
	loader->output = calloc(1, DIALOGUE_TEXT_SIZE);
	if (!loader->prompt || !loader->d.text || !loader->output)
		return fail_format(
			loader->d.error, sizeof(loader->d.error), -ENOMEM, "out of memory");
	loader->d.link = link;
	loader->d.watcher = watcher;
	loader->d.config = *config;
	loader->d.config.prompt = loader->prompt;
	loader->nonce = (uint32_t)monotonic_get_us();
	complete_config(&loader->d.config);
	if (!loader->prompt[0] || loader->d.config.interrupt_size > sizeof(config->interrupt))
		return fail_format(loader->d.error, sizeof(loader->d.error), -EINVAL,
			"the loader's prompt must not be empty, its interrupt at most %zu bytes",
			sizeof(config->interrupt));
	return 0;
}

void loader_free(struct loader *loader)
{
	if (!loader)
		return;
	free(loader->prompt);
	free(loader->d.text);
	free(loader->output);
	free(loader);
}

const char *loader_error(const struct loader *loader)
{
	return loader ? loader->d.error : "out of memory";
}

/* ---------------------------------------------------------------- commands */

/* The nonce is typed as two halves that the loader joins, so that an echo
 * can't be taken for the output. */
struct marker {
	char typed[32];	  /* 1a2b""3c4d */
	char printed[16]; /* 1a2b3c4d */
};

static struct marker new_marker(struct loader *loader)
{
	struct marker marker;
	uint32_t n;

	loader->nonce = loader->nonce * 1664525u + 1013904223u;
	n = loader->nonce;
	snprintf(marker.typed, sizeof(marker.typed), "%04x\"\"%04x", n >> 16, n & 0xffffu);
	snprintf(marker.printed, sizeof(marker.printed), "%04x%04x", n >> 16, n & 0xffffu);
	return marker;
}

/* The marker's line "1a2b3c4d=0=0", where it begins; NULL = not there, or not
 * whole. The status comes twice, since noise turns one digit into another. */
static char *find_marker(const struct loader *loader, const struct marker *marker, int *status)
{
	char *at = loader->d.text;

	while ((at = strstr(at, marker->printed))) {
		char end = '\0';
		int again = -1;

		if (sscanf(at + strlen(marker->printed), "=%d=%d%c", status, &again, &end) == 3 &&
			end == '\n' && *status == again)
			return at;
		at++;
	}
	return NULL;
}

/* hush's second prompt: an `if` or a quote isn't closed. */
static bool wants_more(const struct dialogue *d)
{
	return !strcmp(d->text, "> ") || (d->used > 3 && !strcmp(d->text + d->used - 3, "\n> "));
}

/*
 * After CR: until the prompt, as text ending in it, with the marker before it
 * if there is to be one. 0 complete; -EPROTO the end is damaged.
 */
static int wait_end(
	struct loader *loader, const struct marker *marker, unsigned timeout_ms, int *status)
{
	struct dialogue *d = &loader->d;
	uint64_t deadline_us = monotonic_get_us() + timeout_ms * UINT64_C(1000);

	for (;;) {
		uint64_t now_us = monotonic_get_us();
		int ret;

		if (now_us >= deadline_us)
			return fail_format(d->error, sizeof(d->error), -ETIMEDOUT,
				"no end within %u ms; last line: \"%.80s\"", timeout_ms,
				d->watcher->last);
		if (dialogue_is_at_prompt(d) && marker && find_marker(loader, marker, status))
			return 0;
		ret = dialogue_receive(d, PROMPT_QUIET_MS, SIZE_MAX);
		if (ret < 0)
			return ret;
		if (ret)
			continue;
		/* Quiet: the prompt is the end, also without its marker. */
		if (marker && find_marker(loader, marker, status))
			return 0;
		if (wants_more(d))
			return fail_format(d->error, sizeof(d->error), -EINVAL,
				"the loader waits for the rest of it; the command is incomplete");
		if (dialogue_is_at_prompt(d))
			return marker ? fail_format(d->error, sizeof(d->error), -EPROTO,
						"the end of the output is damaged")
				      : 0;
	}
}

/* Back to an empty prompt, with the text kept; error says no more than before
 * unless that fails. */
static int leave_line(struct loader *loader)
{
	struct dialogue *d = &loader->d;
	char error[FAIL_TEXT_SIZE];
	int ret;

	memcpy(loader->output, d->text, d->used + 1);
	memcpy(error, d->error, sizeof(error));
	ret = dialogue_cancel(d);
	if (!ret)
		memcpy(d->error, error, sizeof(error));
	d->used = strlen(loader->output);
	memcpy(d->text, loader->output, d->used + 1);
	return ret;
}

/* Type and run a line, typing it anew while its echo or its end is damaged. */
static int run_line(struct loader *loader, const char *line, const struct marker *marker,
	unsigned timeout_ms, int *status)
{
	struct dialogue *d = &loader->d;
	int ret = -EPROTO;

	for (unsigned i = 0; ret == -EPROTO && i <= d->config.retries; i++) {
		if (i) {
			int back = dialogue_cancel(d);

			if (back)
				return back;
		}
		ret = dialogue_type(d, line);
		if (!ret)
			ret = dialogue_enter(d);
		if (!ret)
			ret = wait_end(loader, marker, timeout_ms, status);
		/* Refused as a whole: no marker comes, and trying again is vain. */
		if (ret == -EPROTO && strstr(d->text, "syntax error"))
			return 0;
	}
	if (ret == -ETIMEDOUT || ret == -EINVAL)
		leave_line(loader);
	else if (!ret && !dialogue_is_at_prompt(d))
		/* The marker came, the prompt was damaged. */
		ret = leave_line(loader);
	return ret;
}

/* The output alone: without the marker's line and the prompt. */
static void cut_output(struct loader *loader, const struct marker *marker)
{
	struct dialogue *d = &loader->d;
	int status;
	char *end = marker ? find_marker(loader, marker, &status) : NULL;

	if (!end && dialogue_is_at_prompt(d))
		end = d->text + d->used - strlen(d->config.prompt);
	if (end) {
		*end = '\0';
		d->used = (size_t)(end - d->text);
	}
	memcpy(loader->output, d->text, d->used + 1);
}

/* The line that tells why a command failed: the first known one, else the last. */
static void find_reason(
	const struct watcher_rules *rules, const char *output, char *reason, size_t size)
{
	snprintf(reason, size, "it printed nothing");
	while (*output) {
		size_t line_size = strcspn(output, "\n");
		char line[160];

		snprintf(line, sizeof(line), "%.*s", (int)line_size, output);
		if (line[strspn(line, " ")])
			snprintf(reason, size, "%s", line);
		if (watcher_match_loader_failure(rules, line))
			return;
		output += line_size;
		output += *output == '\n';
	}
}

static int check_command(struct loader *loader, const char *command)
{
	size_t size = strlen(command);

	for (size_t i = 0; i < size; i++)
		if ((unsigned char)command[i] < 0x20 || (unsigned char)command[i] > 0x7e)
			return fail_format(loader->d.error, sizeof(loader->d.error), -EINVAL,
				"loader command \"%s\" has a byte that cannot be typed", command);
	if (size && size <= COMMAND_SIZE)
		return 0;
	return fail_format(loader->d.error, sizeof(loader->d.error), -EINVAL,
		"a loader command has 1 to %u characters, not %zu", COMMAND_SIZE, size);
}

static int say_command(struct loader *loader, int ret, const char *command)
{
	char why[FAIL_TEXT_SIZE];

	memcpy(why, loader->d.error, sizeof(why));
	return fail_format(loader->d.error, sizeof(loader->d.error), ret,
		"loader command \"%s\": %s", command, why);
}

int loader_run(
	struct loader *loader, const char *command, char *output, size_t size, unsigned timeout_ms)
{
	char line[COMMAND_SIZE + 64], reason[160];
	struct marker marker = new_marker(loader);
	const struct marker *end = loader->knows_status ? &marker : NULL;
	const struct watcher_rules *rules = loader->d.watcher->rules;
	int status = -1, ret = check_command(loader, command);

	if (output && size)
		output[0] = '\0';
	if (ret)
		return ret;
	snprintf(line, sizeof(line), "%s%s%s%s", command, end ? "; echo " : "",
		end ? marker.typed : "", end ? "=$?=$?" : "");
	ret = run_line(
		loader, line, end, timeout_ms ? timeout_ms : loader->d.config.command_ms, &status);
	if (ret)
		return say_command(loader, ret, command);
	cut_output(loader, end);
	if (output && size)
		snprintf(output, size, "%s", loader->output);
	find_reason(rules, loader->output, reason, sizeof(reason));
	if (end ? !status : !watcher_match_loader_failure(rules, reason)) {
		/* The status knows better than words that were on the way. */
		if (watcher_verdict(loader->d.watcher)->cause == WATCHER_CAUSE_LOADER_FAILED)
			watcher_clear_verdict(loader->d.watcher);
		return 0;
	}
	fail_format(
		loader->d.error, sizeof(loader->d.error), -EIO, "%s (status %d)", reason, status);
	return say_command(loader, -EIO, command);
}

int loader_crc32(struct loader *loader, const char *address, uint64_t size, uint32_t *crc)
{
	char command[COMMAND_SIZE + 1], output[512];

	*crc = 0;
	snprintf(command, sizeof(command), "crc32 %s %" PRIx64, address, size);
	for (unsigned i = 0; i <= loader->d.config.retries; i++) {
		int ret = loader_run(loader, command, output, sizeof(output), 0);
		const char *value;
		int end = 0;

		if (ret)
			return ret;
		value = strstr(output, "==> ");
		if (value && sscanf(value, "==> %8" SCNx32 "%n", crc, &end) == 1 && end == 12)
			return 0;
	}
	fail_format(loader->d.error, sizeof(loader->d.error), -EPROTO,
		"no sum in its answer: \"%.100s\"", output);
	return say_command(loader, -EPROTO, command);
}

int loader_check_crc32(struct loader *loader, const char *address, uint64_t size, uint32_t expected)
{
	uint32_t crc = 0;

	for (unsigned i = 0; i < CRC_TRIES; i++) {
		int ret = loader_crc32(loader, address, size, &crc);

		if (ret)
			return ret;
		if (crc == expected)
			return 0;
	}
	return fail_format(loader->d.error, sizeof(loader->d.error), -EBADMSG,
		"memory at %s, %" PRIu64 " bytes, has the CRC-32 %08" PRIx32 ", not %08" PRIx32
		": what was loaded is not what was written",
		address, size, crc, expected);
}

int loader_boot(struct loader *loader, const char *command)
{
	struct dialogue *d = &loader->d;
	int ret = check_command(loader, command);

	if (ret)
		return ret;
	for (unsigned i = 0; i <= d->config.retries; i++) {
		ret = i ? dialogue_cancel(d) : 0;
		if (!ret)
			ret = dialogue_type(d, command);
		if (!ret)
			ret = dialogue_enter(d);
		if (ret != -EPROTO)
			break;
	}
	return ret ? say_command(loader, ret, command) : 0;
}

/* ---------------------------------------------------------------- prompt */

static bool may_send(const struct dialogue *d)
{
	return watcher_has_loader_banner(d->watcher) ||
	       watcher_state(d->watcher) == WATCHER_STATE_UBOOT_PROMPT ||
	       strstr(d->text, "stop autoboot");
}

static int say_no_prompt(struct dialogue *d, unsigned timeout_ms)
{
	if (!watcher_has_any_banner(d->watcher))
		return fail_format(d->error, sizeof(d->error), -ENODATA,
			"no banner of firmware or loader within %u ms after power-on (%" PRIu64
			" bytes came); check the board's power, the console's wiring and rate, and "
			"the card",
			timeout_ms, d->watcher->bytes);
	return fail_format(d->error, sizeof(d->error), -ETIMEDOUT,
		"no prompt \"%s\" of the loader within %u ms; it got as far as %s; last line: "
		"\"%.80s\"",
		d->config.prompt, timeout_ms, watcher_state_name(watcher_state(d->watcher)),
		d->watcher->last);
}

/* Until the prompt shows; presses the key from the loader's banner on. */
static int stop_autoboot(struct dialogue *d, unsigned timeout_ms, uint64_t deadline_us)
{
	uint64_t next_us = 0;

	while (watcher_state(d->watcher) != WATCHER_STATE_UBOOT_PROMPT) {
		uint64_t now_us = monotonic_get_us();
		int ret;

		if (now_us >= deadline_us)
			return say_no_prompt(d, timeout_ms);
		if (may_send(d) && now_us >= next_us) {
			ret = dialogue_send(d, d->config.interrupt, d->config.interrupt_size);
			if (ret)
				return ret;
			next_us = now_us + d->config.interrupt_ms * UINT64_C(1000);
		}
		ret = dialogue_receive(d, d->config.interrupt_ms / 4u + 1u, SIZE_MAX);
		/* Contacts bounce: until something was sent, beginning again is no harm. */
		if (ret == -ECONNRESET && next_us == 0 &&
			watcher_verdict(d->watcher)->cause == WATCHER_CAUSE_RESET) {
			d->resets_before = d->watcher->resets;
			watcher_clear_verdict(d->watcher);
			ret = 0;
		}
		if (ret < 0)
			return ret;
		watcher_tick(d->watcher, monotonic_get_ms());
	}
	return 0;
}

/* A nonce in a command's output; at the same time learns whether $? is known. */
static int prove_prompt(struct loader *loader)
{
	struct dialogue *d = &loader->d;
	int ret = -EPROTO;

	loader->knows_status = false;
	for (unsigned i = 0; i <= d->config.retries; i++) {
		struct marker marker = new_marker(loader);
		char line[64];
		int status = -1;

		ret = dialogue_cancel(d);
		if (ret)
			return ret;
		snprintf(line, sizeof(line), "echo %s=$?=$?", marker.typed);
		ret = dialogue_type(d, line);
		if (!ret)
			ret = dialogue_enter(d);
		if (!ret)
			ret = wait_end(loader, NULL, d->config.echo_ms, &status);
		if (!ret && find_marker(loader, &marker, &status)) {
			loader->knows_status = true;
			return 0;
		}
		/* A loader without quotes and $? prints what was typed, and no echo
		 * begins a line so. */
		if (!ret && !strncmp(d->text, marker.typed, strlen(marker.typed)))
			return 0;
		if (ret && ret != -EPROTO && ret != -ETIMEDOUT)
			return ret;
	}
	return fail_format(d->error, sizeof(d->error), -EPROTO,
		"a prompt \"%s\" is there, but no nonce came back from it in %u tries; the line may "
		"be noisy or work in one direction only",
		d->config.prompt, d->config.retries + 1u);
}

int loader_wait_prompt(struct loader *loader, unsigned timeout_ms)
{
	struct dialogue *d = &loader->d;
	uint64_t deadline_us = monotonic_get_us() + timeout_ms * UINT64_C(1000);
	int ret;

	dialogue_forget(d);
	d->resets_before = d->watcher->resets;
	ret = stop_autoboot(d, timeout_ms, deadline_us);
	return ret ? ret : prove_prompt(loader);
}
