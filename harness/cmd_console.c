/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard console */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "harness/board.h"
#include "harness/cli.h"
#include "harness/console_share.h"
#include "harness/log.h"
#include "harness/stop.h"
#include "protocol/frame.h"

#define ESCAPE	     0x1d /* Ctrl-] */
#define STEP_MS	     10
#define CONNECT_MS   200
#define KEYS_AT_ONCE 64

/* ------------------------------------------------------------------ output */

/* Frames among the text are for programs: they are left out, unless --raw. */
struct screen {
	bool is_raw;
	struct frame_reader reader;
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_BODY_MAX)];
};

static void screen_init(struct screen *screen, bool is_raw)
{
	screen->is_raw = is_raw;
	frame_reader_init(&screen->reader, screen->chunk, sizeof(screen->chunk));
}

static void screen_show(struct screen *screen, const uint8_t *bytes, size_t size)
{
	struct frame_event event;

	if (screen->is_raw)
		log_bytes(bytes, size);
	while (!screen->is_raw && size > 0) {
		size_t used = frame_reader_feed(&screen->reader, bytes, size, &event);

		if (event.kind == FRAME_EVENT_TEXT)
			log_bytes(event.text, event.size);
		bytes += used;
		size -= used;
	}
}

/* The line is idle: what was held back is no frame. */
static int screen_rest(struct screen *screen)
{
	struct frame_event event;

	frame_reader_flush(&screen->reader, &event);
	if (!screen->is_raw && event.kind == FRAME_EVENT_TEXT)
		log_bytes(event.text, event.size);
	return log_flush();
}

/* ---------------------------------------------------------------- keyboard */

struct keyboard {
	struct termios before;
	bool is_terminal, is_open, is_escaped;
};

static void keyboard_open(struct keyboard *keyboard)
{
	struct termios raw;

	*keyboard = (struct keyboard){.is_open = true};
	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &keyboard->before) != 0)
		return;
	raw = keyboard->before;
	cfmakeraw(&raw);
	raw.c_oflag |= OPOST | ONLCR; /* for this program's own lines */
	keyboard->is_terminal = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

static void keyboard_close(struct keyboard *keyboard)
{
	if (keyboard->is_terminal)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &keyboard->before);
}

/* What has been typed, waiting up to timeout_ms; 0 for nothing, also for ever after its end. */
static size_t keyboard_read(struct keyboard *keyboard, uint8_t *keys, size_t size, int timeout_ms)
{
	struct pollfd entry = {.fd = keyboard->is_open ? STDIN_FILENO : -1, .events = POLLIN};
	ssize_t got;

	if (poll(&entry, 1, timeout_ms) <= 0)
		return 0;
	got = read(STDIN_FILENO, keys, size);
	if (got <= 0 && !(got < 0 && errno == EINTR))
		keyboard->is_open = false;
	return got > 0 ? (size_t)got : 0;
}

/* ------------------------------------------------------------------- watch */

/* The key that leaves is the only one that a viewer has. */
static bool wants_to_leave(struct keyboard *keyboard)
{
	uint8_t keys[KEYS_AT_ONCE];
	size_t count = keyboard_read(keyboard, keys, sizeof(keys), 0);

	for (size_t i = 0; i < count; i++)
		if (keys[i] == ESCAPE || (keyboard->is_terminal && keys[i] == 3))
			return true;
	return false;
}

/* Until the line's holder is gone: 0, or an exit code. */
static int watch_line(int fd, struct screen *screen, struct keyboard *keyboard)
{
	uint8_t bytes[4096];

	while (!stop_requested() && !wants_to_leave(keyboard)) {
		struct pollfd entry = {.fd = fd, .events = POLLIN};
		ssize_t got;

		if (poll(&entry, 1, STEP_MS * 5) <= 0) {
			if (screen_rest(screen) != 0)
				return CLI_PASS + 1; /* nobody reads any more */
			continue;
		}
		got = recv(fd, bytes, sizeof(bytes), 0);
		if (got <= 0)
			return 0;
		screen_show(screen, bytes, (size_t)got);
	}
	return CLI_PASS + 1;
}

/* Of one job a run after the other opens the console; it is over when nobody has the board. */
static int watch(const struct lab_board *config, struct screen *screen, struct keyboard *keyboard)
{
	char path[PATH_MAX], holder[128];

	if (board_find_share(config, path, sizeof(path)) != 0)
		return CLI_LAB;
	for (;;) {
		int fd = console_share_connect(path);

		if (fd >= 0) {
			int rc = watch_line(fd, screen, keyboard);

			close(fd);
			if (rc != 0)
				return CLI_PASS;
		} else if (fd != -ENOENT && fd != -ECONNREFUSED) {
			log_error("board %s: cannot watch its console at %s: %s", config->name,
				path, strerror(-fd));
			return CLI_LAB;
		}
		screen_rest(screen);
		board_get_holder(config, holder, sizeof(holder));
		if (!holder[0] || stop_requested() || wants_to_leave(keyboard))
			break;
		if (fd < 0)
			poll(NULL, 0, CONNECT_MS);
	}
	if (!holder[0])
		log_progress("board %s: nobody holds it any more", config->name);
	return CLI_PASS;
}

