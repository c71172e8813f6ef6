/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/board.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "harness/console_share.h"
#include "harness/paths.h"

/* A board must not stay powered because a relay, or this machine, was busy for a moment. */
#define REST_TRIES 6

static int board_fail(struct board *board, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int board_fail(struct board *board, int error, const char *format, ...)
{
	int length =
		snprintf(board->error, sizeof(board->error), "board %s: ", board->config->name);
	va_list args;

	va_start(args, format);
	vsnprintf(board->error + length, sizeof(board->error) - (size_t)length, format, args);
	va_end(args);
	return error;
}

const char *board_error(const struct board *board)
{
	return board->error;
}

/* ------------------------------------------------------------------- lock */

/*
 * The same for each way to spell a path.  The last link of it stays: what it
 * leads to is another port after each start of a virtual board.
 */
static int find_place(const char *path, char place[PATH_MAX])
{
	char folder[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int length;

	length = snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
		slash ? path : ".");
	if (length < 0 || length >= (int)sizeof(folder))
		return -ENAMETOOLONG;
	if (!realpath(slash == path ? "/" : folder, real))
		return -errno;
	length = snprintf(place, PATH_MAX, "%s/%s", real, slash ? slash + 1 : path);
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/*
 * One lock a console port, not a board's name: two lab files may name one
 * board differently.  The port by its identity: numbers of ports change.
 */
static int find_state_path(
	const struct lab_board *config, const char *suffix, char *path, size_t size)
{
	const struct link_config *port = &config->console;
	char identity[3 * PATH_MAX], where[PATH_MAX], hex[SHA256_HEX_SIZE], name[64];

	if (config->is_local)
		snprintf(where, sizeof(where), "%s", config->name);
	else if (!port->path || find_place(port->path, where) != 0)
		snprintf(where, sizeof(where), "%s", port->path ? port->path : "");
	snprintf(identity, sizeof(identity), "%s|%s|%s|%s%s%.512s", where,
		port->usb ? port->usb : "", port->usb_serial ? port->usb_serial : "",
		port->usb_path ? port->usb_path : "", port->address ? "|" : "",
		port->address ? port->address : "");
	if (sha256_buffer(identity, strlen(identity), hex) != 0)
		return -ENOMEM;
	snprintf(name, sizeof(name), "board-%.16s.%s", hex, suffix);
	return paths_state_file(name, path, size);
}

int board_find_share(const struct lab_board *config, char *path, size_t size)
{
	return find_state_path(config, "console", path, size);
}

static void read_holder(int fd, char *text, size_t size)
{
	ssize_t got = pread(fd, text, size - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

void board_get_holder(const struct lab_board *config, char *text, size_t size)
{
	char path[PATH_MAX];
	int fd;

	text[0] = '\0';
	if (find_state_path(config, "lock", path, sizeof(path)) != 0)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (flock(fd, LOCK_SH | LOCK_NB) != 0)
		read_holder(fd, text, size);
	close(fd);
}

static int take_lock(struct board *board, const char *what)
{
	char holder[128], path[PATH_MAX];
	int rc = find_state_path(board->config, "lock", path, sizeof(path));

	if (rc != 0)
		return board_fail(board, rc, "the path of its lock is too long");
	paths_make_parents(path);
	board->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (board->lock < 0)
		return board_fail(
			board, -errno, "cannot open the lock %s: %s", path, strerror(errno));
	if (flock(board->lock, LOCK_EX | LOCK_NB) != 0) {
		read_holder(board->lock, holder, sizeof(holder));
		board->lock_is_busy = true;
		return board_fail(
			board, -EBUSY, "in use by %s", holder[0] ? holder : "another process");
	}
	snprintf(holder, sizeof(holder), "pid %d (%s)\n", (int)getpid(), what);
	if (ftruncate(board->lock, 0) != 0 ||
		pwrite(board->lock, holder, strlen(holder), 0) != (ssize_t)strlen(holder))
		return board_fail(
			board, -errno, "cannot write the lock %s: %s", path, strerror(errno));
	return 0;
}

/* ------------------------------------------------------------ open, close */

static int refuse_shared_port(struct board *board)
{
	char console[PATH_MAX], relay[PATH_MAX], ignored[256];

	if (!board->config->power.port.driver)
		return 0;
	if (link_resolve(&board->config->console, console, sizeof(console), ignored,
		    sizeof(ignored)) != 0 ||
		link_resolve(&board->config->power.port, relay, sizeof(relay), ignored,
			sizeof(ignored)) != 0)
		return 0; /* opening will say what is wrong */
	if (strcmp(console, relay) != 0)
		return 0;
	return board_fail(board, -EINVAL,
		"console and relay are the same port, %s: relay bytes would be typed at the board; "
		"tell them apart by \"match\"",
		console);
}

/*
 * Once more where it answered half: it may be in the middle of what a process
 * that is gone had asked.
 */
static int open_relay(struct board *board)
{
	int rc = power_open(&board->power, &board->config->power);

	if (rc == -ETIMEDOUT || rc == -EPROTO) {
		power_close(board->power);
		rc = power_open(&board->power, &board->config->power);
	}
	return rc;
}

int board_open(struct board *board, const struct lab_board *config, const char *what)
{
	int rc;

	*board = (struct board){.config = config, .lock = -1};
	rc = take_lock(board, what);
	if (rc != 0 || config->is_local)
		return rc;
	rc = refuse_shared_port(board);
	if (rc != 0)
		return rc;
	rc = open_relay(board);
	if (rc != 0)
		return board_fail(board, rc, "relay: %s", power_error(board->power));
	if (config->has_sdmux) {
		rc = sdmux_open(&board->mux, &config->sdmux);
		if (rc != 0)
			return board_fail(board, rc, "SD mux: %s", sdmux_error(board->mux));
	}
	return 0;
}

int board_rest(struct board *board)
{
	bool on = board->config->rest == LAB_REST_ON;
	char why[512];
	int rc = -ETIMEDOUT;

	if (board->config->is_local)
		return 0;
	/* A relay that did not answer may have switched or not: again. */
	for (int tries = 0; rc != 0 && rc != -ENODEV && tries < REST_TRIES; tries++)
		rc = power_set(board->power, on);
	if (rc != 0) {
		snprintf(why, sizeof(why), "%s", power_error(board->power));
		return board_fail(board, rc,
			"cannot be driven to its rest state (%s); it may be POWERED: %s",
			on ? "on" : "off", why);
	}
	board->is_powered = on;
	return 0;
}

int board_close(struct board *board)
{
	int rc = 0;

	if (board->power && board->is_touched)
		rc = board_rest(board);
	if (board->console)
		link_break(board->console, false);
	link_close(board->console);
	console_share_close(board->share);
	sdmux_close(board->mux);
	power_close(board->power);
	if (board->lock >= 0) {
		if (ftruncate(board->lock, 0) != 0) {
			/* The lock itself goes with the descriptor. */
		}
		close(board->lock);
	}
	board->console = NULL;
	board->share = NULL;
	board->mux = NULL;
	board->power = NULL;
	board->lock = -1;
	return rc;
}

/* ---------------------------------------------------------------- actions */

int board_set_power(struct board *board, bool on)
{
	int rc;

	if (board->config->is_local)
		return 0;
	board->is_touched = true;
	/* A line held low feeds no board that is off; not every port can. */
	if (board->console && on)
		link_break(board->console, false);
	rc = power_set(board->power, on);
	if (rc != 0)
		return board_fail(board, rc, "relay: %s", power_error(board->power));
	if (board->console && !on)
		link_break(board->console, true);
	board->is_powered = on;
	return 0;
}

int board_get_watts(struct board *board, double *watts)
{
	return board->power ? power_get_watts(board->power, watts) : -ENOTSUP;
}

/* A job does not need viewers: without a place for the socket there are none. */
static void share_console(struct board *board)
{
	char path[PATH_MAX];
	struct link_tap tap;

	if (!board->share && (board_find_share(board->config, path, sizeof(path)) != 0 ||
				     console_share_open(&board->share, path) != 0))
		return;
	tap = console_share_tap(board->share);
	link_set_monitor(board->console, &tap);
}

int board_open_console(struct board *board)
{
	int rc;

	link_close(board->console);
	board->console = NULL;
	rc = link_open(&board->console, &board->config->console);
	if (rc != 0)
		return board_fail(board, rc, "console: %s", link_error(board->console));
	share_console(board);
	return 0;
}

int board_set_mux(struct board *board, enum sdmux_position position)
{
	int rc;

	if (!board->mux)
		return board_fail(board, -ENOTSUP, "has no \"sdmux\" in the lab file");
	board->is_touched = true;
	rc = sdmux_set(board->mux, position);
	if (rc != 0)
		return board_fail(board, rc, "SD mux: %s", sdmux_error(board->mux));
	return 0;
}

int board_insert_card(struct board *board)
{
	return board->mux ? board_set_mux(board, SDMUX_POSITION_DUT) : 0;
}

static int open_card(struct board *board, struct card **card)
{
	int rc = board_set_power(board, false);

	*card = NULL;
	if (rc == 0)
		rc = board_set_mux(board, SDMUX_POSITION_HOST);
	if (rc != 0)
		return rc;
	rc = card_open(card, &board->config->card);
	if (rc != 0)
		return board_fail(board, rc, "card: %s", card_error(*card));
	board->card_bytes = card_size(*card);
	return 0;
}

/* Closes it and gives it to the board, where rc of the work on it is 0. */
static int close_card(struct board *board, struct card *card, int rc)
{
	card_close(card);
	if (rc != 0)
		return rc;
	rc = board_set_mux(board, SDMUX_POSITION_OFF);
	return rc != 0 ? rc : board_set_mux(board, SDMUX_POSITION_DUT);
}

int board_write_card(struct board *board, const struct card_image *image,
	const struct card_progress *progress, char written[SHA256_HEX_SIZE])
{
	struct card *card;
	int rc = open_card(board, &card);

	if (rc == 0) {
		rc = card_write_image(card, image, progress, written);
		if (rc != 0)
			board_fail(board, rc, "card: %s", card_error(card));
	}
	return close_card(board, card, rc);
}

int board_read_card(struct board *board, uint64_t size_bytes, const struct card_progress *progress,
	char hash[SHA256_HEX_SIZE])
{
	struct card *card;
	int rc = open_card(board, &card);

	hash[0] = '\0';
	if (rc == 0) {
		rc = card_read_hash(card, size_bytes, progress, hash);
		if (rc != 0)
			board_fail(board, rc, "card: %s", card_error(card));
	}
	return close_card(board, card, rc);
}
