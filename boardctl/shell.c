/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/shell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/fail.h"
#include "boardctl/monotonic.h"

#define DEFAULT_QUIET_MS   2000u
#define DEFAULT_ECHO_MS	   1000u
#define DEFAULT_COMMAND_MS 3000u
#define DEFAULT_RETRIES	   5u
#define TEXT_SIZE	   8192u
#define PIECE_SIZE	   8u
#define LOOK_MS		   50u
#define SETTLE_MS	   200u
#define LOGINS_MAX	   3u

struct shell {
	struct link *link;
	struct watcher *watcher;
	struct shell_config config; /* complete; strings are own memory */
	char text[TEXT_SIZE];	    /* received, without CR, NUL and ESC sequences; ended by 0 */
	size_t used;
	int escape;
	unsigned logins;
	uint32_t nonce;
	char error[FAIL_TEXT_SIZE];
};

/* ---------------------------------------------------------------- set-up */

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

int shell_new(struct shell **out, struct link *link, struct watcher *watcher,
	const struct shell_config *config)
{
	struct shell *shell = calloc(1, sizeof(*shell));

	*out = shell;
	if (!shell)
		return -ENOMEM;
	shell->link = link;
	shell->watcher = watcher;
	shell->nonce = (uint32_t)monotonic_get_us();
	shell->config = *config;
	shell->config.prompt = copy(config->prompt);
	shell->config.user = copy(config->user);
	shell->config.password = copy(config->password);
	if (!shell->config.quiet_ms)
		shell->config.quiet_ms = DEFAULT_QUIET_MS;
	if (!shell->config.echo_ms)
		shell->config.echo_ms = DEFAULT_ECHO_MS;
	if (!shell->config.command_ms)
		shell->config.command_ms = DEFAULT_COMMAND_MS;
	if (!shell->config.retries)
		shell->config.retries = DEFAULT_RETRIES;
	if ((config->user && !shell->config.user) || (config->password && !shell->config.password))
		return fail_format(shell->error, sizeof(shell->error), -ENOMEM, "out of memory");
	if (!shell->config.prompt || !shell->config.prompt[0])
		return fail_format(shell->error, sizeof(shell->error), -EINVAL,
			"the shell's prompt must not be empty");
	return 0;
}

void shell_free(struct shell *shell)
{
	if (!shell)
		return;
	free((char *)shell->config.prompt);
	free((char *)shell->config.user);
	free((char *)shell->config.password);
	free(shell);
}

const char *shell_error(const struct shell *shell)
{
	return shell ? shell->error : "out of memory";
}

/* ---------------------------------------------------------------- receiving */

static void forget(struct shell *shell)
{
	shell->used = 0;
	shell->text[0] = '\0';
}

/* True when the byte is part of an escape sequence, which a terminal would not show. */
static bool is_hidden(struct shell *shell, char byte)
{
	int state = shell->escape;

	if (byte == '\x1b')
		shell->escape = 1;
	else if (state == 1)
		shell->escape = byte == '[' ? 2 : 0;
	else if (state == 2 && byte >= '@' && byte <= '~')
		shell->escape = 0;
	return byte == '\x1b' || state != 0;
}

static void append(struct shell *shell, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (is_hidden(shell, bytes[i]) || bytes[i] == '\r' || bytes[i] == '\0')
			continue;
		if (shell->used == TEXT_SIZE - 1) {
			/* Ends matter more than beginnings. */
			shell->used = TEXT_SIZE / 2;
			memmove(shell->text, shell->text + TEXT_SIZE / 2 - 1, shell->used);
		}
		shell->text[shell->used++] = bytes[i];
	}
	shell->text[shell->used] = '\0';
}

/* 1 something came, 0 nothing within wait_ms, or the link's error. */
static int receive(struct shell *shell, unsigned wait_ms)
{
	char bytes[512];
	ssize_t got = link_read(shell->link, bytes, sizeof(bytes), wait_ms);

	if (got < 0)
		return fail_format(shell->error, sizeof(shell->error), (int)got, "%s",
			link_error(shell->link));
	if (got == 0)
		return 0;
	watcher_feed(shell->watcher, monotonic_get_ms(), bytes, (size_t)got);
	append(shell, bytes, (size_t)got);
	return 1;
}

