/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small target for the simulated line that can also do wrong: it lies,
 * chatters, restarts or dies on demand. The honest half of the protocol is
 * tested with the real agent (tests/wire_agent.h); what an honest agent never
 * does needs this one.
 */
#ifndef TESTS_WIRE_MODEL_H
#define TESTS_WIRE_MODEL_H

#include "tests/wire_line.h"

#define WIRE_MODEL_SERIES 3
#define WIRE_MODEL_BIG	  20000u /* values of the largest series */

enum wire_lie {
	WIRE_LIE_NONE,
	WIRE_LIE_MAJOR,		 /* HELLO with another major */
	WIRE_LIE_STILL_COUNTER,	 /* HELLO with 0 Hz */
	WIRE_LIE_SHORT_HELLO,	 /* a HELLO that ends early, CRC right */
	WIRE_LIE_COOKIE,	 /* PONG with another cookie */
	WIRE_LIE_PONG_IDLE,	 /* PONG says idle whatever is true, DONE never comes */
	WIRE_LIE_PONG_RUNNING,	 /* the same with running */
	WIRE_LIE_ARMED_OTHER,	 /* ARMED of another window */
	WIRE_LIE_RELEASED_OTHER, /* RELEASED of another window */
	WIRE_LIE_FACTS_HUGE,	 /* 4 GiB of facts */
	WIRE_LIE_FACTS_NUL,	 /* a NUL inside */
	WIRE_LIE_FACTS_CRC,	 /* the CRC never fits */
	WIRE_LIE_INDEX_HUGE,
	WIRE_LIE_INDEX_GARBAGE,
	WIRE_LIE_INDEX_TWICE, /* one id twice */
	WIRE_LIE_SERIES_HUGE, /* 4 GiB in the index */
	WIRE_LIE_WINDOW_HUGE, /* each series could be, all together not */
	WIRE_LIE_SERIES_CRC,
	WIRE_LIE_DATA_BEFORE,	  /* DATA below the range asked for */
	WIRE_LIE_DATA_BEHIND,	  /* DATA beyond the series */
	WIRE_LIE_DATA_FAR,	  /* an offset near 2^32 */
	WIRE_LIE_DATA_OTHER,	  /* DATA of another series with the right seq */
	WIRE_LIE_DATA_SHORT,	  /* DATA whose body ends early */
	WIRE_LIE_DATA_FIRST_ONLY, /* only ever the first byte of a range */
	WIRE_LIE_ERROR_SHORT,	  /* an ERROR that cannot be read */
	WIRE_LIE_ERROR_READ,	  /* READ is answered by bad-range */
	WIRE_LIE_FLOOD,		  /* prints without end and answers nothing */
	WIRE_LIE_COUNT,
};

struct wire_model {
	struct wire_line *line;
	struct frame_reader reader;
	uint8_t chunk[FRAME_CHUNK_SIZE(FRAME_HOST_BODY_MAX)];
	enum wire_lie lie;
	double counter_ppm; /* how fast its counter is */
	bool is_mute;	    /* hears and does everything, says nothing */
	uint32_t session;
	uint8_t state;
	struct message_arm arm;
	uint8_t go_seq;
	uint64_t go_ns;
	uint64_t done_ns;   /* when the window will end */
	uint32_t window_ms; /* how long windows last, from GO */
	struct message_done done;
	const char *chatter; /* printed chatter_ms after GO */
	size_t chatter_size;
	uint32_t chatter_ms;
	uint32_t restart_ms;   /* after GO, 0 = never */
	bool restarts_quietly; /* without a HELLO */
	unsigned int reads;    /* READs heard */
	unsigned int probes;   /* texts made */
	uint8_t probe_seq;
	bool shuffles; /* DATA of a range in odd order, overlapping */

	char facts[3000];
	size_t facts_size;
	char catalogue[500];
	size_t catalogue_size;
	struct series_entry entries[WIRE_MODEL_SERIES];
	uint8_t *data[WIRE_MODEL_SERIES];
	uint8_t index[WIRE_MODEL_SERIES * SERIES_ENTRY_SIZE_MAX];
	uint32_t index_size;

	bool train_is_on;
	uint8_t train_seq;
	struct message_read train;
	const uint8_t *train_data;
	uint32_t train_at;
};

/* Puts the model at the end of the line. wire_model_restart() makes it say HELLO. */
void wire_model_init(struct wire_model *model, struct wire_line *line);
void wire_model_fini(struct wire_model *model);

/* Forgets everything, as a reset does, and says HELLO if loud. */
void wire_model_restart(struct wire_model *model, bool is_loud);

#endif
