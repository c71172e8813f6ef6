/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the run sequence share; nobody else includes it. */
#ifndef SAMEBOARD_HARNESS_RUN_INTERNAL_H
#define SAMEBOARD_HARNESS_RUN_INTERNAL_H

#include "boardctl/loader.h"
#include "boardctl/shell.h"
#include "boardctl/watcher.h"
#include "harness/card_plan.h"
#include "harness/gates.h"
#include "harness/peer.h"
#include "harness/run.h"

enum run_state {
	RUN_STATE_CARD,	    /* image to card, verified */
	RUN_STATE_PREPARE,  /* the first boots of a card that was just written: nothing is measured
			     */
	RUN_STATE_POWER,    /* console open, power on */
	RUN_STATE_LOADER,   /* first banner, loader's prompt */
	RUN_STATE_PAYLOADS, /* load each, sum it in memory, hand over */
	RUN_STATE_HELLO,    /* the system starts, the agent announces itself */
	RUN_STATE_SESSION,  /* nonce, time exchange, facts, catalogue */
	RUN_STATE_WINDOWS,  /* once a window: ARM, GO, silence, DONE, pull, store, RELEASE */
	RUN_STATE_SOAK,	    /* until the watchdogs' time is over */
	RUN_STATE_QUIT,	    /* the agent gives the console back */
	RUN_STATE_SHUTDOWN, /* a system that writes its card ends in order */
	RUN_STATE_OFF,	    /* rest state, verified */
	RUN_STATES,
};

#define RUN_EXCHANGES 16

/* The raw line, both directions, until it is stored. */
struct run_console {
	uint8_t *data;
	size_t size, capacity;
	struct store_mark *marks;
	size_t mark_count, mark_capacity;
	uint64_t offset;     /* of the first byte in data, over the whole run */
	int64_t utc_zero_ms; /* UTC of monotonic time 0 */
	bool is_out_of_memory;
};

/* Words of the evidence, and the host's clocks when the run began. */
struct run_machine {
	double monotonic_ms, wall_ms, boot_ms;
	char optimised[16], sanitized[16], flags[256], version[64];
	char wake_name[96];
};

struct run {
	const struct run_request *request;
	struct run_result *result;
	enum run_state state;
	uint64_t deadline_ms;	  /* monotonic, of the state */
	uint64_t power_on_ms;	  /* monotonic */
	uint64_t first_output_ms; /* monotonic, of the first byte after power-on; 0: none yet */
	uint64_t hello_ms;	  /* monotonic, when the agent had announced itself */
	uint64_t answered_ms;	  /* monotonic, of the last answer in the session */
	struct run_console console;
	struct watcher watcher;
	size_t warnings_told;	/* of the watcher's */
	struct loader *loader;	/* from its prompt on; knows what the prompt can do */
	bool is_handed_over;	/* the loader has started the system: the guard watches */
	bool is_reset_expected; /* a first boot that ends by starting anew */
	bool is_card_fresh;	/* written in this run */
	struct peer peer;
	struct card_plan card_plan;
	uint32_t session;
	uint64_t counter_hz;
	struct message_bauded rates; /* of the target's UART, when has_rates */
	bool has_rates, is_raise_off;
	char *catalogue; /* text of CATALOG */
	size_t next_window;
	struct clockfit_exchange first[RUN_EXCHANGES], last[RUN_EXCHANGES];
	size_t first_count, last_count;
	int32_t *sleep_lateness;
	struct gate_run evidence;
	char reset_note[WATCHER_LINE_SIZE], lost_note[320], payload_note[512];
	char settings[160], required_note[320];
	struct gate_set gates;
	struct run_machine machine;
};

struct run_window;

/* What the gates of machine, builds and host are judged by; harness/run_evidence.c. */
void run_evidence_begin(struct run *run);
void run_evidence_take_agent(struct run *run, const char *version);
void run_evidence_take_facts(struct run *run, const char *facts);
void run_evidence_take_window(struct run *run, const struct run_window *window);
void run_evidence_end(struct run *run);
/* Fixed work in the job's valid runs so far whose agents were built as this run's was. */
void run_evidence_find_peers(
	struct store *store, int64_t job_id, int64_t run_id, struct gate_run *evidence);

/* Kept beside the samples; errors of the store. */
int run_evidence_store(struct run *run);

/*
 * Ends the measuring with this verdict, unless an earlier one stands.  Returns
 * `error`, so that steps can return it.
 */
int run_fail(struct run *run, enum verdict verdict, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Ends the measuring; the store's error is the reason. */
int run_fail_store(struct run *run, int error);

/*
 * What an error of the peer or of the link under it means: a reset, a silent
 * agent, a panic, a stop, a lab failure.  `doing` is for people: "pulling
 * latency of wake.cpu".  Returns error.
 */
int run_fail_peer(struct run *run, int error, const char *doing);

/* An event of the run, stored at once; a full disk shows at the next window. */
void run_event(struct run *run, const char *kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Moves the present state's deadline. */
void run_set_deadline(struct run *run, uint64_t ms_from_now);

/* Seconds since power-on. */
double run_uptime_s(const struct run *run);

/* Whether the board's time follows from its instructions: the card carries the plan. */
bool run_is_icount(const struct run *run);

/* On this machine: what the states before HELLO leave behind, without their work. */
int run_begin_local(struct run *run);

/* Steps of the states: 0 = done, 1 = once more, negative = failed (run_fail was called). */
#define RUN_STEP_AGAIN 1
int run_step_card(struct run *run);
int run_step_prepare(struct run *run);
int run_step_power(struct run *run);
int run_step_loader(struct run *run);
int run_step_payloads(struct run *run);
int run_step_hello(struct run *run);
int run_step_session(struct run *run);
int run_step_window(struct run *run);
int run_step_soak(struct run *run);
int run_step_quit(struct run *run);
int run_step_shutdown(struct run *run);

/*
 * Waits for the system's shell, and for the end of its boot where the manifest
 * says how that shows.  shell_free(*shell) in every case; errors are told by
 * run_fail_shell() already.
 */
int run_reach_shell(struct run *run, struct shell **shell, unsigned timeout_ms);

/* What an error of the shell's dialogue means.  Returns error. */
int run_fail_shell(struct run *run, int error, const struct shell *shell, const char *doing);

/*
 * Raises the line for that many bytes, where the lab file allows it and it is
 * worth it; 0 also when it stays as it is.  The line must be lowered before any
 * other request than a pull.  run_pull() goes on at the console's rate where a
 * raised one stalls.  Errors are the peer's.
 */
int run_raise_line(struct run *run, uint64_t bytes);
int run_lower_line(struct run *run);
int run_pull(struct run *run, struct peer_transfer *transfer);

/* The peer over the board's console; text in between goes to the watcher. */
void run_init_peer(struct run *run, uint32_t baud);

/* Records the line through the console's tap. */
void run_console_init(struct run *run);
struct link_tap run_console_tap(struct run *run);
int run_console_flush(struct run *run);
void run_console_fini(struct run *run);

#endif
