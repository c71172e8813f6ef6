/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fixed release grid d_i = d_0 + i * P in counter units.  Every release gets
 * a sample; late ones follow back to back, none is skipped.  P need not be a
 * whole number of counts: the fraction is carried, so that d_i is never off by
 * more than one count however long the grid.  All arithmetic is modulo 2^64:
 * the counter may wrap.  What runs once a release is inline: it lies between two
 * sleeps.
 */
#ifndef AGENTS_CORE_GRID_H
#define AGENTS_CORE_GRID_H

#include <stdint.h>

struct grid {
	uint64_t next;	       /* the release that comes next, counts */
	uint64_t whole;	       /* P in counts, whole part */
	uint64_t fraction;     /* and the rest, in millionths of a count */
	uint64_t carried;      /* fraction carried so far, below 1000000 */
	uint32_t missed;       /* releases with lateness >= P */
	uint32_t early;	       /* releases with lateness < 0 */
	uint32_t back_to_back; /* releases that had passed when their turn came */
	int64_t latest;	       /* largest lateness seen, counts */
};

/* period_us * rate_hz must stay below 2^64; period_us > 0. */
void grid_init(struct grid *grid, uint64_t first, uint32_t period_us, uint64_t rate_hz);

/*
 * The next release; `now` is the last counter reading and only tells whether
 * this release runs back to back.
 */
inline uint64_t grid_next(struct grid *grid, uint64_t now)
{
	uint64_t release = grid->next;

	if ((int64_t)(now - release) >= 0)
		grid->back_to_back++;
	grid->next += grid->whole;
	grid->carried += grid->fraction;
	if (grid->carried >= 1000000u) {
		grid->carried -= 1000000u;
		grid->next++;
	}
	return release;
}

/* Lateness of `stamp` against `release`, counted as missed or early. */
inline int64_t grid_judge(struct grid *grid, uint64_t release, uint64_t stamp)
{
	int64_t lateness = (int64_t)(stamp - release);

	if (lateness < 0)
		grid->early++;
	else if ((uint64_t)lateness >= grid->whole + (grid->fraction != 0))
		grid->missed++;
	if (lateness > grid->latest)
		grid->latest = lateness;
	return lateness;
}

/*
 * A phase in 0 .. period-1 counts, a function of the seed alone (splitmix64);
 * 0 for a period of 0.
 */
uint64_t grid_phase(uint32_t seed, uint64_t period);

#endif
