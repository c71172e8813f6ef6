/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/gates.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/wire_error.h"

static const struct gate_description descriptions[GATES] = {
	[GATE_IMAGE_IDENTITY] = {"image-identity", false,
		"the system that ran is the image that was named: the card was read back after "
		"writing, and the loader summed each payload in memory before it was started",
		"SHA-256 of the card and CRC-32 of each payload equal the manifest's",
		"a stale or half-written card measures another system"},
	[GATE_ONE_SESSION] = {"one-session", false,
		"the board did not reset between the first and the last frame",
		"one session nonce in every frame, no banner and no HELLO after the first",
		"a loader's watchdog resets a board that has long shown its prompt"},
	[GATE_SOAK] = {"soak", false,
		"the system outlived every watchdog that a loader may have left running",
		"answers at least soak_s after power-on (default 20 s)",
		"the D1's watchdogs fire after 16 s at most"},
	[GATE_TIMED_SLEEP] = {"timed-sleep", false, "a timed wait wakes, and not before its time",
		"sleeps of 1, 10, 100 ms and 1 s return by the host's deadline, none early",
		"SBI timers that accept a deadline and never fire have been met"},
	[GATE_INTERRUPTS] = {"interrupts-advance", false,
		"time passes by interrupts and not by polling", "more than 0 while sleeping",
		"a system without interrupts looks alive at its prompt"},
	[GATE_CLOCK_AUDIT] = {"clock-audit", false,
		"the clock of the system runs at the rate of the counter",
		"slope within 20 ppm over at least 10 s, or a clock error that the suite accepts",
		"a timer reload that is off by one makes 41.7 ppm of 1 ms ticks at 24 MHz"},
	[GATE_CLOCK_HOST] = {"clock-host", false,
		"the target's counter runs at the rate that it claims",
		"within 500 ppm of the host's clock, a warning above 100 ppm",
		"crystals and USB differ by tens of ppm; a wrong rate by thousands"},
	[GATE_REFERENCE] = {"reference", false,
		"the machine was in the same state before and after the measurements",
		"fixed work takes the same time within 1 %",
		"frequency changes and throttling; meaningless where the processor is emulated"},
	[GATE_SETTINGS] = {"settings", false,
		"the system holds no measured thread back by a rule of its own",
		"real-time priorities permitted, throttling and fair server off, as read back",
		"50 ms a second for others stop every real-time thread, twice as long as any load"},
	[GATE_REQUIRED_FACTS] = {"required-facts", false,
		"the board came up with all that the suite asks for",
		"each fact of \"require\" as it says there",
		"a panel without its display or network is no product, and measures faster"},
	[GATE_MACHINE_STATE] = {"machine-state", false,
		"the machine was as fast as in the other runs of the job",
		"fixed work takes within 1 % of the median of the job's runs before whose agents "
		"were built alike",
		"two systems on a machine that changed its speed in between are not compared"},
	[GATE_BUILD_COMPARABLE] = {"build-comparable", false,
		"system and agent were built to be fast, and not to be looked into",
		"optimised, no sanitizer, no debug build, as facts and manifest say",
		"unoptimised code and asserts cost more than what is measured: function only"},
	[GATE_AGENT_BUILD] = {"agent-build", false,
		"the agent that answered is the one that belongs to this program",
		"the version in HELLO equals this program's, where the manifest names an agent",
		"an old agent on an old card answers as willingly as a new one"},
	[GATE_HOST_CLOCK] = {"host-clock", false,
		"the host was awake, and its clock was not set, while it measured",
		"wall clock within 1 s and 500 ppm of the monotonic one, suspended below 0.1 s",
		"deadlines and times of a host that slept are not what they say"},
	[GATE_WAKE_PLAUSIBLE] = {"wake-plausible", false,
		"wake-ups are not faster than they can be",
		"a warning where p50 is below the bracket of its release, or below the semaphore "
		"handoff of the same run",
		"a published p50 of 0.542 us lay in a bracket of 0.750 us"},
	[GATE_SILENCE] = {"silence", true, "nothing was printed or received while measuring",
		"0 bytes on the line between GO and DONE, counted at both ends",
		"printing at 115200 baud in the window moves a scheduler by milliseconds"},
	[GATE_KERNEL_MESSAGES] = {"kernel-messages", true,
		"the kernel formatted no message while measuring",
		"as many messages after the window as before",
		"a quiet console still formats every record"},
	[GATE_SAMPLES_COMPLETE] = {"samples-complete", true,
		"every release has its sample, and every byte arrived",
		"as many samples as asked for, the CRC-32C of each series fits",
		"the slowest samples are the first that a hurried tool drops"},
	[GATE_NOT_CLIPPED] = {"not-clipped", true, "no value was too large for its type",
		"0 values at a limit of 32 bits", "a saturated value hides the true maximum"},
	[GATE_FLOOR_STABLE] = {"floor-stable", true,
		"the instrument cost the same before and after",
		"medians within 2 counts or a quarter",
		"a floor that moves says that the machine did"},
	[GATE_PAGE_FAULTS] = {"page-faults", true, "no page was faulted in while measuring",
		"0 page faults in the window", "one fault costs more than most latencies"},
	[GATE_CLOCK_DISCIPLINE] = {"clock-discipline", true,
		"nobody moved the clock while measuring",
		"no loop of NTP runs, and no rate, offset or tick was set",
		"1 ppm of slew moves a release by 20 us in 20 s"},
	[GATE_FREQUENCY] = {"frequency", true, "the processor kept its frequency",
		"no change counted, and the same within 1 % before and after",
		"a governor halves it between two samples"},
	[GATE_LOAD_RAN] = {"load-ran", true, "the load that was asked for did work",
		"more than 0 rounds in the window, the rate is in the evidence",
		"a load that never ran measures an idle system under another name"},
	[GATE_TEMPERATURE] = {"temperature", true, "the machine did not heat up while measuring",
		"at most 10 degrees more or less after the window than before",
		"heat comes before throttling"},
	[GATE_THROTTLING] = {"throttling", true, "nothing slowed the processor down",
		"no throttling counted in the window",
		"a processor that is too hot or short of current halves its speed"},
};

