/* SPDX-License-Identifier: Apache-2.0 */
/* From the image file to the agent's HELLO. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/monotonic.h"
#include "boardctl/shell.h"
#include "db/cardlog.h"
#include "harness/backpower.h"
#include "harness/log.h"
#include "harness/run_internal.h"
#include "harness/stop.h"

#define LOADER_PROMPT_MS    45000
#define BACKPOWER_LISTEN_MS 200
#define PAYLOAD_LOAD_MS	    120000
#define ICOUNT_LATENCY_MS   2000
#define SILENT_TRIES	    7 /* a request is asked for about 10 s: a busy host is no silent agent */

/* ------------------------------------------------------------------- card */

struct card_watch {
	const char *system;
	int last_percent;
};

static void see_card(
	void *context, enum card_phase phase, uint64_t done_bytes, uint64_t total_bytes)
{
	static const char *const words[] = {"hashing image", "writing card", "verifying card"};
	struct card_watch *watch = context;
	int percent = total_bytes ? (int)(done_bytes * 100 / total_bytes) : 100;

	if (done_bytes != 0 && percent != 100 && percent < watch->last_percent + 25)
		return;
	watch->last_percent = done_bytes == 0 ? 0 : percent;
	if (percent == 100 && done_bytes != 0)
		log_progress("%s: %s, %llu MiB", watch->system, words[phase],
			(unsigned long long)(total_bytes >> 20));
}

/* The card gets the plan's copy of the image, which is then what has to come back. */
static int plan_card(struct run *run, struct card_image *image)
{
	struct card_plan *card = &run->card_plan;
	int rc = card_plan_make(card, run->request->manifest, run->request->plan);

	if (rc == -EINVAL)
		run->result->is_misconfigured = true;
	if (rc != 0)
		return run_fail(run, rc == -EINVAL ? VERDICT_SKIPPED : VERDICT_LAB_FAILURE, rc,
			"%s", card->error);
	*image = (struct card_image){.path = card->image_path, .sha256 = card->sha256};
	run->evidence.image_sha256 = card->sha256;
	run_event(run, "plan", "%zu windows on the card; the image with them has SHA-256 %s",
		run->request->plan->window_count, card->sha256);
	return 0;
}

/* What the store says of the card is believed where the card says the same. */
static bool holds_image(struct run *run, const struct card_progress *progress)
{
	const struct run_request *request = run->request;
	const struct manifest *manifest = request->manifest;
	const char *name = request->board->config->name;
	char hash[SHA256_HEX_SIZE] = "";
	struct cardlog *card = NULL;
	bool is_known, is_same = false;

	if (run_is_icount(run) || manifest->writes_card ||
		cardlog_get(request->store, name, &card) != 0)
		return false;
	is_known = card && strcmp(card->sha256, manifest->sha256) == 0;
	free(card);
	if (is_known)
		is_same = board_read_card(request->board, manifest->size, progress, hash) == 0 &&
			  strcmp(hash, manifest->sha256) == 0;
	if (is_same) {
		snprintf(run->result->card_sha256, sizeof(hash), "%s", hash);
		run_event(run, "card", "holds the image already, read back: not written");
	} else if (is_known) {
		run_event(run, "warning", "the card is not as it was left: %s",
			hash[0] ? "it returns another SHA-256" : board_error(request->board));
	}
	return is_same;
}

/* The store keeps how cards do; an error of its own shows at the first window. */
static void note_card(struct run *run, const struct card_image *image, int error)
{
	const struct run_request *request = run->request;
	const struct lab_board *config = request->board->config;

	if (error == 0)
		cardlog_note_write(request->store, config->name, config->card.device,
			request->board->card_bytes, image->sha256, store_now_ms());
	else if (error != -EFBIG && error != -EBADMSG)
		cardlog_note_error(request->store, config->name, config->card.device,
			board_error(request->board));
}