static int send(struct shell *shell, const char *bytes, size_t size)
{
	int ret = link_write(shell->link, bytes, size);

	return ret ? fail_format(
			     shell->error, sizeof(shell->error), ret, "%s", link_error(shell->link))
		   : 0;
}

static bool ends_with(const struct shell *shell, const char *end)
{
	size_t size = strlen(end);

	return shell->used >= size && !memcmp(shell->text + shell->used - size, end, size);
}

static bool is_at_prompt(const struct shell *shell)
{
	size_t size = strlen(shell->config.prompt);

	if (!ends_with(shell, shell->config.prompt))
		return false;
	return shell->used == size || shell->text[shell->used - size - 1] == '\n';
}

/* Until nothing came for SETTLE_MS; a system that never stops talking is not waited for. */
static int settle(struct shell *shell)
{
	int ret = 1;

	for (unsigned i = 0; ret > 0 && i < 10; i++)
		ret = receive(shell, SETTLE_MS);
	return ret < 0 ? ret : 0;
}

/* ---------------------------------------------------------------- typing */

static int wait_echo(struct shell *shell, size_t mark, const char *piece, size_t size)
{
	uint64_t deadline_us = monotonic_get_us() + shell->config.echo_ms * UINT64_C(1000);

	for (;;) {
		size_t have = shell->used > mark ? shell->used - mark : 0;
		int ret;

		if (have > size || memcmp(shell->text + mark, piece, have))
			return fail_format(shell->error, sizeof(shell->error), -EPROTO,
				"typed \"%.*s\" and the shell's echo is \"%.40s\"", (int)size,
				piece, shell->text + mark);
		if (have == size)
			return 0;
		if (monotonic_get_us() >= deadline_us)
			return fail_format(shell->error, sizeof(shell->error), -EPROTO,
				"typed \"%.*s\" and got only the echo \"%.40s\" within %u ms",
				(int)size, piece, shell->text + mark, shell->config.echo_ms);
		ret = receive(shell, LOOK_MS);
		if (ret < 0)
			return ret;
	}
}

/* At an empty line, without its end. */
static int type_line(struct shell *shell, const char *line)
{
	size_t left = strlen(line);

	forget(shell);
	while (left) {
		size_t size = left < PIECE_SIZE ? left : PIECE_SIZE;
		size_t mark = shell->used;
		int ret = send(shell, line, size);

		if (!ret)
			ret = wait_echo(shell, mark, line, size);
		if (ret)
			return ret;
		line += size;
		left -= size;
	}
	return 0;
}

/* An end for whatever stands in the line, and the prompt after it. */
static int renew_prompt(struct shell *shell)
{
	uint64_t deadline_us = monotonic_get_us() + shell->config.command_ms * UINT64_C(1000);
	int ret = settle(shell);

	forget(shell);
	if (!ret)
		ret = send(shell, "\r", 1);
	while (ret >= 0 && monotonic_get_us() < deadline_us) {
		ret = receive(shell, LOOK_MS);
		if (!ret && is_at_prompt(shell))
			return 0;
	}
	return ret < 0 ? ret
		       : fail_format(shell->error, sizeof(shell->error), -ETIMEDOUT,
				 "the shell does not come back to its prompt \"%s\"; it said "
				 "\"%.80s\"",
				 shell->config.prompt, shell->text);
}

static int check_line(struct shell *shell, const char *line)
{
	size_t size = strlen(line);

	for (size_t i = 0; i < size; i++)
		if ((unsigned char)line[i] < 0x20 || (unsigned char)line[i] > 0x7e)
			return fail_format(shell->error, sizeof(shell->error), -EINVAL,
				"the line \"%s\" has a byte that cannot be typed", line);
	if (size && size <= SHELL_LINE_MAX)
		return 0;
	return fail_format(shell->error, sizeof(shell->error), -EINVAL,
		"a line for a shell has 1 to %d characters, not %zu", SHELL_LINE_MAX, size);
}

