/* SPDX-License-Identifier: Apache-2.0 */
/* One board of a recorded peer: relay, line, loader and agent, in one thread. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "agents/core/agent.h"
#include "agents/core/counter.h"
#include "tests/recorded_peer.h"

#define NEVER	   UINT64_MAX
#define BARRIER_NS 10000000u
#define BARRIER_MS 60000u /* what the host is told that a window may take */
#define ARENA_SIZE (4u << 20)
#define CTRL_C	   3

/* Why a wait came back. */
enum wake {
	WAKE_OFF = -1,
	WAKE_TIME = 0,
	WAKE_INPUT = 1,
};

struct port {
	int master;
	int slave; /* kept open, so that the master does not see hang-ups */
};

struct recorded_board {
	struct agent_port agent; /* first: the core hands it back */
	const struct recorded_peer *peer;
	struct recorded_tally *tally;
	unsigned number;
	struct port uart, relay;
	uint8_t command[4]; /* of the relay, as far as it has come */
	size_t command_size;
	bool is_on;
	unsigned switched_off; /* times */
	unsigned session;      /* switched_off when power came */
	uint8_t input[64];
	size_t input_at, input_size;
	uint64_t sent_ns, received_ns; /* when the line's last byte was over */
	unsigned waves;		       /* windows so far */
	int status;		       /* the loader's $? */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ------------------------------------------------------------------- relay */

static void answer_relay(struct recorded_board *board)
{
	char answer[32];
	int size = snprintf(
		answer, sizeof(answer), "CH1:%s\r\nCH2:OFF\r\n", board->is_on ? "ON " : "OFF");

	if (write(board->relay.master, answer, (size_t)size) != size)
		abort();
}

static void take_relay_byte(struct recorded_board *board, uint8_t byte)
{
	uint8_t *command = board->command;

	if (board->command_size == 0 && byte != 0xa0) {
		if (byte == 0xff)
			answer_relay(board);
		return;
	}
	command[board->command_size++] = byte;
	if (board->command_size < 4)
		return;
	board->command_size = 0;
	if ((uint8_t)(command[0] + command[1] + command[2]) != command[3] || command[1] != 1)
		return;
	board->switched_off += board->is_on && command[2] == 0;
	board->is_on = command[2] == 1;
	atomic_store(&board->tally->is_on, board->is_on);
}

static void serve_relay(struct recorded_board *board)
{
	uint8_t bytes[64];
	ssize_t got = read(board->relay.master, bytes, sizeof(bytes));

	for (ssize_t i = 0; i < got; i++)
		take_relay_byte(board, bytes[i]);
}

/* -------------------------------------------------------------------- line */

static bool is_off(const struct recorded_board *board)
{
	return !board->is_on || board->switched_off != board->session;
}

/* Until then, or until the host has typed, or until power goes. */
static enum wake wait_until(struct recorded_board *board, uint64_t until_ns, bool wants_input)
{
	for (;;) {
		struct pollfd polls[] = {
			{.fd = board->relay.master, .events = POLLIN},
			{.fd = wants_input ? board->uart.master : -1, .events = POLLIN},
		};
		uint64_t at_ns = now_ns(), left_ns = until_ns > at_ns ? until_ns - at_ns : 0;
		struct timespec left = {
			(time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u)};

		if (is_off(board))
			return WAKE_OFF;
		if (ppoll(polls, 2, until_ns == NEVER ? NULL : &left, NULL) == 0)
			return WAKE_TIME;
		if (polls[0].revents)
			serve_relay(board);
		else if (polls[1].revents & POLLIN)
			return WAKE_INPUT;
	}
}

/* False: power is off. */
static bool send_line(struct recorded_board *board, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size > 0) {
		size_t most = board->peer->options.chunk_size;
		size_t chunk = size < most ? size : most;
		uint64_t at_ns = now_ns();
		ssize_t put;

		if (board->sent_ns < at_ns)
			board->sent_ns = at_ns;
		board->sent_ns += chunk * board->peer->options.byte_ns;
		if (wait_until(board, board->sent_ns, false) == WAKE_OFF)
			return false;
		put = write(board->uart.master, bytes, chunk);
		put = put < 0 ? 0 : put;
		atomic_fetch_add(&board->tally->sent, (unsigned long long)put);
		atomic_fetch_add(&board->tally->refused, chunk - (size_t)put);
		bytes += chunk;
		size -= chunk;
	}
	return true;
}

static bool say(struct recorded_board *board, const char *text)
{
	return send_line(board, text, strlen(text));
}

/* More input, when its last byte has come over the line. */
static enum wake receive(struct recorded_board *board, uint64_t until_ns)
{
	enum wake wake = wait_until(board, until_ns, true);
	uint64_t at_ns;
	ssize_t got;