const struct gate_description *gate_describe(enum gate gate)
{
	return &descriptions[gate];
}

int gate_find(const char *id)
{
	for (int i = 0; i < GATES; i++)
		if (strcmp(descriptions[i].id, id) == 0)
			return i;
	return -ENOENT;
}

void gate_add(struct gate_set *set, enum gate gate, unsigned window, enum gate_verdict verdict,
	const char *format, ...)
{
	struct store_gate *grown;
	char *evidence;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&evidence, format, args);
	va_end(args);
	if (length < 0) {
		set->is_out_of_memory = true;
		return;
	}
	if (set->count == set->capacity) {
		size_t capacity = set->capacity ? set->capacity * 2 : 32;

		grown = realloc(set->gates, capacity * sizeof(*grown));
		if (!grown) {
			free(evidence);
			set->is_out_of_memory = true;
			return;
		}
		set->gates = grown;
		set->capacity = capacity;
	}
	set->gates[set->count++] = (struct store_gate){
		.id = descriptions[gate].id,
		.window = window,
		.verdict = verdict,
		.evidence = evidence,
		.threshold = descriptions[gate].threshold,
	};
}

void gate_set_free(struct gate_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free((char *)set->gates[i].evidence);
	free(set->gates);
	*set = (struct gate_set){0};
}

const struct store_gate *gate_set_find_failure(const struct gate_set *set,
	bool (*is_unknown_allowed)(void *context, const char *id), void *context)
{
	const struct store_gate *unknown = NULL;

	for (size_t i = 0; i < set->count; i++) {
		const struct store_gate *gate = &set->gates[i];

		if (gate->verdict == GATE_VERDICT_FAIL)
			return gate;
		if (gate->verdict == GATE_VERDICT_UNKNOWN && !unknown &&
			!is_unknown_allowed(context, gate->id))
			unknown = gate;
	}
	return unknown;
}

