/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system that deceives the agent, loaded into it by tests.  SAMEBOARD_LIE is
 * one word:
 *
 *   slew     adjtimex() tells of an offset that the kernel's loop is working off
 *   rate     adjtimex() tells of a rate that somebody sets anew again and again
 *   getres   clock_getres() says 1 ms whatever the truth
 *   faults   each timed sleep takes a page away, which faults when it returns
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timex.h>
#include <time.h>

int adjtimex(struct timex *state);
int clock_getres(clockid_t clock, struct timespec *resolution);
int clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *request, struct timespec *rest);

static bool is_lie(const char *word)
{
	const char *lie = getenv("SAMEBOARD_LIE");

	return lie && strcmp(lie, word) == 0;
}

static void *find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

int adjtimex(struct timex *state)
{
	static long freq;
	int (*real)(struct timex *);
	unsigned int modes = state->modes;
	int clock;

	*(void **)&real = find("adjtimex");
	/* Nothing is changed on the machine that runs the tests. */
	if (modes != 0 && modes != ADJ_OFFSET_SS_READ && (is_lie("slew") || is_lie("rate")))
		return TIME_OK;
	clock = real(state);
	if (modes == 0 && is_lie("slew")) {
		state->status |= STA_PLL;
		state->offset = 1500;
	}
	if (modes == 0 && is_lie("rate"))
		state->freq = freq += 65536;
	return clock;
}

int clock_getres(clockid_t clock, struct timespec *resolution)
{
	int (*real)(clockid_t, struct timespec *);

	*(void **)&real = find("clock_getres");
	if (clock != CLOCK_MONOTONIC || !is_lie("getres"))
		return real(clock, resolution);
	*resolution = (struct timespec){.tv_nsec = 1000000};
	return 0;
}

static void fault_a_page(void)
{
	static volatile char *page;

	if (!page)
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munlock((const void *)page, 4096);
	madvise((void *)page, 4096, MADV_DONTNEED);
	*page = 1;
}

int clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *request, struct timespec *rest)
{
	int (*real)(clockid_t, int, const struct timespec *, struct timespec *);
	int error;

	*(void **)&real = find("clock_nanosleep");
	error = real(clock, flags, request, rest);
	if (is_lie("faults"))
		fault_a_page();
	return error;
}