/* ---------------------------------------------------------------- prompt */

/* The nonce stands alone in a line: an echo stands behind "echo ". */
static bool has_line(const struct shell *shell, const char *line)
{
	size_t size = strlen(line);
	const char *at = shell->text;

	while ((at = strstr(at, line))) {
		if ((at == shell->text || at[-1] == '\n') && at[size] == '\n')
			return true;
		at++;
	}
	return false;
}

static int ask_nonce(struct shell *shell)
{
	char nonce[16], line[32];
	uint64_t deadline_us;
	int ret;

	shell->nonce = shell->nonce * 1664525u + 1013904223u;
	snprintf(nonce, sizeof(nonce), "%08" PRIx32, shell->nonce);
	snprintf(line, sizeof(line), "echo %s", nonce);
	ret = type_line(shell, line);
	forget(shell);
	if (!ret)
		ret = send(shell, "\r", 1);
	deadline_us = monotonic_get_us() + shell->config.command_ms * UINT64_C(1000);
	while (ret >= 0 && monotonic_get_us() < deadline_us) {
		ret = receive(shell, LOOK_MS);
		if (!ret && has_line(shell, nonce) && is_at_prompt(shell))
			return 0;
	}
	return ret < 0 ? ret
		       : fail_format(shell->error, sizeof(shell->error), -EPROTO,
				 "\"%s\" did not come back from the shell: \"%.80s\"", line,
				 shell->text);
}

static int prove_prompt(struct shell *shell)
{
	char why[FAIL_TEXT_SIZE];
	int ret = -EPROTO;

	for (unsigned i = 0; i <= shell->config.retries; i++) {
		ret = i ? renew_prompt(shell) : settle(shell);
		if (!ret)
			ret = ask_nonce(shell);
		if (ret != -EPROTO && ret != -ETIMEDOUT)
			return ret;
	}
	memcpy(why, shell->error, sizeof(why));
	return fail_format(shell->error, sizeof(shell->error), -EPROTO,
		"a prompt \"%s\" is there, but does not answer: %s", shell->config.prompt, why);
}

/* A question for the name or the password; the answer to the latter has no echo. */
static int answer_login(struct shell *shell)
{
	bool is_name = ends_with(shell, "login: ");
	const char *answer = is_name ? shell->config.user : shell->config.password;
	int ret;

	if (!shell->config.user)
		return fail_format(shell->error, sizeof(shell->error), -EACCES,
			"the system asks for a login; the manifest has none");
	if (is_name && shell->logins++ == LOGINS_MAX)
		return fail_format(shell->error, sizeof(shell->error), -EACCES,
			"the login of \"%s\" was refused %u times", shell->config.user, LOGINS_MAX);
	ret = settle(shell);
	if (!ret && !is_name)
		forget(shell);
	if (!ret && answer)
		ret = is_name ? type_line(shell, answer) : send(shell, answer, strlen(answer));
	if (!ret || ret == -EPROTO) {
		forget(shell);
		ret = send(shell, "\r", 1);
	}
	return ret;
}

static int say_no_prompt(struct shell *shell, unsigned timeout_ms)
{
	return fail_format(shell->error, sizeof(shell->error), -ETIMEDOUT,
		"no prompt \"%s\" of the shell within %u ms; last state %s, last line \"%.80s\"",
		shell->config.prompt, timeout_ms, watcher_state_name(watcher_state(shell->watcher)),
		shell->watcher->last);
}

