/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign-wire [N [FIRST]]: N seeded sessions (1000) from seed FIRST (1), in
 * simulated time; prints how they ended and fails on any that differs silently
 * or hangs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/wire_campaign.h"

static int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned long first = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	unsigned long ends[WIRE_CAMPAIGN_ENDS] = {0}, resets = 0, resumed = 0, raised = 0,
		      killed = 0;
	unsigned long resets_found = 0;
	uint64_t samples = 0, *times = calloc(count + 1, sizeof(*times));
	bool is_verbose = getenv("V") != NULL;

	for (unsigned long i = 0; i < count; i++) {
		struct wire_campaign_result result;

		wire_campaign_run(first + i, &result);
		ends[result.end]++;
		resets += result.resets;
		resets_found += result.resets > 0 && result.error == -ECONNRESET;
		resumed += result.resumed;
		raised += result.is_raised;
		killed += result.is_killed;
		samples += result.end == WIRE_CAMPAIGN_WHOLE ? result.n : 0;
		times[i] = result.simulated_ms;
		if (result.end > WIRE_CAMPAIGN_FAILED || is_verbose)
			printf("seed %lu %s: %s\n", first + i, wire_campaign_end_name(result.end),
				result.what);
	}
	qsort(times, count, sizeof(*times), compare);
	printf("%lu sessions: %lu whole (%llu samples), %lu failed with an error, "
	       "%lu silent differences, %lu hangs\n",
		count, ends[WIRE_CAMPAIGN_WHOLE], (unsigned long long)samples,
		ends[WIRE_CAMPAIGN_FAILED], ends[WIRE_CAMPAIGN_SILENT], ends[WIRE_CAMPAIGN_HUNG]);
	printf("%lu resets (%lu ended as such), %lu raised, %lu hosts killed, "
	       "%lu pulls taken up again; "
	       "line time median %.1f s, longest %.1f s\n",
		resets, resets_found, raised, killed, resumed,
		count ? (double)times[count / 2] / 1e3 : 0,
		count ? (double)times[count - 1] / 1e3 : 0);
	free(times);
	return ends[WIRE_CAMPAIGN_SILENT] || ends[WIRE_CAMPAIGN_HUNG] || !ends[WIRE_CAMPAIGN_WHOLE];
}
