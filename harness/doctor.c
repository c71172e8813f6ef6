/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/monotonic.h"
#include "harness/board.h"
#include "harness/doctor_line.h"
#include "harness/holders.h"
#include "harness/stop.h"

#define FIRST_BYTE_MS 20000u
#define SILENCE_MS    1500u
#define SETTLE_MS     500u /* capacitors, and what was on its way */
#define CARD_MS	      15000u
#define CARD_STEP_MS  50u
#define HOLDERS_MAX   4

const char *doctor_verdict_name(enum doctor_verdict verdict)
{
	static const char *const names[] = {"ok", "warning", "fail", "skipped"};

	return (unsigned)verdict < sizeof(names) / sizeof(names[0]) ? names[verdict] : "?";
}

struct doctor_check *doctor_add(
	struct doctor *doctor, const char *id, enum doctor_verdict verdict, const char *format, ...)
{
	struct doctor_check *check = &doctor->checks[doctor->count];
	va_list args;

	if (doctor->count + 1 < DOCTOR_CHECKS_MAX)
		doctor->count++;
	*check = (struct doctor_check){.id = id, .verdict = verdict};
	va_start(args, format);
	vsnprintf(check->evidence, sizeof(check->evidence), format, args);
	va_end(args);
	return check;
}

bool doctor_tell(struct doctor *doctor, struct doctor_check *check, const char *advice)
{
	snprintf(check->advice, sizeof(check->advice), "%s", advice);
	if (doctor->tell)
		doctor->tell(doctor->context, check);
	return check->verdict != DOCTOR_VERDICT_FAIL;
}

/* ------------------------------------------------------------------ ports */

static bool check_port(struct doctor *doctor, const char *id, const struct link_config *config)
{
	struct holder holders[HOLDERS_MAX];
	char path[PATH_MAX], error[256];
	int count;

	if (link_resolve(config, path, sizeof(path), error, sizeof(error)) != 0)
		return doctor_tell(doctor, doctor_add(doctor, id, DOCTOR_VERDICT_FAIL, "%s", error),
			"is the adapter plugged in, and does the lab file name it?");
	count = holders_find(path, holders, HOLDERS_MAX);
	if (count > 0)
		return doctor_tell(doctor,
			doctor_add(doctor, id, DOCTOR_VERDICT_FAIL, "%s is held by %s (pid %d)%s",
				path, holders[0].name, (int)holders[0].pid,
				count > 1 ? " and others" : ""),
			holders_advise(&holders[0]));
	if (geteuid() != 0)
		return doctor_tell(doctor,
			doctor_add(doctor, id, DOCTOR_VERDICT_OK,
				"%s; nobody whom this user can see holds it", path),
			"");
	return doctor_tell(doctor,
		doctor_add(doctor, id, DOCTOR_VERDICT_OK, "%s; nobody else holds it", path), "");
}

/* ------------------------------------------------------------------- card */

/* Whether the card's device comes (or goes) in time; how long it took. */
static bool await_card(const char *device, bool wants_it, uint64_t *took_ms)
{
	uint64_t start_ms = monotonic_get_ms();

	for (;;) {
		bool is_there = access(device, F_OK) == 0;

		*took_ms = monotonic_get_ms() - start_ms;
		if (is_there == wants_it)
			return true;
		if (*took_ms > CARD_MS || stop_requested())
			return false;
		usleep(CARD_STEP_MS * 1000);
	}
}

static bool check_mux(struct doctor *doctor, struct board *board)
{
	const char *device = board->config->card.device;
	uint64_t came_ms, went_ms;

	if (!board->mux)
		return doctor_tell(doctor,
			doctor_add(doctor, "mux", DOCTOR_VERDICT_SKIPPED,
				"the lab file has no \"sdmux\": the card is changed by hand"),
			"");
	if (board_set_mux(board, SDMUX_POSITION_HOST) != 0)
		return doctor_tell(doctor,
			doctor_add(doctor, "mux", DOCTOR_VERDICT_FAIL, "%s", board_error(board)),
			"is the mux plugged in, and may this user switch it?");
	if (!await_card(device, true, &came_ms))
		return doctor_tell(doctor,
			doctor_add(doctor, "mux", DOCTOR_VERDICT_FAIL,
				"with the mux at the host %s does not appear", device),
			"is a card in the mux, and does \"card\" name it?");
	if (board_set_mux(board, SDMUX_POSITION_OFF) != 0)
		return doctor_tell(doctor,
			doctor_add(doctor, "mux", DOCTOR_VERDICT_FAIL, "%s", board_error(board)),
			"");
	if (!await_card(device, false, &went_ms))
		return doctor_tell(doctor,
			doctor_add(doctor, "mux", DOCTOR_VERDICT_FAIL, "with the mux off %s stays",
				device),
			"\"card\" names another device than the mux switches");
	return doctor_tell(doctor,
		doctor_add(doctor, "mux", DOCTOR_VERDICT_OK,
			"%s appears %llu ms after the switch to the host and goes %llu ms after "
			"off",
			device, (unsigned long long)came_ms, (unsigned long long)went_ms),
		"");
}

