/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates of clocks against each other.  All inputs come from the target or from
 * time stamps of the host; no state.  Errors: -EINVAL (too few points, a span
 * of 0, clocks that run backwards).
 */
#ifndef SAMEBOARD_HARNESS_CLOCKFIT_H
#define SAMEBOARD_HARNESS_CLOCKFIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clockfit_audit {
	double ppm;	    /* > 0: the OS clock is slow, a second of it lasts too long */
	double uncertainty; /* ppm, from the spread of the earliest readings */
	double span_s;	    /* between the two quarters that decide */
	bool one_count_per_tick;
	double tick_hz; /* of the diagnosis */
};

/*
 * The OS clock against the counter (B42).  A reading can be late, never early,
 * so the earliest reading of the first and of the last quarter decide.
 *
 * ppm is positive where counts pass faster than the OS clock says: a tick
 * reload of N instead of N - 1 shows as +1e6 / (counter_hz / tick_hz).
 * tick_hz 0: unknown, then 100, 250, 300 and 1000 Hz are tried for the
 * diagnosis.
 */
int clockfit_audit(const uint64_t *counter, const uint64_t *os_ns, size_t count,
	uint64_t counter_hz, double tick_hz, struct clockfit_audit *audit);

/* One PING: host times in us around the target's two counter readings. */
struct clockfit_exchange {
	uint64_t host_sent_us, host_received_us;
	uint64_t target_received, target_sent; /* counts */
	uint32_t out_us,
		back_us; /* the least time of request and answer on the line; 0 = not known */
};

struct clockfit_time {
	double ppm; /* > 0: the target's counter is fast */
	double ppm_uncertainty;
	double span_s;
	uint64_t counter;	    /* this reading, of the last exchange, */
	double host_us;		    /* was taken at this time of the host, */
	double host_uncertainty_us; /* give or take: certain, not likely */
};

/*
 * Offset and drift from all exchanges, in the order in which they were made.
 * The uncertainties are bounds: half of what any steady clock that fits every
 * round trip may differ.  -EDOM: none fits, so one of the clocks was not steady;
 * -ENOMEM.
 */
int clockfit_time(const struct clockfit_exchange *exchanges, size_t count, uint64_t counter_hz,
	struct clockfit_time *time);

struct clockfit_host {
	double ppm;	    /* > 0: the target's counter is fast */
	double uncertainty; /* ppm, a bound */
	double span_s;
};

/*
 * The counter against the host's clock, from exchanges at two ends of a run; as
 * clockfit_time().
 */
int clockfit_host(const struct clockfit_exchange *first, size_t first_count,
	const struct clockfit_exchange *last, size_t last_count, uint64_t counter_hz,
	struct clockfit_host *host);

#endif
