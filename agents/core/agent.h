/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent: what one port of it must bring, and how to start it.
 *
 * A port fills a struct agent_port (it may embed it as the first member of its
 * own struct), hands over one arena and calls agent_run().  The core owns the
 * wire protocol, the windows and the benches that need nothing but the port's
 * clock and loads: floor, the wake rows, irq.thread, syscall, timer.oneshot,
 * clock.audit, noise, price, sleep.check, reference.  The port adds its own
 * benches in a table.  What is NULL in a port is `unsupported` in the catalogue.  The core is
 * freestanding C11: no allocation, no stdio, no static state; it may be started twice in one
 * process.  It needs memcpy, memset, memmove and memcmp, as every freestanding compiler does.
 *
 * Threads: agent_run() and all operations are called from one thread, which is
 * also the measuring thread of the core's benches: the port gives it its
 * measuring priority (H) before agent_run().
 */
#ifndef AGENTS_CORE_AGENT_H
#define AGENTS_CORE_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/core/text.h"
#include "agents/core/window.h"
#include "protocol/message.h"
#include "protocol/wire_error.h"

struct agent_port;

/* Where a release grid is tied to the system's clock. */
struct agent_anchor {
	uint64_t release_counts;     /* the chosen instant, in the future; the earlier end */
	uint64_t bracket_counts;     /* how far the instant may lie after release_counts */
	uint64_t tick_counts;	     /* granularity of the sleeping clock; 0: below one count */
	uint64_t kernel_tick_counts; /* the system's periodic tick; 0: none, or not known */
};

/* What the processor keeps near, in bytes; 0 where the system does not say. */
struct agent_caches {
	uint32_t data;
	uint32_t code;
	uint32_t page;
};

/* An alarm of a device outside the system's clock, as it came. */
struct agent_alarm {
	uint64_t due_counts;	 /* when it was due; the earlier end */
	uint64_t bracket_counts; /* how far that may lie after due_counts */
	uint64_t isr_counts;	 /* first instruction of the handler; 0: no stamp there */
	uint64_t thread_counts;	 /* first instruction of the thread that waited */
};

/* Such a device.  The functions return 0 or a negative enum wire_error. */
struct agent_device {
	const char *name;    /* "Goldfish RTC, /dev/rtc0" */
	uint32_t step_us;    /* an alarm takes about that long */
	bool stamps_handler; /* isr_counts is known */
	int (*begin)(struct agent_port *port);
	/* One alarm: set, waited for in the calling thread, stamped. */
	int (*wait)(struct agent_port *port, struct agent_alarm *alarm);
	void (*end)(struct agent_port *port);
};

struct agent_port_ops {
	/*
	 * Up to `capacity` bytes from the console, waiting at most timeout_ms
	 * for the first: the number, 0 after the time, negative when the
	 * console is gone.  No timeout may be kept by wall clock.
	 */
	int (*console_read)(
		struct agent_port *port, uint8_t *data, size_t capacity, uint32_t timeout_ms);
	/*
	 * All bytes, raw; returns 0 when they have left the UART as well as can
	 * be known (FIFO and shift register empty), negative when they cannot.
	 */
	int (*console_write)(struct agent_port *port, const uint8_t *data, size_t size);

	/*
	 * A new rate, of those that baud_base gives; called when all that was
	 * sent has left the UART.  0, or negative when it stays as it was.
	 * NULL: the rate is fixed.
	 */
	int (*console_set_baud)(struct agent_port *port, uint32_t baud);

	/*
	 * Choose the start of a release grid at least lead_counts from now, on
	 * a tick of the sleeping clock, and remember how counts translate to
	 * that clock until the next anchor.
	 */
	void (*anchor)(struct agent_port *port, uint64_t lead_counts, struct agent_anchor *anchor);
	/*
	 * Block until the counter reaches `deadline_counts` by the system's own
	 * timed wait (absolute; at once when it has passed).  Returns the first
	 * counter reading after the wake-up.  Valid after anchor().
	 */
	uint64_t (*wait_until)(struct agent_port *port, uint64_t deadline_counts);
	/*
	 * The system's own timed sleep: must return no earlier and is allowed
	 * to never return when the timer is dead (the host keeps a deadline).
	 */
	void (*sleep_ms)(struct agent_port *port, uint32_t ms);
	/* The system's clock in ns, as an application sees it (tick-based where it is). */
	uint64_t (*clock_ns)(struct agent_port *port);
	/* Counts since the system started, for HELLO; NULL: the counter itself. */
	uint64_t (*uptime_counts)(struct agent_port *port);