	if (wake != WAKE_INPUT)
		return wake;
	got = read(board->uart.master, board->input, sizeof(board->input));
	if (got <= 0)
		return WAKE_TIME;
	atomic_fetch_add(&board->tally->received, (unsigned long long)got);
	board->input_at = 0;
	board->input_size = (size_t)got;
	at_ns = now_ns();
	board->received_ns = board->received_ns > at_ns ? board->received_ns : at_ns;
	board->received_ns += (uint64_t)got * board->peer->options.byte_ns;
	return wait_until(board, board->received_ns, false) == WAKE_OFF ? WAKE_OFF : WAKE_INPUT;
}

/* The next byte; negative when power is off. */
static int hear(struct recorded_board *board)
{
	if (board->input_at == board->input_size && receive(board, NEVER) != WAKE_INPUT)
		return -1;
	return board->input[board->input_at++];
}

/* ------------------------------------------------------------------ loader */

/* Without quotes, and $? put in. */
static void expand(const struct recorded_board *board, const char *from, char *to, size_t size)
{
	size_t used = 0;

	for (; *from && used + 12 < size; from++) {
		if (strncmp(from, "$?", 2) == 0) {
			used += (size_t)snprintf(to + used, size - used, "%d", board->status);
			from++;
		} else if (*from != '"') {
			to[used++] = *from;
		}
	}
	to[used] = '\0';
}

static bool starts_system(const char *command)
{
	return strncmp(command, "boot", 4) == 0;
}

/* False: power is off. */
static bool run_command(struct recorded_board *board, const char *command)
{
	const char *said = recording_find(board->peer->recording, command);
	char text[320];

	if (strncmp(command, "echo ", 5) == 0) {
		expand(board, command + 5, text, sizeof(text) - 2);
		strcat(text, "\r\n");
		board->status = 0;
		return say(board, text);
	}
	board->status = said ? 0 : 1;
	if (said)
		return say(board, said);
	snprintf(text, sizeof(text), "Unknown command '%.200s' - try 'help'\r\n", command);
	return say(board, text);
}

