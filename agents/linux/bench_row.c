/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/bench_row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	int32_t left = *(const int32_t *)a;
	int32_t right = *(const int32_t *)b;

	return left < right ? -1 : left > right;
}

/* The smallest value that at least `thousandths` of a thousand are not above. */
static double pick(const int32_t *sorted, uint32_t count, uint32_t thousandths)
{
	uint64_t rank = ((uint64_t)count * thousandths + 999) / 1000;

	return sorted[rank > 0 ? rank - 1 : 0];
}

int bench_row_make(struct bench_row *row, const char *name, const int32_t *values, uint32_t count)
{
	int32_t *sorted;
	double sum = 0;

	if (count == 0)
		return -EINVAL;
	sorted = malloc(count * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare);
	for (uint32_t i = 0; i < count; i++)
		sum += sorted[i];
	*row = (struct bench_row){
		.name = name,
		.n = count,
		.min = sorted[0],
		.mean = sum / count,
		.p50 = pick(sorted, count, 500),
		.p90 = pick(sorted, count, 900),
		.p99 = pick(sorted, count, 990),
		.p99_9 = pick(sorted, count, 999),
		.max = sorted[count - 1],
	};
	free(sorted);
	return 0;
}

int bench_row_make_skipped(
	struct bench_row *row, const int32_t *lateness, uint32_t count, uint64_t period)
{
	int32_t *kept = malloc((count + (size_t)1) * sizeof(*kept));
	uint32_t used = 0;
	int ret;

	if (!kept)
		return -ENOMEM;
	for (uint64_t i = 0; i < count;) {
		int32_t late = lateness[i];

		kept[used++] = late;
		i += late > 0 && period ? 1 + (uint64_t)late / period : 1;
	}
	ret = bench_row_make(row, "latency, skipped view", kept, used);
	free(kept);
	return ret;
}
