/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offset and drift from round trips.  Each exchange says for certain between
 * which two host times the target read its counter; the answer is every line
 * that passes through all of these gates, and its uncertainty is how far such
 * lines differ.  Nothing is assumed about how the latency is distributed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/clockfit.h"

#define STAMP_US     1.0 /* a stamp is whole microseconds, cut off */
#define SEARCH_STEPS 200

/* Host time of one counter reading: low to high, both us behind the first stamp. */
struct bounds {
	double at_us; /* the counter as if it ran at its nominal rate, from the first reading */
	double low, high;
};

static void bound(const struct clockfit_exchange *exchange, const struct clockfit_exchange *origin,
	uint64_t counter_hz, struct bounds *bounds)
{
	double rate = (double)counter_hz / 1e6;
	double work = (double)(exchange->target_sent - exchange->target_received) / rate;
	double sent = (double)(int64_t)(exchange->host_sent_us - origin->host_sent_us);
	double received = (double)(int64_t)(exchange->host_received_us - origin->host_sent_us);

	bounds->at_us =
		(double)(int64_t)(exchange->target_received - origin->target_received) / rate;
	bounds->low = sent + exchange->out_us - STAMP_US;
	bounds->high = received - exchange->back_us - work + STAMP_US;
}

/* The range of slopes for which some line passes all gates. */
static int find_slopes(const struct bounds *bounds, size_t count, double *low, double *high)
{
	*low = -INFINITY;
	*high = INFINITY;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			double span = bounds[k].at_us - bounds[i].at_us;

			if (span <= 0)
				continue;
			*low = fmax(*low, (bounds[k].low - bounds[i].high) / span);
			*high = fmin(*high, (bounds[k].high - bounds[i].low) / span);
		}
	if (!isfinite(*low) || !isfinite(*high))
		return -EINVAL;
	return *low <= *high ? 0 : -EDOM;
}

/* The highest (sign 1) or lowest (-1) host time at a counter reading, for one slope. */
static double reach(const struct bounds *bounds, size_t count, double at_us, double slope, int sign)
{
	double limit = INFINITY;

	for (size_t i = 0; i < count; i++) {
		double edge = sign > 0 ? bounds[i].high : -bounds[i].low;

		limit = fmin(limit, edge + sign * slope * (at_us - bounds[i].at_us));
	}
	return limit;
}

/* It is concave in the slope, so thirds close in on its top. */
static double find_extreme(
	const struct bounds *bounds, size_t count, double at_us, double low, double high, int sign)
{
	for (int i = 0; i < SEARCH_STEPS; i++) {
		double left = low + (high - low) / 3, right = high - (high - low) / 3;

		if (reach(bounds, count, at_us, left, sign) <
			reach(bounds, count, at_us, right, sign))
			low = left;
		else
			high = right;
	}
	return sign * reach(bounds, count, at_us, (low + high) / 2, sign);
}

static bool is_in_order(const struct clockfit_exchange *exchanges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct clockfit_exchange *one = &exchanges[i];

		if (one->host_received_us < one->host_sent_us ||
			one->target_sent < one->target_received)
			return false;
		if (i > 0 && (one->host_sent_us < one[-1].host_received_us ||
				     one->target_received < one[-1].target_sent))
			return false;
	}
	return true;
}

int clockfit_time(const struct clockfit_exchange *exchanges, size_t count, uint64_t counter_hz,
	struct clockfit_time *time)
{
	struct bounds *bounds;
	double low, high, earliest, latest;
	int rc;

	memset(time, 0, sizeof(*time));
	if (count < 2 || counter_hz == 0 || !is_in_order(exchanges, count))
		return -EINVAL;
	bounds = calloc(count, sizeof(*bounds));
	if (!bounds)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		bound(&exchanges[i], &exchanges[0], counter_hz, &bounds[i]);
	rc = find_slopes(bounds, count, &low, &high);
	if (rc == 0) {
		double at_us = bounds[count - 1].at_us;

		latest = find_extreme(bounds, count, at_us, low, high, 1);
		earliest = find_extreme(bounds, count, at_us, low, high, -1);
		/* A slope above one: the host counts more us than the counter, which is slow. */
		time->ppm = (2 / (low + high) - 1) * 1e6;
		time->ppm_uncertainty = (high - low) / (high * low) / 2 * 1e6;
		time->span_s = at_us / 1e6;
		time->counter = exchanges[count - 1].target_received;
		time->host_us = (double)exchanges[0].host_sent_us + (latest + earliest) / 2;
		time->host_uncertainty_us = (latest - earliest) / 2;
	}
	free(bounds);
	return rc;
}
