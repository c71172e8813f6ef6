/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/nuttx/nuttx_facts.h"

#include <nuttx/config.h>

#include "agents/core/build.h"

/* What the system's own build does for debugging, beside which no figure is comparable. */
static const char *const debug_aids[] = {
#if defined(CONFIG_DEBUG_NOOPT)
	"not optimised",
#endif
#if defined(CONFIG_DEBUG_ASSERTIONS)
	"assertions",
#endif
#if defined(CONFIG_STACK_COLORATION)
	"stack colouring",
#endif
#if defined(CONFIG_STACK_CANARIES)
	"stack canaries",
#endif
#if defined(CONFIG_SCHED_INSTRUMENTATION)
	"instrumentation",
#endif
#if defined(CONFIG_MM_KASAN)
	"KASAN",
#endif
	NULL,
};

const char *nuttx_facts_mode(void)
{
#if defined(CONFIG_BUILD_KERNEL)
	return "U+MMU thread";
#elif defined(CONFIG_BUILD_PROTECTED)
	return "U+PMP thread";
#elif defined(CONFIG_ARCH_USE_S_MODE)
	return "S-flat";
#else
	return "M-flat";
#endif
}

static void put_protection(struct text *text)
{
#if defined(CONFIG_BUILD_KERNEL)
	text_put(text, "protection", "U+MMU process");
	text_put(text, "address_space", "virtual, one per process");
#elif defined(CONFIG_BUILD_PROTECTED)
	text_put(text, "protection", "U+PMP: kernel apart, tasks share");
	text_put(text, "address_space", "one, physical");
#else
	text_put(text, "protection", nuttx_facts_mode());
	text_put(text, "address_space", "one, physical");
#endif
}

static void put_clocks(const struct nuttx_port *port, struct text *text)
{
	text_put_u64(text, "tick_ns", port->posix.tick_ns);
	text_put_u64(text, "tick_hz", 1000000000u / port->posix.tick_ns);
#if defined(CONFIG_SCHED_TICKLESS)
	text_put(text, "tick_kind", "tickless");
#else
	text_put(text, "tick_kind", "periodic");
#endif
	text_put_u64(text, "clock_step_ns", port->tick.step_ns);
	text_put(text, "clock_source", port->tick.tick_counts ? "counted ticks" : "counter");
#if defined(CONFIG_ARCH_CHIP_ALLWINNER_D1)
	text_put(text, "clock_event", "Timer1");
#elif defined(CONFIG_ARCH_RV_EXT_SSTC)
	text_put(text, "clock_event", "stimecmp");
#elif defined(CONFIG_ARCH_USE_S_MODE) && !defined(CONFIG_NUTTSBI)
	text_put(text, "clock_event", "SBI set_timer");
#elif defined(CONFIG_NUTTSBI)
	text_put(text, "clock_event", "NUTTSBI set_timer");
#else
	text_put(text, "clock_event", "mtimecmp");
#endif
	text_put(text, "clock_discipline", "off");
	text_put(text, "counter_rate_source", "configuration");
}

static void put_build(struct text *text)
{
	char list[96];
	struct text joined;

	text_init(&joined, list, sizeof(list) - 1);
	for (const char *const *aid = debug_aids; *aid; aid++) {
		if (joined.size)
			text_append(&joined, ", ");
		text_append(&joined, *aid);
	}
	list[joined.size] = '\0';
	text_put(text, "kernel_debug", joined.size ? list : "none");
#if defined(CONFIG_DEBUG_FULLOPT)
	text_put(text, "kernel_optimised", "yes");
#elif defined(CONFIG_DEBUG_NOOPT)
	text_put(text, "kernel_optimised", "no");
#else
	text_put(text, "kernel_optimised", "as configured");
#endif
	text_put(text, "config_sha256", SAMEBOARD_CONFIG_SHA256);
	build_put_facts(text);
}

void nuttx_facts_write(const struct nuttx_port *port, struct text *text)
{
	const struct posix_schedule *schedules = port->posix.schedules;

	text_put(text, "kernel_version", port->name.version);
	text_put(text, "machine", port->name.machine);
	/* An image for this board runs nowhere else. */
#if defined(CONFIG_ARCH_CHIP_QEMU_RV)
	text_put(text, "platform", "riscv-virtio");
#else
	text_put(text, "platform", CONFIG_ARCH_BOARD);
#endif
	text_put(text, "board", CONFIG_ARCH_BOARD);
	put_protection(text);
	text_put(text, "scheduler", "fixed priority (FIFO)");
	text_put(text, "priorities", port->posix.priorities_are_permitted ? "fixed" : "inherited");
	text_put_i64(text, "priority.high", schedules[POSIX_PRIORITY_HIGH].priority);
	text_put_i64(text, "priority.middle", schedules[POSIX_PRIORITY_MIDDLE].priority);
	text_put_i64(text, "priority.low", schedules[POSIX_PRIORITY_LOW].priority);
	text_put_i64(text, "priority.load", schedules[POSIX_PRIORITY_LOAD].priority);
#if defined(CONFIG_PRIORITY_INHERITANCE)
	text_put(text, "priority_inheritance", "yes");
#else
	text_put(text, "priority_inheritance", "no");
#endif
	text_put(text, "thread_states", port->states_are_known ? "/proc" : "unknown");
	text_put(text, "mlock", "none: no memory is ever paged out");
	put_clocks(port, text);
	text_put(text, "instret", "unsupported: not counted by this port");
	put_build(text);
}
