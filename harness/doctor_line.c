/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/monotonic.h"
#include "harness/peer.h"
#include "harness/stop.h"

#define PROMPT_MS	45000
#define COMMAND_MS	120000
#define PINGS		64u /* eight values each: every value of a byte twice */
#define PATIENCE_MS	300 /* a busy board is no broken wire */
#define RATE_MS		120000
#define RATES_SHOWN_MAX 5 /* the fastest */
#define NONCE		0x0d0c7041u
#define LATENCY_GOOD_US 5000u

struct line {
	struct doctor *doctor;
	struct board *board;
	const struct manifest *manifest;
	struct watcher watcher;
	struct loader *loader;
	struct peer peer;
	uint64_t deadline_ms;
};

static int guard(void *context)
{
	const struct line *line = context;

	if (stop_requested())
		return -ECANCELED;
	return monotonic_get_ms() > line->deadline_ms ? -ETIME : 0;
}

static bool fail(struct line *line, const char *id, const char *what, const char *advice)
{
	return doctor_tell(line->doctor,
		doctor_add(line->doctor, id, DOCTOR_VERDICT_FAIL, "%s", what), advice);
}

/* ----------------------------------------------------------------- loader */

/* The card gets the image whose agent answers later. */
static bool write_card(struct line *line)
{
	const struct manifest *manifest = line->manifest;
	struct card_image image = {.path = manifest->image_path, .sha256 = manifest->sha256};
	char written[SHA256_HEX_SIZE];

	if (!line->board->mux)
		return true;
	if (board_write_card(line->board, &image, NULL, written) != 0)
		return fail(line, "card", board_error(line->board),
			"is the card whole, and large enough for the image?");
	return doctor_tell(line->doctor,
		doctor_add(line->doctor, "card", DOCTOR_VERDICT_OK,
			"%llu MiB of %s written and read back",
			(unsigned long long)(manifest->size >> 20), manifest->file),
		"");
}

static bool check_loader(struct line *line)
{
	struct board *board = line->board;
	uint64_t start_ms;

	watcher_restart(&line->watcher, monotonic_get_ms());
	link_flush(board->console);
	if (board_set_power(board, true) != 0)
		return fail(line, "loader", board_error(board), "");
	start_ms = monotonic_get_ms();
	line->deadline_ms = start_ms + PROMPT_MS + 5000;
	if (loader_new(&line->loader, board->console, &line->watcher, &board->config->loader) !=
			0 ||
		loader_wait_prompt(line->loader, PROMPT_MS) != 0)
		return fail(line, "loader",
			line->loader ? loader_error(line->loader) : "out of memory",
			"do \"prompt\" and \"interrupt_hex\" of \"loader\" fit, and does RX of the "
			"board hear TX of the adapter?");
	return doctor_tell(line->doctor,
		doctor_add(line->doctor, "loader", DOCTOR_VERDICT_OK,
			"prompt %llu ms after power on, proven by a word that came back",
			(unsigned long long)(monotonic_get_ms() - start_ms)),
		"");
}

/* ------------------------------------------------------------------ agent */

static ssize_t read_link(void *context, uint8_t *bytes, size_t capacity, int timeout_ms)
{
	struct line *line = context;

	return link_read(
		line->board->console, bytes, capacity, timeout_ms > 0 ? (unsigned)timeout_ms : 0);
}

static int write_link(void *context, const uint8_t *bytes, size_t size)
{
	struct line *line = context;

	return link_write(line->board->console, bytes, size);
}

static int set_baud(void *context, uint32_t baud)
{
	struct line *line = context;

	return link_set_baud(line->board->console, baud);
}

static uint64_t now_us(void *context)
{
	(void)context;
	return monotonic_get_us();
}

static int start_system(struct line *line)
{
	const struct manifest *manifest = line->manifest;
	int rc = 0;

	line->deadline_ms = monotonic_get_ms() + COMMAND_MS;
	for (size_t i = 0; rc == 0 && i + 1 < manifest->boot_count; i++)
		rc = loader_run(line->loader, manifest->boot[i], NULL, 0, COMMAND_MS);
	return rc == 0 ? loader_boot(line->loader, manifest->boot[manifest->boot_count - 1]) : rc;
}