int run_step_card(struct run *run)
{
	const struct run_request *request = run->request;
	struct board *board = request->board;
	struct card_watch watch = {request->manifest->system, 0};
	struct card_progress progress = {see_card, &watch};
	struct card_image image = {
		.path = request->manifest->image_path, .sha256 = request->manifest->sha256};
	int rc = 0;

	run->evidence.image_sha256 = request->manifest->sha256;
	if (run_is_icount(run))
		rc = plan_card(run, &image);
	if (rc != 0)
		return rc;
	if (!board->mux || !request->write_card) {
		rc = board_set_power(board, false);
		if (rc == 0)
			rc = board_insert_card(board);
		if (rc == 0 && request->card_sha256 && request->card_sha256[0])
			snprintf(run->result->card_sha256, sizeof(run->result->card_sha256), "%s",
				request->card_sha256);
	} else if (!holds_image(run, &progress)) {
		rc = board_write_card(board, &image, &progress, run->result->card_sha256);
		run->is_card_fresh = rc == 0;
		note_card(run, &image, rc);
	}
	if (rc == -EFBIG || rc == -EBADMSG) {
		run->result->is_misconfigured = true;
		return run_fail(run, VERDICT_SKIPPED, rc, "%s", board_error(board));
	}
	if (rc != 0)
		return run_fail(run, VERDICT_LAB_FAILURE, rc, "%s", board_error(board));
	if (run->result->card_sha256[0])
		run->evidence.card_sha256 = run->result->card_sha256;
	return 0;
}

/* ------------------------------------------------------------------ power */

int run_step_power(struct run *run)
{
	struct board *board = run->request->board;
	const struct manifest *manifest = run->request->manifest;
	struct watcher_config config = {
		.rules = bootrules_get(board->config->rules),
		.medium = board->mux ? "sd" : NULL,
		.loader_banner = manifest->loader_banner,
		.prompt = board->config->loader.prompt,
		.first_banner = manifest->first_banner,
		.shell_prompt = manifest->prompt,
	};
	char alive[256];
	int rc = watcher_init(&run->watcher, &config);

	if (rc != 0)
		return run_fail(run, VERDICT_FAIL, rc,
			"%s: a banner or prompt is longer than %d bytes", manifest->path,
			WATCHER_STRING_SIZE - 1);
	rc = backpower_check(board, BACKPOWER_LISTEN_MS, alive, sizeof(alive));
	if (rc != 0)
		return run_fail(run, VERDICT_LAB_FAILURE, rc, "%s",
			alive[0] ? alive : link_error(board->console));
	link_flush(board->console);
	watcher_restart(&run->watcher, monotonic_get_ms());
	run->warnings_told = 0;
	run->result->is_card_dirty = manifest->writes_card;
	if (manifest->writes_card && cardlog_forget(run->request->store, board->config->name) != 0)
		return run_fail_store(run, -EIO);
	rc = board_set_power(board, true);
	if (rc != 0)
		return run_fail(run, VERDICT_LAB_FAILURE, rc, "%s", board_error(board));
	/* The relay has answered: the contact closed at the latest now. */
	run->power_on_ms = monotonic_get_ms();
	log_progress("%s: power on", manifest->system);
	return 0;
}

int run_begin_local(struct run *run)
{
	/* What a kernel prints goes to its own console, not to the agent's line. */
	static const struct watcher_rules none;
	struct watcher_config nothing = {.rules = &none};
	int rc = watcher_init(&run->watcher, &nothing);

	if (rc != 0)
		return run_fail(run, VERDICT_FAIL, rc, "the watcher cannot be set up");
	run->power_on_ms = monotonic_get_ms();
	log_progress("%s: this machine, without card and relay", run->request->manifest->system);
	return 0;
}

/* ----------------------------------------------------------------- loader */

static int fail_loader(struct run *run, int error, const char *doing)
{
	if (error == -ECANCELED)
		return run_fail(run, VERDICT_INTERRUPTED, error, "stopped by signal %d while %s",
			stop_requested(), doing);
	if (error == -ENODATA)
		return run_fail(run, VERDICT_LAB_FAILURE, error,
			"no first banner after power-on: is the relay in the board's supply, the "
			"console wired and at this rate, the card in? A board that kept its power "
			"(BACKPOWER) prints none either (%s)",
			loader_error(run->loader));
	return run_fail(
		run, VERDICT_LAB_FAILURE, error, "%s: %s", doing, loader_error(run->loader));
}