/* ------------------------------------------------------------------ a run */

static void judge_identity(struct gate_set *set, const struct gate_run *run)
{
	bool card_fits = run->card_sha256 && run->image_sha256 &&
			 !strcmp(run->card_sha256, run->image_sha256);

	if (run->is_local)
		gate_add(set, GATE_IMAGE_IDENTITY, 0, GATE_VERDICT_NOT_APPLICABLE,
			"this machine's own system was measured: there is no card");
	else if (!run->card_sha256)
		gate_add(set, GATE_IMAGE_IDENTITY, 0, GATE_VERDICT_UNKNOWN,
			"the card was not written and read back");
	else if (!card_fits)
		gate_add(set, GATE_IMAGE_IDENTITY, 0, GATE_VERDICT_FAIL,
			"the card holds %.12s..., the manifest says %.12s...", run->card_sha256,
			run->image_sha256 ? run->image_sha256 : "nothing");
	else if (run->payload_note)
		gate_add(set, GATE_IMAGE_IDENTITY, 0, GATE_VERDICT_FAIL, "%s", run->payload_note);
	else if (run->payloads_matched < run->payloads)
		gate_add(set, GATE_IMAGE_IDENTITY, 0, GATE_VERDICT_UNKNOWN,
			"%u of %u payloads were summed in memory", run->payloads_matched,
			run->payloads);
	else
		gate_add(set, GATE_IMAGE_IDENTITY, 0, GATE_VERDICT_PASS,
			"card read back as %.12s..., %u of %u payloads as loaded", run->card_sha256,
			run->payloads_matched, run->payloads);
}

static void judge_session(struct gate_set *set, const struct gate_run *run)
{
	if (run->reset_note)
		gate_add(set, GATE_ONE_SESSION, 0, GATE_VERDICT_FAIL,
			"reset %.1f s after power-on: %s", run->reset_s, run->reset_note);
	else if (run->session == 0)
		gate_add(set, GATE_ONE_SESSION, 0, GATE_VERDICT_FAIL, "no session was opened");
	else if (run->lost_note)
		gate_add(set, GATE_ONE_SESSION, 0, GATE_VERDICT_FAIL,
			"the agent fell silent %.1f s after power-on: %s", run->answered_s,
			run->lost_note);
	else
		gate_add(set, GATE_ONE_SESSION, 0, GATE_VERDICT_PASS,
			"nonce %08x in all %llu frames", run->session,
			(unsigned long long)run->frames);

	if (run->is_local)
		gate_add(set, GATE_SOAK, 0, GATE_VERDICT_NOT_APPLICABLE,
			"nobody switched this machine on for the run");
	else if (run->is_icount && !run->reset_note)
		gate_add(set, GATE_SOAK, 0, GATE_VERDICT_NOT_APPLICABLE,
			"time follows from instructions: a watchdog would count them too");
	else if (run->reset_note || run->answered_s < run->soak_s)
		gate_add(set, GATE_SOAK, 0, GATE_VERDICT_FAIL,
			"last answer %.1f s after power-on, %.0f s asked for%s", run->answered_s,
			run->soak_s, run->reset_note ? "; then the board reset" : "");
	else
		gate_add(set, GATE_SOAK, 0, GATE_VERDICT_PASS,
			"last answer %.1f s after power-on, %.0f s asked for", run->answered_s,
			run->soak_s);
}

