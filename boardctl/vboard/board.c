/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/board.h"

#include <stdio.h>
#include <string.h>

#include "boardctl/vboard/log.h"

static const char board_first_banner[] = "OpenSBI v";
static const char board_loader_banner[] = "U-Boot 20";

/* ---------------------------------------------------------------- power */

static void board_set_timer(struct loop_timer *timer, double seconds)
{
	timer->due_ns = seconds > 0 ? loop_now_ns() + (uint64_t)(seconds * 1e9) : 0;
}

static bool board_has_card(const struct board *board)
{
	return board->mux.mode == MUX_MODE_DUT && board->plan->card != FAULT_CARD_DUT;
}

static void board_power_on(struct board *board)
{
	struct line_end line_end, qemu_end;
	int result;

	board->has_power = true;
	board->has_frozen = false;
	board->has_bounced = false;
	board->has_reset_window = false;
	board->banner_so_far = 0;
	board->power_ons++;
	/* A board whose time is its own must not wait for the line. */
	if (board->qemu.config->is_icount)
		result = line_make_pipes(&line_end, &qemu_end);
	else
		result = line_make_socket(&line_end, &qemu_end);
	if (result == 0) {
		line_attach(&board->uart, line_end, &qemu_end, board->plan, board->power_ons);
		result = qemu_start(&board->qemu, &qemu_end, board_has_card(board));
	}
	if (result < 0) {
		log_error("cannot start QEMU: %s", strerror(-result));
		return;
	}
	guard_name_qemu(board->guard, board->qemu.pid);
	log_event("power on %u, QEMU is process %d, %s", board->power_ons, (int)board->qemu.pid,
		board->qemu.has_card ? "with the card" : "without a card");
}

/* An emulator needs a moment that a board does not: seconds after power-on count from here. */
static void board_started(void *context)
{
	struct board *board = context;

	log_event("the board runs");
	board_set_timer(&board->reset_timer, board->plan->reset_after_s);
	board_set_timer(&board->cut_timer, board->plan->cut_uart_s);
}

static void board_power_off(struct board *board)
{
	board->reset_timer.due_ns = 0;
	board->window_timer.due_ns = 0;
	board->cut_timer.due_ns = 0;
	qemu_kill(&board->qemu);
	guard_name_qemu(board->guard, 0);
	line_detach(&board->uart);
	if (board->has_power)
		log_event("power off");
	board->has_power = false;
}

static void board_relay_switched(void *context, unsigned channel, bool is_on)
{
	struct board *board = context;

	if (channel != 1 || is_on == board->has_power)
		return;
	if (is_on && board->plan->relay == FAULT_RELAY_OPEN)
		log_event("fault: the relay's contacts stay open");
	else if (!is_on && board->plan->relay == FAULT_RELAY_CLOSED)
		log_event("fault: the relay's contacts stay closed");
	else if (is_on)
		board_power_on(board);
	else
		board_power_off(board);
}

bool board_reap(struct board *board, pid_t pid, int status)
{
	if (!qemu_reap(&board->qemu, pid, status))
		return false;
	guard_name_qemu(board->guard, 0);
	return true;
}

/* ---------------------------------------------------------------- console */

static void board_baud_changed(void *context, unsigned baud)
{
	struct board *board = context;

	line_set_device_baud(&board->uart, baud);
}

/* Whether this byte ends the banner. */
static bool board_ends_banner(struct board *board, const char *banner, uint8_t byte)
{
	if (byte == (uint8_t)banner[board->banner_so_far])
		board->banner_so_far++;
	else
		board->banner_so_far = byte == (uint8_t)banner[0];
	if (banner[board->banner_so_far])
		return false;
	board->banner_so_far = 0;
	return true;
}

static void board_bounce(struct board *board, uint8_t byte)
{
	if (!board_ends_banner(board, board_first_banner, byte))
		return;
	board->has_bounced = true;
	log_event("fault: the relay's contacts bounce");
	qemu_reset(&board->qemu);
}

static void board_hang(struct board *board, uint8_t byte)
{
	if (!board_ends_banner(board, board_loader_banner, byte))
		return;
	board->has_frozen = true;
	log_event("fault: the loader hangs");
	qemu_freeze(&board->qemu);
}

