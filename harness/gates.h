/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validity gates: what must hold before a number may be believed.  One table
 * says what each proves; pure functions judge evidence that a run gathered or
 * that a store gives back, so that a stranger can judge again.
 *
 * Functions return nothing or 0/-ENOMEM; a set belongs to one thread.
 */
#ifndef SAMEBOARD_HARNESS_GATES_H
#define SAMEBOARD_HARNESS_GATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/store.h"
#include "harness/clockfit.h"

enum gate {
	/* Of a run. */
	GATE_IMAGE_IDENTITY,
	GATE_ONE_SESSION,
	GATE_SOAK,
	GATE_TIMED_SLEEP,
	GATE_INTERRUPTS,
	GATE_CLOCK_AUDIT,
	GATE_CLOCK_HOST,
	GATE_REFERENCE,
	GATE_SETTINGS,
	GATE_REQUIRED_FACTS,
	GATE_MACHINE_STATE,
	GATE_BUILD_COMPARABLE,
	GATE_AGENT_BUILD,
	GATE_HOST_CLOCK,
	GATE_WAKE_PLAUSIBLE,
	/* Of each window. */
	GATE_SILENCE,
	GATE_KERNEL_MESSAGES,
	GATE_SAMPLES_COMPLETE,
	GATE_NOT_CLIPPED,
	GATE_FLOOR_STABLE,
	GATE_PAGE_FAULTS,
	GATE_CLOCK_DISCIPLINE,
	GATE_FREQUENCY,
	GATE_LOAD_RAN,
	GATE_TEMPERATURE,
	GATE_THROTTLING,
	GATES,
};

struct gate_description {
	const char *id; /* "clock-audit": in the database, in suites, in reports */
	bool is_of_window;
	const char *proves;
	const char *threshold; /* with its unit */
	const char *source;    /* where the threshold comes from */
};

const struct gate_description *gate_describe(enum gate gate);

/* The gate of an id, or -ENOENT. */
int gate_find(const char *id);

/* Thresholds. */
#define GATE_AUDIT_FAIL_PPM   20.0
#define GATE_HOST_WARN_PPM    100.0
#define GATE_HOST_FAIL_PPM    500.0
#define GATE_REFERENCE_RATIO  0.01
#define GATE_FLOOR_COUNTS     2
#define GATE_FLOOR_RATIO      0.25
#define GATE_AUDIT_SPAN_MIN_S 10.0

#define GATE_HOST_CLOCK_MS   1000.0 /* and 500 ppm of the run */
#define GATE_HOST_SLEEP_MS   100.0
#define GATE_TEMPERATURE_MAX 10.0 /* degrees within a window */

/* Results, in the order in which they were judged. */
struct gate_set {
	struct store_gate *gates;
	size_t count, capacity;
	bool is_out_of_memory;
};

/* `format` is the evidence: what was seen, with numbers and units. */
void gate_add(struct gate_set *set, enum gate gate, unsigned window, enum gate_verdict verdict,
	const char *format, ...) __attribute__((format(printf, 5, 6)));
void gate_set_free(struct gate_set *set);

/* The first that failed, or that is unknown and not allowed; NULL if none. */
const struct store_gate *gate_set_find_failure(const struct gate_set *set,
	bool (*is_unknown_allowed)(void *context, const char *id), void *context);

/* ------------------------------------------------------- evidence of a run */

enum gate_progress {
	GATE_PROGRESS_NOT_TRIED,
	GATE_PROGRESS_BEGUN, /* it was started and never came back */
	GATE_PROGRESS_DONE,
};

struct gate_run {
	bool is_emulated;
	bool is_icount; /* time follows from instructions */
	bool is_local;	/* this machine itself: no card, no power, no loader */
	uint64_t counter_hz;

	/* The image that runs is the image written; strings are borrowed. */
	const char *card_sha256;  /* as read back from the card; NULL: not done */
	const char *image_sha256; /* of the manifest */
	unsigned payloads, payloads_matched;
	const char *payload_note; /* of the first that differed; NULL if none did */

