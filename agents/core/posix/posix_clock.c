/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <time.h>

#include "agents/core/counter.h"
#include "agents/core/posix/posix_port.h"

#define NS_PER_S 1000000000u
#define BRACKETS 32u

static struct posix_port *posix_port(struct agent_port *port)
{
	return (struct posix_port *)port;
}

static uint64_t to_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NS_PER_S),
		.tv_nsec = (long)(ns % NS_PER_S),
	};
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return to_ns(&now);
}

uint64_t posix_clock_ns(struct agent_port *port)
{
	(void)port;
	return now_ns();
}

void posix_anchor(struct agent_port *port, uint64_t lead_counts, struct agent_anchor *anchor)
{
	struct posix_port *posix = posix_port(port);
	uint64_t rate = port->counter_rate_hz;
	uint64_t best = UINT64_MAX;
	uint64_t first_ns;

	for (unsigned int i = 0; i < BRACKETS; i++) {
		uint64_t before = counter_read();
		uint64_t ns = now_ns();
		uint64_t bracket = counter_read() - before;

		if (bracket < best) {
			best = bracket;
			posix->anchor_counts = before;
			posix->anchor_ns = ns;
		}
	}
	first_ns = posix->anchor_ns + counter_scale(lead_counts, NS_PER_S, rate);
	if (posix->tick_ns) {
		first_ns += posix->tick_ns - 1;
		first_ns -= first_ns % posix->tick_ns;
	}
	anchor->release_counts =
		posix->anchor_counts + counter_scale(first_ns - posix->anchor_ns, rate, NS_PER_S);
	anchor->bracket_counts = best;
	anchor->tick_counts = counter_scale(posix->granularity_ns, rate, NS_PER_S);
	anchor->kernel_tick_counts = counter_scale(posix->tick_ns, rate, NS_PER_S);
}

/*
 * Rounded up, so that a wake-up at that instant is never early by the conversion;
 * but what is a whole number stays: a tick is no nanosecond before the next one.
 */
static uint64_t deadline_ns(const struct posix_port *posix, uint64_t deadline_counts)
{
	uint64_t counts = deadline_counts - posix->anchor_counts;
	uint64_t rate = posix->agent.counter_rate_hz;
	uint64_t ns = counter_scale(counts, NS_PER_S, rate);

	return posix->anchor_ns + ns + (counter_scale(ns, rate, NS_PER_S) != counts);
}

uint64_t posix_wait_until(struct agent_port *port, uint64_t deadline_counts)
{
	uint64_t ns = deadline_ns(posix_port(port), deadline_counts);
	struct timespec deadline = to_timespec(ns);

	for (;;) {
		int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
		uint64_t now = counter_read();

		/* The clock is asked again only where it could have been early. */
		if (error != EINTR && ((int64_t)(now - deadline_counts) >= 0 || now_ns() >= ns))
			return now;
	}
}

void posix_sleep_ns(uint64_t ns)
{
	uint64_t end = now_ns() + ns;
	struct timespec deadline = to_timespec(end);

	do {
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
	} while (now_ns() < end);
}

void posix_sleep_ms(struct agent_port *port, uint32_t ms)
{
	(void)port;
	posix_sleep_ns((uint64_t)ms * 1000000);
}