/* -------------------------------------------------------------------- type */

static void switch_power(struct board *board, uint8_t key)
{
	int rc = 0;

	if (key != '1')
		rc = board_set_power(board, false);
	if (rc == 0 && key != '0')
		rc = board_set_power(board, true);
	if (rc != 0)
		log_error("%s", board_error(board));
	else
		log_progress("power %s", key == '0' ? "off" : key == '1' ? "on" : "off and on");
}

static void send_break(struct board *board)
{
	int rc = link_break(board->console, true);

	poll(NULL, 0, 250);
	if (rc == 0)
		rc = link_break(board->console, false);
	if (rc != 0)
		log_error("%s", link_error(board->console));
}

/* The key behind Ctrl-]; false to leave. */
static bool obey(struct board *board, uint8_t key)
{
	switch (key) {
	case 'q':
	case '.':
	case ESCAPE:
		return false;
	case '0':
	case '1':
	case 'c':
		switch_power(board, key);
		break;
	case 'b':
		send_break(board);
		break;
	default:
		log_progress("Ctrl-] then: q leave, 1 power on, 0 power off, c off and on, "
			     "b break");
		break;
	}
	return true;
}

/* 0, 1 to leave, or the link's error. */
static int type(struct board *board, struct keyboard *keyboard)
{
	uint8_t keys[KEYS_AT_ONCE], out[KEYS_AT_ONCE];
	size_t count = keyboard_read(keyboard, keys, sizeof(keys), 0), used = 0;

	for (size_t i = 0; i < count; i++) {
		if (keyboard->is_escaped) {
			keyboard->is_escaped = false;
			if (!obey(board, keys[i]))
				return 1;
		} else if (keys[i] == ESCAPE) {
			keyboard->is_escaped = true;
		} else {
			out[used++] = keys[i];
		}
	}
	return link_write(board->console, out, used);
}

static int hold(struct board *board, struct screen *screen, struct keyboard *keyboard)
{
	uint8_t bytes[4096];
	int rc = board_open_console(board);

	if (rc != 0) {
		log_error("%s", board_error(board));
		return CLI_LAB;
	}
	log_progress("board %s: its console is yours; Ctrl-] q leaves, Ctrl-] ? explains",
		board->config->name);
	while (!stop_requested()) {
		ssize_t got = link_read(board->console, bytes, sizeof(bytes), STEP_MS);

		if (got > 0)
			screen_show(screen, bytes, (size_t)got);
		else if (got == 0 && screen_rest(screen) != 0)
			return CLI_PASS;
		rc = got < 0 ? (int)got : type(board, keyboard);
		if (rc > 0)
			return CLI_PASS;
		if (rc < 0) {
			log_error("board %s: console: %s", board->config->name,
				link_error(board->console));
			return CLI_LAB;
		}
		if (board->share)
			console_share_accept(board->share);
	}
	return CLI_PASS;
}

/* ----------------------------------------------------------------- command */

int command_console(struct cli *cli)
{
	const struct lab_board *config;
	struct screen screen;
	struct keyboard keyboard;
	struct lab *lab = NULL;
	struct board board;
	int rc, exit_code = CLI_LAB;

	if (lab_open(&lab, cli->lab) != 0 || !(config = lab_find_board(lab, cli->arguments[0]))) {
		log_error("%s", lab_error(lab));
		lab_close(lab);
		return CLI_USAGE;
	}
	screen_init(&screen, cli->raw);
	rc = board_open(&board, config, "console");
	if (rc == -EBUSY && board.lock_is_busy) {
		log_progress("%s: only to watch, Ctrl-] leaves", board_error(&board));
		keyboard_open(&keyboard);
		exit_code = watch(config, &screen, &keyboard);
		keyboard_close(&keyboard);
	} else if (rc != 0) {
		log_error("%s", board_error(&board));
		exit_code = rc == -EINVAL ? CLI_USAGE : CLI_LAB;
	} else {
		keyboard_open(&keyboard);
		exit_code = hold(&board, &screen, &keyboard);
		keyboard_close(&keyboard);
	}
	/* The board stays as it is. */
	board.is_touched = false;
	board_close(&board);
	lab_close(lab);
	return exit_code;
}