static void judge_sleep(struct gate_set *set, const struct gate_run *run)
{
	int32_t earliest = INT32_MAX, latest = INT32_MIN;

	if (run->sleep == GATE_PROGRESS_NOT_TRIED) {
		gate_add(set, GATE_TIMED_SLEEP, 0, GATE_VERDICT_UNKNOWN, "no sleep was tried");
		gate_add(set, GATE_INTERRUPTS, 0, GATE_VERDICT_UNKNOWN, "no sleep was tried");
		return;
	}
	if (run->sleep == GATE_PROGRESS_BEGUN) {
		if (run->reset_note)
			gate_add(set, GATE_TIMED_SLEEP, 0, GATE_VERDICT_UNKNOWN,
				"the board reset while it slept");
		else
			gate_add(set, GATE_TIMED_SLEEP, 0, GATE_VERDICT_FAIL,
				"a timed sleep had not returned %.1f s after GO, and the agent no "
				"longer answers: the timer interrupt does not arrive",
				run->sleep_deadline_s);
		gate_add(set, GATE_INTERRUPTS, 0, GATE_VERDICT_UNKNOWN, "the sleep never ended");
		return;
	}
	for (size_t i = 0; i < run->sleep_count; i++) {
		if (run->sleep_lateness[i] < earliest)
			earliest = run->sleep_lateness[i];
		if (run->sleep_lateness[i] > latest)
			latest = run->sleep_lateness[i];
	}
	if (run->sleep_count == 0)
		gate_add(set, GATE_TIMED_SLEEP, 0, GATE_VERDICT_FAIL, "no sleep was recorded");
	else
		gate_add(set, GATE_TIMED_SLEEP, 0,
			earliest < 0 ? GATE_VERDICT_FAIL : GATE_VERDICT_PASS,
			"%zu sleeps, %.3f to %.3f ms after their time", run->sleep_count,
			earliest * 1e3 / (double)run->counter_hz,
			latest * 1e3 / (double)run->counter_hz);
	if (!run->has_interrupts)
		gate_add(set, GATE_INTERRUPTS, 0, GATE_VERDICT_UNKNOWN,
			"the system does not count its interrupts");
	else
		gate_add(set, GATE_INTERRUPTS, 0,
			run->interrupts > 0 ? GATE_VERDICT_PASS : GATE_VERDICT_FAIL,
			"%llu interrupts while sleeping", (unsigned long long)run->interrupts);
}

static void judge_audit(struct gate_set *set, const struct gate_run *run)
{
	const struct clockfit_audit *fit = &run->audit_fit;
	char diagnosis[96] = "";
	double rest = fit->ppm;

	if (run->audit != GATE_PROGRESS_DONE) {
		gate_add(set, GATE_CLOCK_AUDIT, 0, GATE_VERDICT_UNKNOWN,
			run->audit == GATE_PROGRESS_BEGUN ? "the audit did not come to its end"
							  : "no audit was made");
		return;
	}
	if (run->audit_error) {
		gate_add(set, GATE_CLOCK_AUDIT, 0, GATE_VERDICT_FAIL,
			"the readings make no line: too few, or a clock ran backwards");
		return;
	}
	if (fit->span_s < GATE_AUDIT_SPAN_MIN_S) {
		gate_add(set, GATE_CLOCK_AUDIT, 0, GATE_VERDICT_UNKNOWN,
			"%+.1f ppm over %.1f s only, %.0f s are needed", fit->ppm, fit->span_s,
			GATE_AUDIT_SPAN_MIN_S);
		return;
	}
	if (run->audit_accepted_ppm != 0)
		rest -= run->audit_accepted_ppm;
	if (fit->one_count_per_tick && fabs(fit->ppm) > fit->uncertainty)
		snprintf(diagnosis, sizeof(diagnosis), ": one count per tick %s at %.0f Hz",
			fit->ppm > 0 ? "too many" : "too few", fit->tick_hz);
	gate_add(set, GATE_CLOCK_AUDIT, 0,
		fabs(rest) > GATE_AUDIT_FAIL_PPM ? GATE_VERDICT_FAIL : GATE_VERDICT_PASS,
		"%+.1f ppm (+-%.1f) over %.1f s, accepted %+.1f ppm%s", fit->ppm, fit->uncertainty,
		fit->span_s, run->audit_accepted_ppm,
		fabs(fit->ppm) > GATE_AUDIT_FAIL_PPM ? diagnosis : "");
}

