/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/clockfit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the earliest reading of points [from, to) lies, and how far behind it
 * the second earliest is. */
struct envelope {
	double at_s, late_counts, spread_counts;
};

static double lateness(
	const uint64_t *counter, const uint64_t *os_ns, uint64_t counter_hz, size_t i)
{
	double os_counts = (double)(os_ns[i] - os_ns[0]) * (double)counter_hz / 1e9;

	return (double)(counter[i] - counter[0]) - os_counts;
}

static struct envelope envelope_of(const uint64_t *counter, const uint64_t *os_ns,
	uint64_t counter_hz, size_t from, size_t to, double slope)
{
	struct envelope e = {0};
	double best = INFINITY, second = INFINITY;

	for (size_t i = from; i < to; i++) {
		double raw = lateness(counter, os_ns, counter_hz, i);
		double at_s = (double)(os_ns[i] - os_ns[0]) / 1e9;
		double late = raw - slope * at_s;

		if (late < best) {
			second = best;
			best = late;
			e.at_s = at_s;
			e.late_counts = raw;
		} else if (late < second) {
			second = late;
		}
	}
	e.spread_counts = isfinite(second) ? second - best : 0;
	return e;
}

static bool is_one_count(double ppm, double uncertainty, uint64_t counter_hz, double tick_hz)
{
	double off_by_one = 1e6 * tick_hz / (double)counter_hz;

	return fabs(fabs(ppm) - off_by_one) <= fmax(0.1 * off_by_one, fmin(uncertainty, 5));
}

int clockfit_audit(const uint64_t *counter, const uint64_t *os_ns, size_t count,
	uint64_t counter_hz, double tick_hz, struct clockfit_audit *audit)
{
	static const double usual_ticks[] = {1000, 250, 300, 100};
	struct envelope first, last;
	double slope = 0;
	size_t first_end = 0, last_start = count;
	uint64_t quarter_ns;

	memset(audit, 0, sizeof(*audit));
	if (count < 8 || counter_hz == 0)
		return -EINVAL;
	for (size_t i = 1; i < count; i++)
		if (counter[i] < counter[i - 1] || os_ns[i] < os_ns[i - 1])
			return -EINVAL;
	/* Quarters of the time: readings that were held up lie unevenly in it. */
	quarter_ns = (os_ns[count - 1] - os_ns[0]) / 4;
	while (first_end < count && os_ns[first_end] - os_ns[0] <= quarter_ns)
		first_end++;
	while (last_start > 0 && os_ns[count - 1] - os_ns[last_start - 1] <= quarter_ns)
		last_start--;
	if (first_end < 2 || count - last_start < 2)
		return -EINVAL;
	/* The earliest reading depends a little on the slope itself: three rounds settle it. */
	for (int round = 0; round < 3; round++) {
		first = envelope_of(counter, os_ns, counter_hz, 0, first_end, slope);
		last = envelope_of(counter, os_ns, counter_hz, last_start, count, slope);
		if (last.at_s <= first.at_s)
			return -EINVAL;
		slope = (last.late_counts - first.late_counts) / (last.at_s - first.at_s);
	}
	audit->span_s = last.at_s - first.at_s;
	audit->ppm = slope / (double)counter_hz * 1e6;
	audit->uncertainty = (first.spread_counts + last.spread_counts + 2) / audit->span_s /
			     (double)counter_hz * 1e6;
	if (tick_hz > 0) {
		audit->one_count_per_tick =
			is_one_count(audit->ppm, audit->uncertainty, counter_hz, tick_hz);
		audit->tick_hz = tick_hz;
		return 0;
	}
	for (size_t i = 0; i < sizeof(usual_ticks) / sizeof(usual_ticks[0]); i++)
		if (is_one_count(audit->ppm, audit->uncertainty, counter_hz, usual_ticks[i])) {
			audit->one_count_per_tick = true;
			audit->tick_hz = usual_ticks[i];
			break;
		}
	return 0;
}

static const struct clockfit_exchange *shortest(
	const struct clockfit_exchange *exchanges, size_t count)
{
	const struct clockfit_exchange *best = &exchanges[0];

	for (size_t i = 1; i < count; i++)
		if (exchanges[i].host_received_us - exchanges[i].host_sent_us <
			best->host_received_us - best->host_sent_us)
			best = &exchanges[i];
	return best;
}

/*
 * A link that gives bytes a little sooner than its rate allows (an adapter's
 * burst) contradicts the bounds of the line: then only the two shortest round
 * trips are believed, and nothing of how they divide.
 */
static void fit_round_trips(const struct clockfit_exchange *a, const struct clockfit_exchange *b,
	uint64_t counter_hz, struct clockfit_host *host)
{
	double sent_us = (double)(b->host_sent_us - a->host_sent_us);
	double received_us = (double)(b->host_received_us - a->host_received_us);
	double span_us = (sent_us + received_us) / 2;
	double counts = ((double)(b->target_received - a->target_received) +
				(double)(b->target_sent - a->target_sent)) /
			2;
	double unknown_us = ((double)(a->host_received_us - a->host_sent_us) +
				    (double)(b->host_received_us - b->host_sent_us)) /
			    2;

	*host = (struct clockfit_host){
		.ppm = (counts / (double)counter_hz * 1e6 / span_us - 1) * 1e6,
		.uncertainty = unknown_us / span_us * 1e6,
		.span_s = span_us / 1e6,
	};
}

int clockfit_host(const struct clockfit_exchange *first, size_t first_count,
	const struct clockfit_exchange *last, size_t last_count, uint64_t counter_hz,
	struct clockfit_host *host)
{
	size_t count = first_count + last_count;
	struct clockfit_exchange *all = calloc(count + 1, sizeof(*all));
	struct clockfit_time time;
	int rc;

	memset(host, 0, sizeof(*host));
	if (!all)
		return -ENOMEM;
	memcpy(all, first, first_count * sizeof(*all));
	memcpy(all + first_count, last, last_count * sizeof(*all));
	rc = first_count && last_count ? clockfit_time(all, count, counter_hz, &time) : -EINVAL;
	free(all);
	if (rc == -EDOM) {
		fit_round_trips(
			shortest(first, first_count), shortest(last, last_count), counter_hz, host);
		return 0;
	}
	if (rc != 0)
		return rc;
	*host = (struct clockfit_host){
		.ppm = time.ppm, .uncertainty = time.ppm_uncertainty, .span_s = time.span_s};
	return 0;
}