int shell_wait_prompt(struct shell *shell, unsigned timeout_ms)
{
	uint64_t now_us = monotonic_get_us();
	uint64_t deadline_us = now_us + timeout_ms * UINT64_C(1000);
	uint64_t quiet_us = now_us;

	forget(shell);
	while (!is_at_prompt(shell)) {
		int ret = receive(shell, LOOK_MS);

		now_us = monotonic_get_us();
		if (ret < 0)
			return ret;
		if (now_us >= deadline_us)
			return say_no_prompt(shell, timeout_ms);
		if (ret > 0) {
			quiet_us = now_us;
		} else if (ends_with(shell, "login: ") || ends_with(shell, "assword: ")) {
			ret = answer_login(shell);
		} else if (now_us - quiet_us >= shell->config.quiet_ms * UINT64_C(1000) &&
			   watcher_state(shell->watcher) > WATCHER_STATE_HANDOFF) {
			ret = send(shell, "\r", 1);
			quiet_us = now_us;
		}
		if (ret < 0)
			return ret;
	}
	return prove_prompt(shell);
}

/* Typed and its echo proven, without its end. */
static int type_proven(struct shell *shell, const char *line)
{
	int ret = check_line(shell, line);

	if (ret)
		return ret;
	for (unsigned i = 0; i <= shell->config.retries; i++) {
		ret = i ? renew_prompt(shell) : 0;
		if (!ret)
			ret = type_line(shell, line);
		if (ret != -EPROTO)
			break;
	}
	forget(shell);
	return ret;
}

int shell_start(struct shell *shell, const char *line)
{
	int ret = type_proven(shell, line);

	return ret ? ret : send(shell, "\r", 1);
}

/* ---------------------------------------------------------------- results */

/* What is between the echo's end and the prompt. */
static void take_output(const struct shell *shell, char *output, size_t size)
{
	const char *text = shell->text;
	size_t length = shell->used - strlen(shell->config.prompt);

	if (length && *text == '\n') {
		text++;
		length--;
	}
	snprintf(output, size, "%.*s", (int)length, text);
}

int shell_run(struct shell *shell, const char *line, char *output, size_t size, unsigned timeout_ms)
{
	uint64_t deadline_us;
	int ret = shell_start(shell, line);

	output[0] = '\0';
	deadline_us = monotonic_get_us() + timeout_ms * UINT64_C(1000);
	while (ret >= 0) {
		ret = receive(shell, LOOK_MS);
		if (!ret && is_at_prompt(shell)) {
			take_output(shell, output, size);
			return 0;
		}
		if (ret >= 0 && monotonic_get_us() >= deadline_us)
			ret = fail_format(shell->error, sizeof(shell->error), -ETIMEDOUT,
				"\"%s\" did not end within %u ms; it said \"%.80s\"", line,
				timeout_ms, shell->text);
	}
	return ret;
}

int shell_wait_quiet(struct shell *shell, unsigned quiet_ms, unsigned timeout_ms)
{
	uint64_t deadline_us = monotonic_get_us() + timeout_ms * UINT64_C(1000);

	for (;;) {
		int ret = receive(shell, quiet_ms);

		if (ret <= 0)
			return ret;
		if (monotonic_get_us() >= deadline_us)
			return fail_format(shell->error, sizeof(shell->error), -ETIMEDOUT,
				"the system was not silent for %u ms within %u ms; last line "
				"\"%.80s\"",
				quiet_ms, timeout_ms, shell->watcher->last);
	}
}

int shell_pause(struct shell *shell, unsigned pause_ms)
{
	uint64_t end_us = monotonic_get_us() + pause_ms * UINT64_C(1000);
	int ret = 0;

	while (ret >= 0 && monotonic_get_us() < end_us)
		ret = receive(shell, LOOK_MS);
	return ret < 0 ? ret : 0;
}

int shell_wait_text(struct shell *shell, const char *text, unsigned timeout_ms)
{
	uint64_t deadline_us = monotonic_get_us() + timeout_ms * UINT64_C(1000);

	while (!strstr(shell->text, text)) {
		int ret = receive(shell, LOOK_MS);

		if (ret < 0)
			return ret;
		if (monotonic_get_us() >= deadline_us)
			return fail_format(shell->error, sizeof(shell->error), -ETIMEDOUT,
				"no \"%s\" within %u ms; last line \"%.80s\"", text, timeout_ms,
				shell->watcher->last);
	}
	return 0;
}