int run_step_loader(struct run *run)
{
	struct board *board = run->request->board;
	int rc;

	/* Where the card carries the plan, the loader starts it by itself. */
	if (run_is_icount(run))
		return 0;
	rc = loader_new(&run->loader, board->console, &run->watcher, &board->config->loader);
	if (rc == 0)
		rc = loader_wait_prompt(run->loader, LOADER_PROMPT_MS);
	if (rc != 0)
		return fail_loader(run, rc, "waiting for the loader's prompt");
	log_progress("%s: loader's prompt after %.1f s", run->request->manifest->system,
		run_uptime_s(run));
	return 0;
}

/* Sum a payload in the board's memory. 0, or negative: the dialogue broke. */
static int check_payload(struct run *run, const struct manifest_payload *payload)
{
	int rc = loader_check_crc32(run->loader, payload->address, payload->size, payload->crc32);

	if (rc != 0 && rc != -EBADMSG)
		return fail_loader(run, rc, payload->file);
	if (rc == 0) {
		run->evidence.payloads_matched++;
	} else if (!run->evidence.payload_note) {
		snprintf(run->payload_note, sizeof(run->payload_note),
			"%s in memory is not what the manifest says: %s", payload->file,
			loader_error(run->loader));
		run->evidence.payload_note = run->payload_note;
	}
	return 0;
}

static const struct manifest_payload *payload_of(
	const struct manifest *manifest, const char *command)
{
	size_t best_length = 0;
	const struct manifest_payload *best = NULL;

	for (size_t i = 0; i < manifest->payload_count; i++) {
		const char *file = manifest->payloads[i].file;
		const char *found = strstr(command, file);
		size_t length = strlen(file);

		if (found && (found[length] == '\0' || found[length] == ' ') &&
			length > best_length) {
			best = &manifest->payloads[i];
			best_length = length;
		}
	}
	return best;
}

static int hand_over(struct run *run)
{
	const struct manifest *manifest = run->request->manifest;
	const char *command = manifest->boot[manifest->boot_count - 1];
	int rc;

	if (watcher_verdict(&run->watcher)->cause == WATCHER_CAUSE_WRONG_MEDIUM)
		run_event(run, "warning", "the firmware did not come from the card: %s",
			watcher_verdict(&run->watcher)->text);
	/* What the loader's dialogue tried and repeated is no verdict. */
	watcher_clear_verdict(&run->watcher);
	rc = loader_boot(run->loader, command);
	if (rc != 0)
		return fail_loader(run, rc, command);
	run->is_handed_over = true;
	log_progress("%s: handed over after %.1f s, %u of %u payloads as written", manifest->system,
		run_uptime_s(run), run->evidence.payloads_matched, run->evidence.payloads);
	return 0;
}

int run_step_payloads(struct run *run)
{
	const struct manifest *manifest = run->request->manifest;
	int rc = 0;

	run->evidence.payloads = (unsigned)manifest->payload_count;
	if (run_is_icount(run))
		return 0;
	for (size_t i = 0; rc == 0 && i + 1 < manifest->boot_count; i++) {
		const struct manifest_payload *payload = payload_of(manifest, manifest->boot[i]);

		rc = loader_run(run->loader, manifest->boot[i], NULL, 0, PAYLOAD_LOAD_MS);
		if (rc != 0)
			fail_loader(run, rc, manifest->boot[i]);
		else if (payload)
			rc = check_payload(run, payload);
	}
	if (rc != 0)
		return rc;
	if (run->evidence.payload_note)
		return -EILSEQ; /* another system than the one named is not started */
	return hand_over(run);
}

/* ------------------------------------------------------------------ hello */

static ssize_t read_link(void *context, uint8_t *bytes, size_t capacity, int timeout_ms)
{
	struct run *run = context;

	return link_read(run->request->board->console, bytes, capacity,
		timeout_ms > 0 ? (unsigned)timeout_ms : 0);
}

static int write_link(void *context, const uint8_t *bytes, size_t size)
{
	struct run *run = context;

	return link_write(run->request->board->console, bytes, size);
}

static uint64_t now_us(void *context)
{
	(void)context;
	return monotonic_get_us();
}

static int set_baud(void *context, uint32_t baud)
{
	struct run *run = context;

	return link_set_baud(run->request->board->console, baud);
}