static bool check_agent(struct line *line)
{
	const struct lab_board *config = line->board->config;
	struct peer_link link = {.context = line,
		.read = read_link,
		.write = write_link,
		.now_us = now_us,
		.set_baud = set_baud};
	struct peer_config peer = {
		.baud = line->manifest->uart.baud, .latency_ms = PATIENCE_MS + config->latency_ms};
	int timeout_ms = (int)line->manifest->start_timeout_s * 1000;
	struct message_hello hello;

	if (start_system(line) != 0)
		return fail(line, "agent", loader_error(line->loader),
			"does the image boot on this board?");
	peer_init(&line->peer, &link, NULL, &peer);
	line->deadline_ms = monotonic_get_ms() + (uint64_t)timeout_ms + 60000;
	if (peer_wait_hello(&line->peer, timeout_ms, &hello) < 0 ||
		peer_open_session(&line->peer, NONCE, &hello) != 0)
		return fail(line, "agent", peer_error(&line->peer),
			"does the image boot on this board, and does its agent start?");
	return doctor_tell(line->doctor,
		doctor_add(line->doctor, "agent", DOCTOR_VERDICT_OK,
			"%s %s answers, counter at %u Hz", hello.system, hello.version,
			hello.counter_hz),
		"");
}

/* Eight of the 256 values, each once in all pings of a round. */
static uint64_t cookie_of(unsigned ping)
{
	uint64_t cookie = 0;

	for (unsigned i = 0; i < 8; i++)
		cookie = cookie << 8 | ((ping * 8 + i) & 0xff);
	return cookie;
}