	/* One session from first to last frame. */
	uint32_t session;	/* 0: none was ever opened */
	const char *reset_note; /* what told of a reset; NULL if none */
	double reset_s;		/* since power-on */
	const char *lost_note;	/* the agent fell silent; NULL if not */
	uint64_t frames;
	double answered_s; /* power-on to the last frame of the session */
	double soak_s;	   /* asked for */

	/* Timed sleeps that wake, interrupts that advance. */
	enum gate_progress sleep;
	double sleep_deadline_s; /* the host's */
	const int32_t *sleep_lateness;
	size_t sleep_count;
	bool has_interrupts;
	uint64_t interrupts; /* while it slept */

	/* Clocks. */
	enum gate_progress audit;
	int audit_error;
	struct clockfit_audit audit_fit;
	double audit_accepted_ppm; /* of the suite; 0: none */
	int host_error;		   /* 0: host_fit is valid */
	struct clockfit_host host_fit;

	/* Fixed work before and after: medians in counts, 0 = not measured. */
	int32_t reference_first, reference_last;

	/* What the system's settings do to the measured threads: "no" for nothing, "unknown...",
	 * else what; "" where the agent says nothing. */
	const char *settings;

	/* Facts that the suite asks for. */
	unsigned required;
	bool has_facts;
	const char *required_note; /* of the first that is not so; NULL if none */
	double reference_peers;	   /* median of the job's other runs before this one; 0: none */
	unsigned reference_runs;   /* how many */

	/* How system and agent were built; NULL: not said. */
	const char *build_optimisation, *build_config; /* of the manifest */
	bool build_is_debug;
	const char *agent_optimised, *agent_sanitized, *build_flags; /* facts */
	const char *agent_version;				     /* of HELLO */
	const char *agent_expected; /* this program's; NULL: the manifest names no agent */

	/* The host's own clocks over the run. */
	bool has_host_clock;
	double host_run_ms;   /* by the monotonic clock */
	double host_jump_ms;  /* of the wall clock against it */
	double host_sleep_ms; /* suspended meanwhile */

	/* Medians in counts; wake_name NULL: no wake-up was measured. */
	const char *wake_name;
	double wake_p50, wake_bracket; /* of the wake-up nearest to its bracket */
	double sem_p50;		       /* of the semaphore handoff; 0: not measured */
};

void gate_judge_run(struct gate_set *set, const struct gate_run *run);

/* ---------------------------------------------------- evidence of a window */

#define GATE_COUNTER_UNKNOWN UINT64_MAX
#define GATE_COUNTER_NONE    (UINT64_MAX - 1) /* the system has no such thing */

struct gate_window {
	unsigned number;
	uint64_t host_heard; /* bytes between GO and DONE */
	const char *heard;   /* the first of them, printable; "" if none */
	bool is_disturbed;   /* the host had to ask before the end */
	bool is_unheard;     /* the host died: nobody knows what came */
	uint64_t uart_rx, uart_tx, kernel_messages, page_faults;
	/* In words: "no", "none", "unknown", else what happened; "" where nothing is said. */
	const char *clock_steered, *frequency_changed;
	uint32_t asked, got; /* samples of the main series; asked 0: a matter of time */
	bool is_complete;    /* every series of the index was pulled and its CRC fits */
	int status;	     /* of DONE */
	const char *failure; /* the target's reason; "" if none */
	uint64_t clipped;
	bool has_floor;
	int32_t floor_before, floor_after; /* medians */
	bool has_load;			   /* one was asked for */
	uint64_t load_rounds, load_counts; /* work that it did, in that time */
	uint64_t counter_hz;
	const char *throttled; /* "no", "none", "" or what was */
	bool has_temperature;
	double temperature_before, temperature_after; /* degrees Celsius */
};

void gate_judge_window(struct gate_set *set, const struct gate_window *window);

/* Private to the gates' files: what is judged of machine and host. */
void gate_judge_machine(struct gate_set *set, const struct gate_run *run);
void gate_judge_window_machine(struct gate_set *set, const struct gate_window *window);

#endif
