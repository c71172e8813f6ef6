/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer, a simulated line, and one of the two targets at its end: the model
 * that can do wrong, or the real agent.  One rig a program; whatever goes wrong
 * where it should not fails the test.
 */
#ifndef TESTS_PEER_RIG_H
#define TESTS_PEER_RIG_H

#include <check.h>

#include "harness/peer.h"
#include "tests/wire_agent.h"
#include "tests/wire_model.h"

#define PEER_RIG_NONCE 0xdeadbeefu

struct peer_rig {
	struct wire_line line;
	struct wire_model model;
	struct wire_agent agent;
	bool has_agent;
	struct peer peer;
	/* What the callbacks were told. */
	char text[1 << 16];
	size_t text_size;
	uint64_t text_us;
	unsigned int hellos;
};

extern struct peer_rig peer_rig;

void peer_rig_open(uint64_t seed, bool has_agent);
void peer_rig_close(void);

void peer_rig_open_session(void);

/* Window 7 of the model, armed; or with everything up to its DONE. */
void peer_rig_arm(void);
void peer_rig_measure(struct peer_window *window);

/* *bytes is the caller's, also on error. */
int peer_rig_pull(const struct series_entry *entry, uint8_t **bytes);

/* All series of the model, compared. */
void peer_rig_pull_everything(const struct peer_window *window);

/* Window 7 of the real agent: its seeded bench, up to DONE. */
void peer_rig_measure_agent(uint32_t n, uint32_t seed, struct peer_window *window);

/* The entry of a series of window 7. */
void peer_rig_find(const struct peer_window *window, const char *name, struct series_entry *entry);

/* Whether those are the seeded values of the real agent, coded or not. */
void peer_rig_check_values(const struct series_entry *entry, const uint8_t *bytes, uint32_t seed);

/* Of the line. */
uint64_t peer_rig_now_ms(void);

#define PEER_OK(call) ck_assert_msg((call) == 0, #call ": %s", peer_error(&peer_rig.peer))
#define PEER_GIVES(err, call)                                                                      \
	do {                                                                                       \
		int got_ = (call);                                                                 \
		ck_assert_msg(got_ == (err), #call ": %d (%s), not " #err, got_,                   \
			peer_error(&peer_rig.peer));                                               \
		ck_assert_str_ne(peer_error(&peer_rig.peer), "");                                  \
	} while (0)

#endif