/* ------------------------------------------------------------------ power */

/* Bytes that come within the time; stops at the first when is_first. */
static size_t listen_for(struct board *board, unsigned ms, bool is_first, uint64_t *first_ms)
{
	uint64_t start_ms = monotonic_get_ms(), now_ms = start_ms;
	size_t count = 0;
	uint8_t bytes[256];

	while (now_ms - start_ms < ms && !stop_requested()) {
		ssize_t got = link_read(board->console, bytes, sizeof(bytes),
			(unsigned)(start_ms + ms - now_ms < 100 ? start_ms + ms - now_ms : 100));

		now_ms = monotonic_get_ms();
		if (got < 0)
			break;
		if (got > 0 && count == 0)
			*first_ms = now_ms - start_ms;
		count += (size_t)got;
		if (count > 0 && is_first)
			break;
	}
	return count;
}

static bool check_silence(struct doctor *doctor, struct board *board, uint64_t first_ms)
{
	uint64_t ignored;
	size_t heard;

	if (board_set_power(board, false) != 0)
		return doctor_tell(doctor,
			doctor_add(doctor, "power", DOCTOR_VERDICT_FAIL, "%s", board_error(board)),
			"");
	listen_for(board, SETTLE_MS, false, &ignored);
	heard = listen_for(board, SILENCE_MS, false, &ignored);
	if (heard > 0)
		return doctor_tell(doctor,
			doctor_add(doctor, "power", DOCTOR_VERDICT_FAIL,
				"the relay is off and the UART still talks: %zu bytes in %.1f s",
				heard, SILENCE_MS / 1e3),
			"the relay's contact is not in the board's supply, or the board is fed "
			"through its UART or USB: cut the + line, leave VCC of the adapter open");
	return doctor_tell(doctor,
		doctor_add(doctor, "power", DOCTOR_VERDICT_OK,
			"first byte %llu ms after the relay closed, silence after it opened",
			(unsigned long long)first_ms),
		"");
}

static bool check_power(struct doctor *doctor, struct board *board)
{
	uint64_t first_ms = 0;

	if (board_open_console(board) != 0)
		return doctor_tell(doctor,
			doctor_add(doctor, "power", DOCTOR_VERDICT_FAIL, "%s", board_error(board)),
			"may this user open the port (group dialout)?");
	if (board_set_power(board, false) != 0 || board_insert_card(board) != 0 ||
		listen_for(board, SETTLE_MS, false, &first_ms) == SIZE_MAX ||
		link_flush(board->console) != 0 || board_set_power(board, true) != 0)
		return doctor_tell(doctor,
			doctor_add(doctor, "power", DOCTOR_VERDICT_FAIL, "%s", board_error(board)),
			"");
	if (listen_for(board, FIRST_BYTE_MS, true, &first_ms) == 0)
		return doctor_tell(doctor,
			doctor_add(doctor, "power", DOCTOR_VERDICT_FAIL,
				"the relay is on and the UART says nothing for %u s",
				FIRST_BYTE_MS / 1000),
			"is the relay's contact in the board's supply, TX of the board at RX of "
			"the adapter, ground connected, the rate right?");
	return check_silence(doctor, board, first_ms);
}

/* -------------------------------------------------------------------- all */

static void examine_board(
	struct doctor *doctor, struct board *board, const struct manifest *manifest)
{
	doctor_tell(doctor,
		doctor_add(doctor, "relay", DOCTOR_VERDICT_OK,
			board->config->power.silent ? "it never answers, so it is believed"
						    : "it answers a status query as a relay does"),
		"");
	if (board_set_power(board, false) != 0) {
		doctor_tell(doctor,
			doctor_add(doctor, "relay", DOCTOR_VERDICT_FAIL, "%s", board_error(board)),
			"");
		return;
	}
	if (!check_mux(doctor, board) || !check_power(doctor, board))
		return;
	doctor_check_line(doctor, board, manifest);
}

bool doctor_examine(
	struct doctor *doctor, const struct lab_board *config, const struct manifest *manifest)
{
	struct board board;
	bool console = check_port(doctor, "console-port", &config->console);
	bool relay =
		!config->power.port.driver || check_port(doctor, "relay-port", &config->power.port);

	if (!console || !relay)
		return false;
	if (board_open(&board, config, "doctor") != 0)
		doctor_tell(doctor,
			doctor_add(doctor, "relay", DOCTOR_VERDICT_FAIL, "%s", board_error(&board)),
			"does the relay have power, and is this its port?");
	else
		examine_board(doctor, &board, manifest);
	if (board_close(&board) != 0)
		doctor_tell(doctor,
			doctor_add(doctor, "rest", DOCTOR_VERDICT_FAIL, "%s", board_error(&board)),
			"switch it off by hand");
	for (size_t i = 0; i < doctor->count; i++)
		if (doctor->checks[i].verdict == DOCTOR_VERDICT_FAIL)
			return false;
	return true;
}