static void judge_host(struct gate_set *set, const struct gate_run *run)
{
	double off = fabs(run->host_fit.ppm);

	if (run->is_icount) {
		gate_add(set, GATE_CLOCK_HOST, 0, GATE_VERDICT_NOT_APPLICABLE,
			"time follows from instructions, not from the host's clock");
		return;
	}
	if (run->host_error) {
		gate_add(set, GATE_CLOCK_HOST, 0, GATE_VERDICT_UNKNOWN,
			"no two time exchanges far enough apart");
		return;
	}
	if (off - run->host_fit.uncertainty > GATE_HOST_FAIL_PPM)
		gate_add(set, GATE_CLOCK_HOST, 0, GATE_VERDICT_FAIL,
			"%+.0f ppm (+-%.0f) over %.1f s against the host: the counter's rate is not "
			"%llu Hz",
			run->host_fit.ppm, run->host_fit.uncertainty, run->host_fit.span_s,
			(unsigned long long)run->counter_hz);
	else if (run->host_fit.uncertainty > GATE_HOST_FAIL_PPM)
		gate_add(set, GATE_CLOCK_HOST, 0, GATE_VERDICT_UNKNOWN,
			"%+.0f ppm is only known to +-%.0f over %.1f s", run->host_fit.ppm,
			run->host_fit.uncertainty, run->host_fit.span_s);
	else
		gate_add(set, GATE_CLOCK_HOST, 0, GATE_VERDICT_PASS,
			"%+.0f ppm (+-%.0f) over %.1f s against the host%s", run->host_fit.ppm,
			run->host_fit.uncertainty, run->host_fit.span_s,
			off - run->host_fit.uncertainty > GATE_HOST_WARN_PPM
				? ": warning, more than 100 ppm"
				: "");
}

static void judge_reference(struct gate_set *set, const struct gate_run *run)
{
	double change;

	if (run->is_icount) {
		gate_add(set, GATE_REFERENCE, 0, GATE_VERDICT_NOT_APPLICABLE,
			"fixed work takes the same time where time follows from instructions");
		return;
	}
	if (run->reference_first <= 0 || run->reference_last <= 0) {
		gate_add(set, GATE_REFERENCE, 0, GATE_VERDICT_UNKNOWN,
			"fixed work was not measured both before and after");
		return;
	}
	change = (double)run->reference_last / run->reference_first - 1;
	if (run->is_emulated)
		gate_add(set, GATE_REFERENCE, 0, GATE_VERDICT_NOT_APPLICABLE,
			"%+.2f %% from first to last: an emulated processor has no speed of its own",
			change * 100);
	else
		gate_add(set, GATE_REFERENCE, 0,
			fabs(change) > GATE_REFERENCE_RATIO ? GATE_VERDICT_FAIL : GATE_VERDICT_PASS,
			"%d counts first, %d last: %+.2f %%", run->reference_first,
			run->reference_last, change * 100);
}

/* ------------------------------------------------------- what a target says */

void gate_judge_run(struct gate_set *set, const struct gate_run *run)
{
	judge_identity(set, run);
	judge_sleep(set, run); /* before the session: a dead timer also ends that */
	judge_session(set, run);
	judge_audit(set, run);
	judge_host(set, run);
	judge_reference(set, run);
	gate_judge_machine(set, run);
}

/* --------------------------------------------------------------- a window */