static int compare_us(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* One echo there and back, to its last byte, without what the line itself takes. */
static int measure_echo(struct line *line, uint64_t cookie, uint64_t *us)
{
	struct peer_statistics before, after;
	struct peer_exchange exchange;
	uint64_t start_us, bytes, line_us;
	int rc;

	peer_get_statistics(&line->peer, &before);
	start_us = monotonic_get_us();
	rc = peer_echo(&line->peer, cookie, &exchange);
	*us = monotonic_get_us() - start_us;
	peer_get_statistics(&line->peer, &after);
	bytes = after.bytes_sent - before.bytes_sent + after.bytes_received - before.bytes_received;
	line_us = bytes * 10000000u / link_get_baud(line->board->console);
	*us = *us > line_us ? *us - line_us : 0;
	return rc;
}

static void check_latency(struct line *line, uint64_t *us, size_t count)
{
	unsigned planned_ms = line->board->config->latency_ms;
	bool is_adapter = strcmp(line->board->config->console.driver, "serial") == 0;
	struct doctor_check *check;
	uint64_t median_us;

	qsort(us, count, sizeof(*us), compare_us);
	median_us = us[count / 2];
	check = doctor_add(line->doctor, "latency",
		median_us > (uint64_t)planned_ms * 1000 + LATENCY_GOOD_US ? DOCTOR_VERDICT_WARNING
									  : DOCTOR_VERDICT_OK,
		"adapter and agent answer within %.1f ms (median of %zu), %.1f ms at most; the lab "
		"file allows %u ms",
		(double)median_us / 1e3, count, (double)us[count - 1] / 1e3, planned_ms);
	doctor_tell(line->doctor, check,
		median_us <= LATENCY_GOOD_US ? ""
		: !is_adapter
			? "this port has no adapter: what is slow is the machine, the network or the "
			  "board's agent"
			: "an FTDI adapter holds bytes back for 16 ms: write 1 to "
			  "/sys/bus/usb-serial/devices/PORT/latency_timer; set \"latency_ms\" of "
			  "the console to what it then has");
}

static bool check_values(struct line *line)
{
	uint64_t us[PINGS];
	struct peer_statistics statistics;
	uint32_t damaged;

	for (unsigned i = 0; i < PINGS; i++) {
		if (measure_echo(line, cookie_of(i), &us[i]) != 0) {
			return fail(line, "line", peer_error(&line->peer),
				"a value of a byte does not get through: 8N1 without flow control "
				"(XON/XOFF), the same rate at both ends, a common ground?");
		}
	}
	peer_get_statistics(&line->peer, &statistics);
	damaged = statistics.frames.bad_crc + statistics.frames.bad_cobs +
		  statistics.frames.abandoned;
	doctor_tell(line->doctor,
		doctor_add(line->doctor, "line",
			damaged || statistics.retries ? DOCTOR_VERDICT_WARNING : DOCTOR_VERDICT_OK,
			"all 256 values came back from the agent %u times at %u baud; %u damaged "
			"frames, %u asked again",
			PINGS * 8 / 256, link_get_baud(line->board->console), damaged,
			statistics.retries),
		damaged || statistics.retries ? "noise on the line: shorter wires, a common ground"
					      : "");
	check_latency(line, us, PINGS);
	return true;
}

/* A faster rate: 64 KiB of every value and PINGs of full length without one damaged byte. */
static bool prove_rate(struct line *line, uint32_t baud)
{
	int rc;

	line->deadline_ms = monotonic_get_ms() + RATE_MS;
	rc = peer_raise(&line->peer, baud);
	if (rc == 0)
		rc = peer_prove_rate(&line->peer);
	if (rc == 0)
		doctor_tell(line->doctor,
			doctor_add(line->doctor, "rate", DOCTOR_VERDICT_OK,
				"%u baud carries 64 KiB of all values without damage", baud),
			"");
	else
		doctor_tell(line->doctor,
			doctor_add(line->doctor, "rate", DOCTOR_VERDICT_WARNING,
				"%u baud does not work: %s", baud, peer_error(&line->peer)),
			"runs will not use it; \"max_baud\" can be lowered");
	return peer_lower(&line->peer) == 0;
}

/* What the lab file lets pulls be raised to. */
static void check_rates(struct line *line)
{
	uint32_t max_baud = line->board->config->max_baud, list[PEER_RATES_MAX];
	struct message_bauded rates;
	size_t count;

	if (max_baud == 0)
		return;
	if (peer_query_rates(&line->peer, &rates) != 0) {
		doctor_tell(line->doctor,
			doctor_add(line->doctor, "rate", DOCTOR_VERDICT_SKIPPED,
				"the agent has one rate: %s", peer_error(&line->peer)),
			"");
		return;
	}
	count = peer_list_rates(&rates, max_baud, list);
	for (size_t i = 0; i < count && i < RATES_SHOWN_MAX; i++)
		if (!prove_rate(line, list[i])) {
			fail(line, "rate", "the session was lost with the rate",
				"\"max_baud\" can be lowered");
			return;
		}
}

void doctor_check_line(struct doctor *doctor, struct board *board, const struct manifest *manifest)
{
	struct line line = {.doctor = doctor, .board = board, .manifest = manifest};
	struct link_guard watch = {guard, &line};
	struct watcher_config config = {
		.rules = bootrules_get(board->config->rules),
		.loader_banner = manifest ? manifest->loader_banner : NULL,
		.prompt = board->config->loader.prompt,
	};

	line.deadline_ms = UINT64_MAX;
	if (watcher_init(&line.watcher, &config) != 0)
		return;
	link_set_guard(board->console, &watch);
	if ((!manifest || write_card(&line)) && check_loader(&line)) {
		if (!manifest)
			doctor_tell(doctor,
				doctor_add(doctor, "line", DOCTOR_VERDICT_SKIPPED,
					"there is no image with an agent to answer"),
				"name the folder of images by --images");
		else if (check_agent(&line) && check_values(&line))
			check_rates(&line);
	}
	loader_free(line.loader);
	link_set_guard(board->console, NULL);
}