/* GO is the only byte of the host that stays without an answer for long. */
static void board_watch_window(struct board *board, bool is_to_host)
{
	if (board->plan->reset_in_window_s <= 0 || board->has_reset_window ||
		!board->uart.to_host.fault.is_armed)
		return;
	board_set_timer(&board->window_timer, is_to_host ? 0 : board->plan->reset_in_window_s);
}

static void board_see_byte(void *context, bool is_to_host, uint8_t byte)
{
	struct board *board = context;

	board_watch_window(board, is_to_host);
	if (!is_to_host)
		return;
	if (board->plan->bounces && !board->has_bounced)
		board_bounce(board, byte);
	else if (board->plan->hangs_uboot && !board->has_frozen)
		board_hang(board, byte);
	/* No console ever sends 00, so the first one opens the guest's first frame. */
	if (byte != 0 || board->uart.to_host.fault.is_armed)
		return;
	log_event("uart: first frame of the guest");
	/* All that repeats lies before it. */
	if (board->qemu.config->is_icount)
		qemu_let_threads_go(&board->qemu);
	fault_stream_arm(&board->uart.to_host.fault);
	fault_stream_arm(&board->uart.to_device.fault);
}

static void board_reset_expired(void *context, uint64_t now_ns)
{
	struct board *board = context;

	(void)now_ns;
	log_event("fault: reset");
	qemu_reset(&board->qemu);
}

static void board_window_expired(void *context, uint64_t now_ns)
{
	struct board *board = context;

	board->has_reset_window = true;
	board_reset_expired(board, now_ns);
}

static void board_cut_expired(void *context, uint64_t now_ns)
{
	struct board *board = context;

	(void)now_ns;
	line_cut(&board->uart);
}

/* ---------------------------------------------------------------- card */

int board_set_mux(struct board *board, enum mux_mode mode)
{
	enum mux_mode before = board->mux.mode;
	int result;

	/* The board loses the card before the host gets it, and the other way round. */
	if (mode != MUX_MODE_DUT)
		qemu_remove_card(&board->qemu);
	result = mux_set_mode(&board->mux, mode);
	if (result < 0) {
		log_event("mux: cannot switch to %s: %s", mux_get_name(mode), strerror(-result));
		return result;
	}
	if (board_has_card(board))
		qemu_insert_card(&board->qemu);
	if (before != mode)
		log_event("mux: %s%s", mux_get_name(mode),
			board->has_power ? ", switched under power" : "");
	return 0;
}

/* ---------------------------------------------------------------- open and close */

int board_open(struct board *board, struct loop *loop, struct guard *guard,
	const struct fault_plan *plan, const struct qemu_config *qemu, const char *dir, int dir_fd)
{
	char link[4096];
	int result;

	memset(board, 0, sizeof(*board));
	board->loop = loop;
	board->guard = guard;
	board->plan = plan;
	board->reset_timer = (struct loop_timer){0, board_reset_expired, board};
	board->window_timer = (struct loop_timer){0, board_window_expired, board};
	board->cut_timer = (struct loop_timer){0, board_cut_expired, board};
	loop_add_timer(loop, &board->reset_timer);
	loop_add_timer(loop, &board->window_timer);
	loop_add_timer(loop, &board->cut_timer);
	mux_init(&board->mux, dir_fd, qemu->card, plan->card == FAULT_CARD_HOST);
	qemu_init(&board->qemu, loop, qemu);
	board->qemu.started = board_started;
	board->qemu.baud_changed = board_baud_changed;
	board->qemu.context = board;
	snprintf(link, sizeof(link), "%s/uart", dir);
	result = line_open(&board->uart, loop, "uart", link);
	if (result < 0)
		goto fail;
	line_set_adapter(&board->uart, plan->usb_latency_ms, plan->usb_chunk_bytes);
	board->uart.tap = board_see_byte;
	board->uart.tap_context = board;
	snprintf(link, sizeof(link), "%s/relay", dir);
	result = relay_open(&board->relay, loop, link);
	if (result < 0)
		goto fail;
	board->relay.switched = board_relay_switched;
	board->relay.context = board;
	return 0;
fail:
	log_error("cannot make the pseudo-terminal %s: %s", link, strerror(-result));
	return result;
}

void board_close(struct board *board)
{
	if (!board->loop)
		return;
	board_power_off(board);
	line_close(&board->uart);
	relay_close(&board->relay);
}