	/*
	 * Loads below the measured thread: window->plan.load, never idle, seeded
	 * by window->plan.seed.  load_start NULL: this system has none ("no
	 * threads").  Results are 0 or a negative enum wire_error.
	 */
	/* Why it has not that one, in static text; NULL: it has.  NULL itself: it has all. */
	const char *(*load_check)(const struct agent_port *port, enum message_load load);
	/* At ARM: takes and touches the memory of the load.  NULL: none is needed. */
	int (*load_prepare)(struct agent_port *port, struct window *window);
	int (*load_start)(struct agent_port *port, struct window *window);
	/* Ends the load and waits until it is gone. */
	void (*load_stop)(struct agent_port *port);
	/* Rounds of work done by the load so far. */
	uint64_t (*load_work)(struct agent_port *port);
	/* What the load was and did, once it is gone: `load_...=` lines.  NULL: nothing to say. */
	void (*load_write)(struct agent_port *port, struct text *text);

	/*
	 * The cheapest real entry into the kernel, once; where there is no kernel
	 * to enter a plain call, and kernel_entry_name says so.  NULL: no row.
	 */
	void (*kernel_entry)(struct agent_port *port);

	/*
	 * Keep the system's own messages off the console from GO on, and let
	 * them through again once DONE is out.  NULL: it has none.
	 */
	void (*quiet)(struct agent_port *port, bool is_quiet);
	/*
	 * Remember all per-window counters, after the settling; afterwards
	 * write the differences as `key=value` lines (interrupts, ticks, page_faults,
	 * context_switches, uart_rx, uart_tx, kernel_messages; `unknown` where it is).
	 */
	void (*window_begin)(struct agent_port *port, struct window *window);
	void (*window_end)(struct agent_port *port, struct window *window);

	/* Bytes of memory that the system has in use, for price.  NULL: no row. */
	uint64_t (*memory_used)(struct agent_port *port);

	/* Facts of system and build, `key=value` lines; keys are a-z 0-9 . _ - . */
	void (*facts)(struct agent_port *port, struct text *text);
};

struct agent_port {
	const struct agent_port_ops *ops;
	uint64_t counter_rate_hz;    /* read from the system, never assumed */
	const char *system;	     /* "linux", "baremetal", "nuttx", "rtsmart" */
	const char *version;	     /* of the system, e.g. "6.12.117" */
	const char *mode;	     /* row flag: "M-flat", "S-flat", "U+MMU thread" */
	const struct bench *benches; /* the port's own rows */
	size_t bench_count;
	const char *kernel_entry_name;	   /* "getppid", "plain call" */
	const struct agent_device *device; /* for irq.thread; NULL: there is none */
	struct agent_caches caches;
	/*
	 * Memory that may be written and then executed, so that the instruction
	 * cache can be walked through; NULL: it is only flushed, as far as the
	 * processor lets the agent.
	 */
	uint8_t *code;
	size_t code_size;
	uint32_t console_baud; /* the exact rate as the agent begins; 0 = not known, so fixed */
	uint32_t baud_base;    /* the UART makes this / 1, / 2, ...: its clock / 16; 0 = any rate */
	uint32_t silence_limit_s; /* end after that long without a valid frame: 600; 0 = never */
	/*
	 * What is to be measured before the agent announces itself, without a
	 * byte from the host: ARM frames as they would come over the line, in
	 * order.  A host that arms just such a window later gets what was
	 * measured then.  NULL: nothing.  Kept for the life of the port.
	 */
	const uint8_t *plan;
	size_t plan_size;
	void *arena; /* at least AGENT_ARENA_MIN bytes, at most 4 GiB */
	size_t arena_size;
};

#define AGENT_ARENA_MIN (64u * 1024)

/*
 * One row of the catalogue.  A port's row with the same id replaces the
 * core's.  Ids are the decimal numbers of the catalogue
 * (B42 is 42).
 */
struct bench {
	uint8_t id;
	const char *name;
	const char *unsupported; /* the reason, or NULL when it runs here */
	/* The same, where it depends on the port; static text.  NULL: it always runs. */
	const char *(*check)(const struct agent_port *port);
	uint8_t load; /* enum message_load this row always has, else the plan's */
	/* Add series (window->samples at least) and touch all memory; 0 or negative enum
	 * wire_error. */
	int (*prepare)(struct window *window);
	/* Without settle and floors, in ms. */
	uint32_t (*estimate_ms)(const struct window *window);
	/*
	 * Warm up, measure, store.  No system call but those measured.  0, or a
	 * negative enum wire_error with the reason in window->failure.
	 */
	int (*run)(struct window *window);
};

/* Why agent_run() came back. */
enum agent_end {
	AGENT_END_QUIT = 0,    /* the host said QUIT: give the console back */
	AGENT_END_SILENT = 1,  /* silence_limit_s without a valid frame */
	AGENT_END_CONSOLE = 2, /* the console is gone */
	AGENT_END_ARENA = 3,   /* arena smaller than AGENT_ARENA_MIN or no rate: a port's bug */
};

/*
 * Serve the host until it quits: one HELLO unasked, then only answers.  All
 * state lives in the port's arena.
 */
enum agent_end agent_run(struct agent_port *port);

#endif