static void rest(void *context, uint32_t us)
{
	(void)context;
	monotonic_sleep_until_us(monotonic_get_us() + us);
}

static void see_text(void *context, uint64_t when_us, const uint8_t *text, size_t size)
{
	struct run *run = context;

	watcher_feed(&run->watcher, when_us / 1000, text, size);
}

/* The card's script has had each payload summed: U-Boot prints "... ==> 0d3c5b1e". */
static void find_sums(struct run *run)
{
	const struct manifest *manifest = run->request->manifest;
	const char *text = (const char *)run->console.data;
	size_t left = run->console.size;

	for (size_t i = 0; i < manifest->payload_count; i++) {
		const struct manifest_payload *payload = &manifest->payloads[i];
		const char *sum = memmem(text, left, "==> ", 4);

		if (!sum || left - (size_t)(sum - text) < 12)
			return;
		left -= (size_t)(sum + 4 - text);
		text = sum + 4;
		if (strncmp(text, payload->crc32_text, 8) == 0) {
			run->evidence.payloads_matched++;
		} else if (!run->evidence.payload_note) {
			snprintf(run->payload_note, sizeof(run->payload_note),
				"%s in memory has the sum %.8s, not %s", payload->file, text,
				payload->crc32_text);
			run->evidence.payload_note = run->payload_note;
		}
	}
}

/* All windows lie before the first word: a second of computing takes the emulator many. */
static unsigned planned_s(const struct run *run)
{
	return run_is_icount(run) ? run->request->plan->run_s * 30 : 0;
}

void run_init_peer(struct run *run, uint32_t baud)
{
	struct peer_link link = {run, read_link, write_link, now_us, set_baud, rest};
	struct peer_events events = {.context = run, .text = see_text};
	struct peer_config config = {.baud = baud,
		.latency_ms = 50 + run->request->board->config->latency_ms,
		.tries = SILENT_TRIES};

	/* Where time follows from instructions, an idle emulator is late for the host's bytes. */
	if (run_is_icount(run))
		config.latency_ms += ICOUNT_LATENCY_MS;

	peer_init(&run->peer, &link, &events, &config);
}

/* At the system's shell, where the agent is not started by the system itself. */
static int start_agent(struct run *run, unsigned timeout_ms)
{
	struct shell *shell;
	int rc = run_reach_shell(run, &shell, timeout_ms);

	if (rc == 0) {
		rc = shell_start(shell, run->request->manifest->start);
		if (rc != 0)
			rc = run_fail_shell(run, rc, shell, "starting the agent");
	}
	shell_free(shell);
	return rc;
}

static int fail_hello(struct run *run, int error)
{
	const struct manifest *manifest = run->request->manifest;

	if (error != -ETIME && error != -ETIMEDOUT)
		return run_fail_peer(run, error, "waiting for the agent");
	if (manifest->start_is_auto)
		return run_fail(run, VERDICT_FAIL, error,
			"no agent: nothing announced itself after the loader had handed over; last "
			"state %s",
			watcher_state_name(watcher_state(&run->watcher)));
	return run_fail(run, VERDICT_FAIL, error,
		"no agent: nothing announced itself after \"%s\" had been typed; the last line is "
		"\"%.80s\"",
		manifest->start, run->watcher.last);
}

int run_step_hello(struct run *run)
{
	struct message_hello hello;
	int timeout_ms = (int)(run->request->manifest->start_timeout_s + planned_s(run)) * 1000;
	int rc = 0;

	run_init_peer(run, run->request->manifest->uart.baud);
	if (!run->request->manifest->start_is_auto) {
		run_set_deadline(run, (uint64_t)timeout_ms + 1000);
		rc = start_agent(run, (unsigned)timeout_ms);
	}
	if (rc != 0)
		return rc;
	run_set_deadline(run, (uint64_t)timeout_ms + 1000);
	rc = peer_wait_hello(&run->peer, timeout_ms, &hello);
	if (rc < 0)
		return fail_hello(run, rc);
	if (run_is_icount(run)) {
		find_sums(run);
		watcher_clear_verdict(&run->watcher);
		run->is_handed_over = true;
	}
	run->hello_ms = monotonic_get_ms();
	log_progress("%s: agent after %.1f s", run->request->manifest->system, run_uptime_s(run));
	return 0;
}
