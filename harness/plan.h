/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job will do, worked out before anything moves: the runs in their
 * order, the windows of each, and what that costs.  -ENOMEM is the only error;
 * plan_fini() in every case.  Strings belong to the suite.
 */
#ifndef SAMEBOARD_HARNESS_PLAN_H
#define SAMEBOARD_HARNESS_PLAN_H

#include <cjson/cJSON.h>

#include "harness/suite.h"

/* Why a window is measured. */
enum plan_role {
	PLAN_ROLE_SLEEP,	   /* sleep.check, first: a dead timer ends the run */
	PLAN_ROLE_REFERENCE_FIRST, /* fixed work before ... */
	PLAN_ROLE_AUDIT,	   /* the clock, before it is used */
	PLAN_ROLE_MEASURE,	   /* named by the suite */
	PLAN_ROLE_REFERENCE_LAST,  /* ... and after */
};

struct plan_window {
	struct suite_window window;
	enum plan_role role;
};

/* One power-on to power-off. */
struct plan_run {
	const char *system;
	unsigned boot;	 /* from 1 */
	bool card_write; /* another image than the run before */
	bool is_golden;	 /* the suite's golden system, first or last */
};

struct plan {
	struct plan_window *windows; /* of each run, in order */
	size_t window_count;
	struct plan_run *runs; /* in order: rounds of all systems, each round shuffled */
	size_t run_count;
	unsigned card_writes;
	unsigned run_s, total_s; /* estimates */
};

/*
 * The suite's golden system goes first and last, its boots counted on.
 * systems NULL: those of the suite.  boots 0: as the suite says.  The seed
 * decides the order of systems inside each round.
 */
int plan_init(struct plan *plan, const struct suite *suite, const char *const *systems,
	size_t system_count, unsigned boots, uint64_t seed);
void plan_fini(struct plan *plan);

/* What the card holds that a system boots from. */
struct plan_card {
	const char *sha256;
	bool is_spent; /* after a boot it is another one */
};

/*
 * Counts the writes by what is on the cards: systems with slots on one card
 * need one write.  Before it, each system is taken to have a card of its own.
 */
void plan_set_cards(struct plan *plan,
	struct plan_card (*card_of)(void *context, const char *system), void *context);

/* The board has no card: none is written. */
void plan_drop_cards(struct plan *plan);

/* For people (free() it), and the same as JSON; NULL without memory. */
char *plan_to_text(const struct plan *plan, const struct suite *suite);
cJSON *plan_to_json(const struct plan *plan, const struct suite *suite);

#endif