static void judge_silence(struct gate_set *set, const struct gate_window *w)
{
	unsigned n = w->number;

	if (w->host_heard > 0)
		gate_add(set, GATE_SILENCE, n, GATE_VERDICT_FAIL,
			"%llu bytes came in the window: \"%s\"", (unsigned long long)w->host_heard,
			w->heard);
	else if (w->is_unheard)
		gate_add(set, GATE_SILENCE, n, GATE_VERDICT_UNKNOWN,
			"the host died; nobody knows what came in the window");
	else if (w->is_disturbed)
		gate_add(set, GATE_SILENCE, n, GATE_VERDICT_FAIL,
			"the host had to ask before the window had ended");
	else if (w->uart_rx == GATE_COUNTER_UNKNOWN || w->uart_tx == GATE_COUNTER_UNKNOWN)
		gate_add(set, GATE_SILENCE, n, GATE_VERDICT_PASS,
			"the host heard 0 bytes; the target does not count its own");
	else if (w->uart_rx != 0 || w->uart_tx != 0)
		gate_add(set, GATE_SILENCE, n, GATE_VERDICT_FAIL,
			"the target counted %llu bytes in and %llu out in the window",
			(unsigned long long)w->uart_rx, (unsigned long long)w->uart_tx);
	else
		gate_add(set, GATE_SILENCE, n, GATE_VERDICT_PASS,
			"0 bytes heard by the host, 0 in and 0 out counted by the target");
}

static void judge_counter(
	struct gate_set *set, enum gate gate, unsigned number, uint64_t counted, const char *what)
{
	if (counted == GATE_COUNTER_NONE)
		gate_add(set, gate, number, GATE_VERDICT_NOT_APPLICABLE, "this system has no %s",
			what);
	else if (counted == GATE_COUNTER_UNKNOWN)
		gate_add(set, gate, number, GATE_VERDICT_UNKNOWN, "the target cannot count its %s",
			what);
	else
		gate_add(set, gate, number, counted ? GATE_VERDICT_FAIL : GATE_VERDICT_PASS,
			"%llu %s in the window", (unsigned long long)counted, what);
}

static void judge_samples(struct gate_set *set, const struct gate_window *w)
{
	if (w->status != 0)
		gate_add(set, GATE_SAMPLES_COMPLETE, w->number, GATE_VERDICT_FAIL,
			"the target gave up: %s%s%s", wire_error_name(w->status),
			w->failure[0] ? ": " : "", w->failure);
	else if (!w->is_complete)
		gate_add(set, GATE_SAMPLES_COMPLETE, w->number, GATE_VERDICT_FAIL,
			"not every series could be pulled");
	else if (w->asked && w->got != w->asked)
		gate_add(set, GATE_SAMPLES_COMPLETE, w->number, GATE_VERDICT_FAIL,
			"%u of %u samples", w->got, w->asked);
	else
		gate_add(set, GATE_SAMPLES_COMPLETE, w->number,
			w->got ? GATE_VERDICT_PASS : GATE_VERDICT_FAIL,
			"%u samples, every series with its CRC", w->got);
	gate_add(set, GATE_NOT_CLIPPED, w->number,
		w->clipped ? GATE_VERDICT_FAIL : GATE_VERDICT_PASS, "%llu values clipped",
		(unsigned long long)w->clipped);
}

static void judge_floor(struct gate_set *set, const struct gate_window *w)
{
	double allowed = fmax(GATE_FLOOR_COUNTS, GATE_FLOOR_RATIO * w->floor_before);

	if (!w->has_floor)
		gate_add(set, GATE_FLOOR_STABLE, w->number, GATE_VERDICT_UNKNOWN,
			"no floor was measured");
	else
		gate_add(set, GATE_FLOOR_STABLE, w->number,
			fabs((double)w->floor_after - w->floor_before) > allowed
				? GATE_VERDICT_FAIL
				: GATE_VERDICT_PASS,
			"%d counts before, %d after", w->floor_before, w->floor_after);
}

void gate_judge_window(struct gate_set *set, const struct gate_window *window)
{
	judge_silence(set, window);
	judge_counter(set, GATE_KERNEL_MESSAGES, window->number, window->kernel_messages,
		"kernel messages");
	judge_samples(set, window);
	judge_floor(set, window);
	judge_counter(set, GATE_PAGE_FAULTS, window->number, window->page_faults, "page faults");
	gate_judge_window_machine(set, window);
}
