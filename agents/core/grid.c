/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/grid.h"

#define MILLION 1000000u

/* For where a compiler that saves room calls them. */
extern inline uint64_t grid_next(struct grid *grid, uint64_t now);
extern inline int64_t grid_judge(struct grid *grid, uint64_t release, uint64_t stamp);

void grid_init(struct grid *grid, uint64_t first, uint32_t period_us, uint64_t rate_hz)
{
	uint64_t product = rate_hz * period_us;

	grid->next = first;
	grid->whole = product / MILLION;
	grid->fraction = product % MILLION;
	grid->carried = 0;
	grid->missed = 0;
	grid->early = 0;
	grid->back_to_back = 0;
	grid->latest = INT64_MIN;
}

uint64_t grid_phase(uint32_t seed, uint64_t period)
{
	uint64_t z = seed + 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return period ? z % period : 0;
}