/* 1: the system was started; 0: the prompt again; negative: power is off. */
static int run_line(struct recorded_board *board, char *line)
{
	char *rest = NULL;

	for (char *one = strtok_r(line, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
		one += strspn(one, " ");
		if (!run_command(board, one))
			return -1;
		if (starts_system(one) && board->status == 0)
			return 1;
	}
	return 0;
}

/* One line, echoed.  As run_line(). */
static int edit_line(struct recorded_board *board)
{
	char line[320];
	size_t used = 0;
	int byte;

	while ((byte = hear(board)) >= 0) {
		char echo = (char)byte;

		if (byte == CTRL_C)
			return say(board, "<INTERRUPT>\r\n") ? 0 : -1;
		if (byte == '\r') {
			line[used] = '\0';
			return say(board, "\r\n") ? run_line(board, line) : -1;
		}
		if (used + 1 == sizeof(line))
			continue;
		line[used++] = echo;
		if (!send_line(board, &echo, 1))
			return -1;
	}
	return -1;
}

/* No two lines alike: a system that says one thing again and again is stuck. */
static bool chat(struct recorded_board *board)
{
	char text[4096];
	size_t used = 0;
	unsigned at = 0;

	for (unsigned said = 0; said < board->peer->options.chatter_bytes; said += (unsigned)used) {
		for (used = 0; used + 96 < sizeof(text); at++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
				"[%8u.%06u] a talkative driver tells of device %u, and of more\r\n",
				at / 1000, at % 1000, at);
		if (!send_line(board, text, used))
			return false;
	}
	return true;
}

/* From power-on to the system's last words; false: power is off. */
static bool boot(struct recorded_board *board)
{
	const struct recording *recording = board->peer->recording;
	int rc = 0;

	if (!say(board, recording_find(recording, "")))
		return false;
	/* It counts down for as long as it takes: it has nothing to boot alone. */
	if (hear(board) < 0)
		return false;
	if (!say(board, recording_find(recording, RECORDING_KEY)))
		return false;
	while (rc == 0) {
		if (!say(board, "=> "))
			return false;
		rc = edit_line(board);
	}
	return rc > 0 && chat(board);
}

/* ------------------------------------------------------------------- agent */

static int port_read(struct agent_port *port, uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	struct recorded_board *board = (struct recorded_board *)port;
	size_t size;

	if (board->input_at == board->input_size) {
		enum wake wake = receive(board, now_ns() + timeout_ms * 1000000ull);

		if (wake != WAKE_INPUT)
			return wake == WAKE_OFF ? -1 : 0;
	}
	size = board->input_size - board->input_at;
	size = size < capacity ? size : capacity;
	memcpy(data, board->input + board->input_at, size);
	board->input_at += size;
	return (int)size;
}

static int port_write(struct agent_port *port, const uint8_t *data, size_t size)
{
	return send_line((struct recorded_board *)port, data, size) ? 0 : -1;
}

static void port_anchor(struct agent_port *port, uint64_t lead_counts, struct agent_anchor *anchor)
{
	(void)port;
	*anchor = (struct agent_anchor){.release_counts = counter_read() + lead_counts};
}

/* Only for benches that this port says it cannot do. */
static uint64_t port_wait_until(struct agent_port *port, uint64_t deadline_counts)
{
	(void)port;
	(void)deadline_counts;
	return counter_read();
}

static void port_sleep_ms(struct agent_port *port, uint32_t ms)
{
	wait_until((struct recorded_board *)port, now_ns() + ms * 1000000ull, false);
}

static uint64_t port_clock_ns(struct agent_port *port)
{
	(void)port;
	return now_ns();
}

static void port_window_begin(struct agent_port *port, struct window *window)
{
	(void)port;
	(void)window;
}

static void port_window_end(struct agent_port *port, struct window *window)
{
	(void)port;
	text_put(&window->counters, "kernel_messages", "none");
	text_put(&window->counters, "page_faults", "none");
}

static void port_facts(struct agent_port *port, struct text *text)
{
	text_put(text, "platform", ((struct recorded_board *)port)->peer->options.platform);
}

static int bench_prepare(struct window *window)
{
	struct recorded_board *board = (struct recorded_board *)window->port;

	window->samples = window_add_counts(window, "latency", window->plan.n);
	atomic_fetch_add(&board->tally->armed, 1);
	return window->samples ? 0 : WIRE_ERROR_NO_MEMORY;
}

static uint32_t bench_estimate_ms(const struct window *window)
{
	(void)window;
	return BARRIER_MS;
}

static int bench_run(struct window *window)
{
	struct recorded_board *board = (struct recorded_board *)window->port;
	const struct recorded_peer *peer = board->peer;
	unsigned all = ++board->waves * peer->options.boards;

	atomic_fetch_add(&peer->shared->arrived, 1);
	while (atomic_load(&peer->shared->arrived) < all)
		if (wait_until(board, now_ns() + BARRIER_NS, false) == WAKE_OFF)
			return WIRE_ERROR_FAILED;
	for (uint32_t i = 0; i < window->plan.n; i++)
		window_store_counts(window->samples,
			recording_value(peer->recording, board->number, window->plan.seed, i) +
				peer->options.drift * (int32_t)(board->waves - 1));
	atomic_fetch_add(&board->tally->ran, 1);
	return 0;
}

static const struct agent_port_ops ops = {
	.console_read = port_read,
	.console_write = port_write,
	.anchor = port_anchor,
	.wait_until = port_wait_until,
	.sleep_ms = port_sleep_ms,
	.clock_ns = port_clock_ns,
	.window_begin = port_window_begin,
	.window_end = port_window_end,
	.facts = port_facts,
};

static const char no_time[] = "a recording keeps no time";

static const struct bench benches[] = {
	{
		.id = 1,
		.name = "wake.idle",
		.prepare = bench_prepare,
		.estimate_ms = bench_estimate_ms,
		.run = bench_run,
	},
	{.id = 42, .name = "clock.audit", .unsupported = no_time},
	{.id = 98, .name = "sleep.check", .unsupported = no_time},
	{.id = 99, .name = "reference", .unsupported = no_time},
};

/* ------------------------------------------------------------------- board */

static int open_port(struct port *port, const char *dir, const char *name, unsigned number)
{
	char link[PATH_MAX], path[64];
	struct termios term;

	snprintf(link, sizeof(link), "%s/%s.%u", dir, name, number);
	port->master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (port->master < 0 || grantpt(port->master) != 0 || unlockpt(port->master) != 0 ||
		ptsname_r(port->master, path, sizeof(path)) != 0)
		return -1;
	port->slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (port->slave < 0 || tcgetattr(port->slave, &term) != 0)
		return -1;
	cfmakeraw(&term);
	return tcsetattr(port->slave, TCSANOW, &term) == 0 ? symlink(path, link) : -1;
}

struct recorded_board *recorded_board_new(
	const struct recorded_peer *peer, unsigned number, const char *dir, uint64_t counter_hz)
{
	struct recorded_board *board = calloc(1, sizeof(*board));

	if (!board)
		return NULL;
	board->agent = (struct agent_port){
		.ops = &ops,
		.counter_rate_hz = counter_hz,
		.system = "baremetal",
		.version = "recorded",
		.mode = "M-flat",
		.benches = benches,
		.bench_count = sizeof(benches) / sizeof(benches[0]),
		.arena = malloc(ARENA_SIZE),
		.arena_size = ARENA_SIZE,
	};
	board->peer = peer;
	board->number = number;
	board->tally = &peer->shared->boards[number];
	if (!board->agent.arena || open_port(&board->uart, dir, "uart", number) != 0 ||
		open_port(&board->relay, dir, "relay", number) != 0)
		return NULL;
	return board;
}

void *recorded_board_run(void *context)
{
	struct recorded_board *board = context;

	for (;;) {
		struct pollfd waited = {.fd = board->relay.master, .events = POLLIN};

		while (!board->is_on) {
			poll(&waited, 1, -1);
			serve_relay(board);
		}
		board->session = board->switched_off;
		board->input_at = board->input_size = 0;
		if (boot(board))
			agent_run(&board->agent);
		wait_until(board, NEVER, false);
	}
	return NULL;
}
