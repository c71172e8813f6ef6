/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_LINK_H
#define BOARDCTL_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A byte link to a board's console or to a relay: 8N1, no flow control, raw,
 * one owner. Not thread-safe: one thread reads and writes a link, others see
 * its bytes through the tap.
 *
 * Return values of this module: 0 or a count, else a negative errno, whose
 * text is link_error():
 *   -EINVAL     the configuration is wrong (unknown driver, no path, bad rate)
 *   -ENOENT     no such port
 *   -ENOTUNIQ   two ports fit the match
 *   -EBUSY      another process holds the port
 *   -ENODEV     the port is gone (adapter pulled, other side of a pty closed);
 *               close, or link_reopen()
 *   -ETIMEDOUT  a write could not be finished
 *   -ENOTSUP    the driver can't do that
 */
struct link;

/*
 * Where the port is. Strings are copied by link_open().
 *
 * driver "pty": path, any tty by its path.
 * driver "child": path, a program of this machine: started without arguments by
 * the open behind a pseudo-terminal, hung up on by the close.
 * driver "serial": libserialport; the port that fits everything that is given
 * of usb, usb_serial, usb_path and path; exactly one must fit.
 * driver "tcp": address; bytes as they are, the rate is the server's own.
 * driver "rfc2217": address; telnet with the com port option, rates included.
 */
struct link_config {
	const char *driver;	/* "serial", "pty", "child", "tcp" or "rfc2217" */
	const char *path;	/* "/dev/ttyS0", "DIR/uart" */
	const char *usb;	/* vendor:product in hex, "0403:6001" */
	const char *usb_serial; /* the adapter's serial number, "A5" */
	const char *usb_path;	/* where it is plugged: "usb-0:3:1.0", or with the controller
				 * in front: "pci-0000:00:14.0-usb-0:3:1.0" */
	const char *address;	/* "HOST:PORT" of a console server */
	uint32_t baud;		/* bit/s; 0 = 115200 */
	unsigned reopen_ms;	/* wait so long for a port that has gone away; 0 = not */
	bool dtr, rts;		/* levels of the modem lines while open; false = quiet */
};

/* What names the port of a driver. */
enum link_place {
	LINK_PLACE_PATH,    /* a path, and nothing else */
	LINK_PLACE_MATCH,   /* a path or an identity */
	LINK_PLACE_ADDRESS, /* host and port */
};

/* Of the driver of that name; LINK_PLACE_PATH for an unknown one. */
enum link_place link_find_place(const char *driver);

enum link_direction {
	LINK_DIRECTION_RX, /* from the board */
	LINK_DIRECTION_TX, /* to the board */
};

/*
 * Sees every chunk in order, once, at the moment it was read or after it was
 * written (time_us: monotonic_get_us()). data is borrowed for the call. It
 * must not use the link.
 */
struct link_tap {
	void (*see)(void *ctx, enum link_direction direction, uint64_t time_us, const void *data,
		size_t size);
	void *ctx;
};

/* *link is set even on failure (NULL only without memory), so that
 * link_error() can be asked; always link_close() it. */
int link_open(struct link **link, const struct link_config *config);
void link_close(struct link *link);

/* What went wrong in the last call that failed; borrowed until the next call. */
const char *link_error(const struct link *link);

/* The device that was opened, as a resolved path; borrowed until close. */
const char *link_path(const struct link *link);

/*
 * Find the device without opening it: its resolved path into path[size]. For
 * a check that two links aren't the same port. error[error_size] says what is
 * wrong; same return values as link_open().
 */
int link_resolve(
	const struct link_config *config, char *path, size_t size, char *error, size_t error_size);

/*
 * Asked at least every 100 ms while link_read() waits: a negative errno ends
 * the wait with that value (a stop was asked for, a deadline passed). It must
 * not use the link.
 */
struct link_guard {
	int (*check)(void *ctx);
	void *ctx;
};

/* NULL removes the guard. The struct is copied. */
void link_set_guard(struct link *link, const struct link_guard *guard);

/* NULL removes the tap. The struct is copied. */
void link_set_tap(struct link *link, const struct link_tap *tap);

/* A second tap, for those who only look on. */
void link_set_monitor(struct link *link, const struct link_tap *tap);

/* Bytes read (1..size), or 0 when timeout_ms passed without any. timeout_ms 0
 * only looks. */
ssize_t link_read(struct link *link, void *buffer, size_t size, unsigned timeout_ms);

/*
 * Write all and wait until the last bit has left the line, as well as can be
 * known: the driver's drain, and never earlier than size * 10 / baud after the
 * start. 0 or a negative errno.
 */
int link_write(struct link *link, const void *data, size_t size);

/* Change the rate; waits for what was written. The other side changes its own. */
int link_set_baud(struct link *link, uint32_t baud);
uint32_t link_get_baud(const struct link *link);

/* Hold the line low (so that an unpowered board isn't fed through its UART)
 * or let it go. -ENOTSUP where the driver can't. */
int link_break(struct link *link, bool on);

/* Throw away what was received and not yet read. */
int link_flush(struct link *link);

/* After -ENODEV: wait up to timeout_ms for the same identity to come back and
 * open it again, with the rate of before. */
int link_reopen(struct link *link, unsigned timeout_ms);

/*
 * How often a read or write found the port gone and opened it again by itself
 * (reopen_ms): an adapter that a relay's spark threw off the bus. Bytes of that
 * time are lost.
 */
unsigned link_count_reopens(const struct link *link);

#endif
