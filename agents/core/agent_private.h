/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's state, shared by agent.c (line, session, facts), agent_window.c
 * (arm, go, read, release), agent_baud.c and agent_plan.c (windows measured
 * before the host says anything); for nobody else.
 */
#ifndef AGENTS_CORE_AGENT_PRIVATE_H
#define AGENTS_CORE_AGENT_PRIVATE_H

#include "agents/core/agent.h"
#include "protocol/codec.h"
#include "protocol/frame.h"
#include "protocol/series.h"

#define FACTS_SIZE     8192u
#define CATALOGUE_SIZE 4096u
#define INPUT_SIZE     256u
#define AGENT_PLAN_MAX 32u

struct agent_planned;

/* The first minor version that knows coded series. */
#define CODED_SERIES_MINOR 1u

/* What is small comes first: so near to its begin, most of it is had by short instructions. */
struct agent {
	struct agent_port *port;
	struct arena arena;
	size_t arena_mark; /* where a window's memory begins */
	bool quit;
	bool is_recalled; /* the armed window was measured before, with this status */
	bool frame_is_pending;
	bool baud_is_new; /* switched by the request that is being handled */

	uint32_t baud;		   /* of the line now */
	uint64_t baud_deadline_ns; /* of the system's clock: then the rate is given back */
	uint32_t baud_idle_ms;	   /* while raised */

	uint32_t session; /* 0: none yet */
	uint8_t host_minor;
	uint8_t state; /* enum message_state */
	uint8_t previous_type;
	uint8_t previous_seq;
	int recalled_status;
	struct agent_planned *recalled;
	struct agent_planned *planned;
	size_t planned_count;

	struct frame frame; /* the last one read */
	uint64_t received;  /* counter when it had come in */
	size_t input_at;
	size_t input_size;
	struct message_arm arm; /* as it came, while armed or done */
	struct message_done done;
	struct text facts;
	struct text catalogue;
	struct frame_reader reader;
	struct window window;

	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_HOST_BODY_MAX)];
	uint8_t input[INPUT_SIZE];
	struct codec_model model;
	uint8_t body[FRAME_BODY_MAX];
	uint8_t wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
	uint8_t index[WINDOW_SERIES_MAX * SERIES_ENTRY_SIZE_MAX];
	uint8_t pattern[MESSAGE_DATA_MAX]; /* the part of it that is being sent */
	char facts_data[FACTS_SIZE];
	char catalogue_data[CATALOGUE_SIZE];
};

/* All return 0, or negative when the console is gone. */
int agent_send(struct agent *agent, const struct message *message, uint8_t seq);
int agent_answer(struct agent *agent, const struct message *message);
int agent_answer_error(struct agent *agent, int code, uint32_t detail, const char *text);

/*
 * 1 when a valid frame came; 0 when none did in timeout_ms or what came is not
 * yet one; negative: console gone.
 */
int agent_next_frame(struct agent *agent, uint32_t timeout_ms);

/* Cut to fit, with its NUL. */
void agent_copy_string(char *target, size_t size, const char *source);

void agent_give_up_window(struct agent *agent);

/* Lays out the window of agent->arm with n samples.  0 or a negative enum wire_error. */
int agent_prepare_window(struct agent *agent, const struct bench *bench, uint32_t n);

/* Measures and keeps what the port's plan asks for.  0, or negative: no memory for it. */
int agent_measure_plan(struct agent *agent);

/* Whether the plan had just this window; then it is the agent's window, already measured. */
bool agent_recall_window(struct agent *agent, const struct message_arm *arm);

/* The recalled window has been packed where it lies: so it is from now on. */
void agent_keep_recalled(struct agent *agent);

/* As agent_send(). */
int agent_handle_arm(struct agent *agent, const struct message_arm *arm);
int agent_handle_go(struct agent *agent, const struct message_window *go);
int agent_handle_release(struct agent *agent, const struct message_window *release);
int agent_handle_read(struct agent *agent, const struct message_read *read);
int agent_handle_baud(struct agent *agent, const struct message_baud *wanted);

/* Whether the line runs at another rate than the console's. */
bool agent_is_raised(const struct agent *agent);
/* Not longer than until the rate has to be given back. */
uint32_t agent_baud_limit_wait(const struct agent *agent, uint32_t timeout_ms);
/* A frame of the session has been answered: its end counts. */
void agent_baud_note_answer(struct agent *agent);
/* Gives the rate back when nobody was heard in time; 0 or negative. */
int agent_baud_check_time(struct agent *agent);

#endif
