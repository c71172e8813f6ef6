/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a system needs beside being measured: a first boot after its card was
 * written, the end of its boot awaited, a shutdown before power goes.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/monotonic.h"
#include "boardctl/shell.h"
#include "harness/log.h"
#include "harness/run_internal.h"

#define READY_COMMAND_MS 60000 /* of one question: a system that boots is slow */
#define READY_PAUSE_MS	 2000  /* between two questions */
#define READY_QUIET_MS	 2000  /* of silence, which then is the end of the boot */
#define RESET_PIECE	 64

/* ------------------------------------------------------------------- shell */

int run_fail_shell(struct run *run, int error, const struct shell *shell, const char *doing)
{
	switch (error) {
	case -ETIMEDOUT:
	case -ETIME:
		return run_fail(run, VERDICT_FAIL, error, "no agent: %s; last state %s",
			error == -ETIME ? "the shell was not ready in time" : shell_error(shell),
			watcher_state_name(watcher_state(&run->watcher)));
	case -EPROTO:
		return run_fail(
			run, VERDICT_LAB_FAILURE, error, "%s: %s", doing, shell_error(shell));
	case -EACCES:
	case -EINVAL:
	case -ENOMEM:
		run->result->is_misconfigured = error != -ENOMEM;
		return run_fail(run, VERDICT_FAIL, error, "%s: %s", run->request->manifest->path,
			shell_error(shell));
	default:
		return run_fail_peer(run, error, "talking to the shell");
	}
}

static bool is_ready(const struct manifest *manifest, char *output)
{
	output[strcspn(output, "\n")] = '\0';
	for (size_t i = 0; i < manifest->ready.output_count; i++)
		if (strcmp(output, manifest->ready.output[i]) == 0)
			return true;
	return false;
}

/* Asked again until the answer says so; then what still talks is heard out. */
static int wait_ready(struct run *run, struct shell *shell, uint64_t deadline_ms)
{
	const struct manifest *manifest = run->request->manifest;
	char output[256] = "";
	int rc = 0;

	if (!manifest->ready.command)
		return 0;
	while (rc == 0) {
		rc = shell_run(
			shell, manifest->ready.command, output, sizeof(output), READY_COMMAND_MS);
		if (rc != 0 || is_ready(manifest, output))
			break;
		if (monotonic_get_ms() >= deadline_ms)
			return run_fail(run, VERDICT_FAIL, -ETIMEDOUT,
				"the boot did not end: \"%s\" still says \"%s\"",
				manifest->ready.command, output);
		rc = shell_pause(shell, READY_PAUSE_MS);
	}
	if (rc == 0)
		rc = shell_wait_quiet(shell, READY_QUIET_MS, READY_COMMAND_MS);
	if (rc == 0)
		rc = shell_wait_prompt(shell, READY_COMMAND_MS);
	if (rc != 0)
		return run_fail_shell(run, rc, shell, manifest->ready.command);
	run_event(run, "ready", "\"%s\" says \"%s\" after %.1f s, and the line is silent",
		manifest->ready.command, output, run_uptime_s(run));
	return 0;
}

static int open_shell(struct run *run, struct shell **shell)
{
	const struct manifest *manifest = run->request->manifest;
	struct shell_config config = {.prompt = manifest->prompt,
		.user = manifest->login.user,
		.password = manifest->login.password};

	return shell_new(shell, run->request->board->console, &run->watcher, &config);
}

int run_reach_shell(struct run *run, struct shell **shell, unsigned timeout_ms)
{
	uint64_t deadline_ms = monotonic_get_ms() + timeout_ms;
	int rc = open_shell(run, shell);

	if (rc == 0)
		rc = shell_wait_prompt(*shell, timeout_ms);
	if (rc != 0)
		return run_fail_shell(run, rc, *shell, "waiting for the shell");
	log_progress("%s: shell after %.1f s", run->request->manifest->system, run_uptime_s(run));
	return wait_ready(run, *shell, deadline_ms);
}

/* ---------------------------------------------------------------- shutdown */

/* Only an end that was seen leaves a card that can be used again. */
static void shut_down(struct run *run, struct shell *shell)
{
	const struct manifest *manifest = run->request->manifest;
	uint64_t began_ms = monotonic_get_ms();
	int rc = shell_start(shell, manifest->shutdown.command);

	if (rc == 0)
		rc = shell_wait_text(
			shell, manifest->shutdown.halted, manifest->shutdown.timeout_s * 1000);
	run->result->is_card_dirty = rc != 0;
	if (rc != 0)
		run_event(run, "warning",
			"not shut down, so the card is written anew before its next boot: %s",
			rc == -ETIME ? "the deadline passed" : shell_error(shell));
	else
		run_event(run, "shutdown", "\"%s\" after \"%s\" and %.1f s",
			manifest->shutdown.halted, manifest->shutdown.command,
			(double)(monotonic_get_ms() - began_ms) / 1e3);
}

