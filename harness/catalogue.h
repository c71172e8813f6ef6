/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The benchmarks that exist, by id and name: the table of BENCHMARKS.md.
 * Static data, no errors, safe from any thread.
 */
#ifndef SAMEBOARD_HARNESS_CATALOGUE_H
#define SAMEBOARD_HARNESS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Load under a window; the numbers are those of ARM. */
enum catalogue_load {
	CATALOGUE_LOAD_IDLE = 0,
	CATALOGUE_LOAD_CPU = 1,
	CATALOGUE_LOAD_CACHE = 2,
	CATALOGUE_LOAD_IPC = 3,
	CATALOGUE_LOAD_LIGHT = 4,
	CATALOGUE_LOAD_MODERATE = 5,
	CATALOGUE_LOAD_HEAVY = 6,
	CATALOGUE_LOAD_MIXED = 7,
	CATALOGUE_LOAD_IO = 8,
	CATALOGUE_LOAD_RX = 9, /* no target has it: the line is silent in a window */
	CATALOGUE_LOAD_THERMAL = 10,
	CATALOGUE_LOADS,
};

/* What a sample is, so that reports and gates know what may be said of it. */
enum catalogue_value {
	CATALOGUE_FLOOR,     /* counts between two adjacent reads */
	CATALOGUE_LATENESS,  /* first instruction - release, in counts; may be negative (early) */
	CATALOGUE_COST,	     /* counts from one stamp to another of one operation */
	CATALOGUE_BATCH,     /* counts of K operations, the row says mean of K */
	CATALOGUE_AUDIT,     /* pairs of stamps: counter, OS clock */
	CATALOGUE_REFERENCE, /* counts of fixed work */
	CATALOGUE_GAPS,	     /* counts lost between two reads */
	CATALOGUE_PRICE,     /* sizes and times of the whole system */
};

/* What the agent must be able to do; it answers `unsupported: why` where it cannot. */
enum catalogue_need {
	CATALOGUE_NEEDS_THREADS = 1 << 0,
	CATALOGUE_NEEDS_PROCESSES = 1 << 1,
	CATALOGUE_NEEDS_TIMER = 1 << 2,
	CATALOGUE_NEEDS_PRIORITIES = 1 << 3,
	CATALOGUE_NEEDS_PI = 1 << 4,
	CATALOGUE_NEEDS_DEVICE = 1 << 5, /* an interrupt source outside the OS clock */
	CATALOGUE_NEEDS_IPC = 1 << 6,
	CATALOGUE_NEEDS_STAMPS = 1 << 7, /* stamps inside the timer's interrupt handler */
};

struct catalogue_bench {
	unsigned id;	  /* 0..99: B42 is 42 */
	const char *name; /* "wake.cpu" */
	const char *what; /* one line for people */
	enum catalogue_value value;
	unsigned needs;		  /* set of enum catalogue_need */
	uint32_t n;		  /* default number of samples, 0: a matter of time */
	uint32_t duration_ms;	  /* default, 0: a matter of n */
	uint32_t sample_us;	  /* what a sample takes, for plans; 0: of no account */
	unsigned parts;		  /* times the duration is spent; 0: once */
	enum catalogue_load load; /* under which the bench is defined */
	bool has_grid;		  /* released on a grid: period and phase mean something */
	bool load_is_free;	  /* a window may name another load */
	bool extended;		  /* `x` rows */
	bool implemented;	  /* by an agent of this version */
};

#define CATALOGUE_FLOOR_ID     0
#define CATALOGUE_AUDIT_ID     42
#define CATALOGUE_PRICE_ID     95
#define CATALOGUE_SLEEP_ID     98
#define CATALOGUE_REFERENCE_ID 99

/* Rows in ascending id; *count set. */
const struct catalogue_bench *catalogue_benches(size_t *count);

/* NULL where there is none. */
const struct catalogue_bench *catalogue_find(const char *name);
const struct catalogue_bench *catalogue_find_id(unsigned id);

/* "idle", "cpu", ... "thermal"; "?" outside the enum. */
const char *catalogue_load_name(enum catalogue_load load);

#endif