/* Never a failure of the run: all is measured and stored. */
int run_step_shutdown(struct run *run)
{
	const struct manifest *manifest = run->request->manifest;
	struct shell *shell = NULL;
	int rc;

	if (!manifest->writes_card || run->request->board->config->is_local)
		return 0;
	if (!manifest->shutdown.command) {
		run_event(run, "warning",
			"the system writes its card and its manifest has no \"shutdown\": the card "
			"is written anew before its next boot");
		return 0;
	}
	run_set_deadline(run, (manifest->shutdown.timeout_s + 120) * 1000ull);
	/* A reset or a last oops of a system that ends is no failure of what it measured. */
	run->is_handed_over = false;
	rc = open_shell(run, &shell);
	if (rc == 0)
		rc = shell_wait_prompt(shell, 60000);
	if (rc == 0)
		shut_down(run, shell);
	else
		run_event(run, "warning",
			"not shut down, so the card is written anew before its next boot: %s",
			shell_error(shell));
	shell_free(shell);
	return 0;
}

/* -------------------------------------------------------------- first boot */

/* In small pieces, so that what the loader says next is left to who waits for it. */
static int wait_reset(struct run *run)
{
	uint8_t bytes[RESET_PIECE];

	while (watcher_verdict(&run->watcher)->cause != WATCHER_CAUSE_RESET) {
		ssize_t got = link_read(run->request->board->console, bytes, sizeof(bytes), 1000);

		if (got == -ETIME)
			return run_fail(run, VERDICT_FAIL, -ETIMEDOUT,
				"the first boot did not start the system anew within %u s; last "
				"state %s, last line \"%.80s\"",
				run->request->manifest->first_boot.timeout_s,
				watcher_state_name(watcher_state(&run->watcher)),
				run->watcher.last);
		if (got < 0)
			return run_fail_peer(run, (int)got, "waiting for the first boot's reset");
		watcher_feed(&run->watcher, monotonic_get_ms(), bytes, (size_t)got);
	}
	return 0;
}

/* An agent that started by itself has the console. */
static int dismiss_agent(struct run *run)
{
	struct message_hello hello;
	int rc;

	run_init_peer(run, run->request->manifest->uart.baud);
	rc = peer_wait_hello(
		&run->peer, (int)run->request->manifest->first_boot.timeout_s * 1000, &hello);
	if (rc >= 0)
		rc = peer_open_session(&run->peer, (uint32_t)monotonic_get_us() | 1, &hello);
	if (rc == 0)
		rc = peer_quit(&run->peer);
	return rc < 0 ? run_fail_peer(run, rc, "waiting for the agent of the first boot") : 0;
}

static int end_first_boot(struct run *run)
{
	const struct manifest *manifest = run->request->manifest;
	struct shell *shell = NULL;
	int rc = manifest->start_is_auto ? dismiss_agent(run) : 0;

	if (rc == 0 && manifest->prompt)
		rc = run_reach_shell(run, &shell, manifest->first_boot.timeout_s * 1000);
	if (rc == 0 && shell && manifest->shutdown.command) {
		run_set_deadline(run, (manifest->shutdown.timeout_s + 60) * 1000ull);
		run->is_handed_over = false;
		shut_down(run, shell);
	}
	shell_free(shell);
	return rc;
}

/* From power-on to power-off; `last` is shut down, the others reset themselves. */
static int prepare_once(struct run *run, bool last)
{
	int rc = run_step_power(run);

	if (rc == 0)
		rc = run_step_loader(run);
	if (rc == 0)
		rc = run_step_payloads(run);
	run->is_reset_expected = !last;
	if (rc == 0)
		rc = last ? end_first_boot(run) : wait_reset(run);
	run->is_reset_expected = false;
	if (rc != 0)
		return rc;
	rc = board_set_power(run->request->board, false);
	if (rc != 0)
		return run_fail(
			run, VERDICT_LAB_FAILURE, rc, "%s", board_error(run->request->board));
	return 0;
}

/* The boot that counts begins as if there had been none. */
static void forget_boot(struct run *run)
{
	loader_free(run->loader);
	run->loader = NULL;
	run->is_handed_over = false;
	run->evidence.payloads_matched = 0;
	run->power_on_ms = 0;
	run->first_output_ms = 0;
}

int run_step_prepare(struct run *run)
{
	const struct manifest *manifest = run->request->manifest;
	unsigned boots = manifest->first_boot.reboots + 1;
	uint64_t began_ms;
	int rc = 0;

	if (!manifest->has_first_boot || !run->is_card_fresh || run_is_icount(run))
		return 0;
	for (unsigned boot = 1; rc == 0 && boot <= boots; boot++) {
		run_set_deadline(run, manifest->first_boot.timeout_s * 1000ull);
		began_ms = monotonic_get_ms();
		rc = prepare_once(run, boot == boots);
		if (rc != 0)
			break;
		run_event(run, "first-boot", "boot %u of %u: %s after %.1f s, nothing is measured",
			boot, boots, boot == boots ? "over" : "the system has started anew",
			(double)(monotonic_get_ms() - began_ms) / 1e3);
		log_progress("%s: first boot, %u of %u is over", manifest->system, boot, boots);
		forget_boot(run);
	}
	return rc;
}
