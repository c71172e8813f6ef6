/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/facts.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "agents/linux/file.h"
#include "protocol/crc32c.h"

#define VALUE_MAX 512

/* One line from a file, left out when the file is not there. */
static bool put_file(struct text *text, const char *key, const char *path)
{
	char value[VALUE_MAX];

	if (file_read_text(path, value, sizeof(value)) <= 0)
		return false;
	text_put(text, key, value);
	return true;
}

/* ---------------------------------------------------------------- system */

static void put_preemption(struct text *text, const struct utsname *name)
{
	char value[VALUE_MAX];
	const char *model = "none or voluntary";

	if (file_read_text("/sys/kernel/realtime", value, sizeof(value)) > 0 && value[0] == '1')
		model = "PREEMPT_RT";
	else if (strstr(name->version, "PREEMPT_RT"))
		model = "PREEMPT_RT";
	else if (strstr(name->version, "PREEMPT_DYNAMIC"))
		model = "PREEMPT_DYNAMIC";
	else if (strstr(name->version, "PREEMPT"))
		model = "PREEMPT";
	text_put(text, "preemption", model);
	put_file(text, "preemption_dynamic", "/sys/kernel/debug/sched/preempt");
}

/* The most specific entry of the board's own list, or the machine's product name. */
static void put_platform(struct text *text)
{
	if (!put_file(text, "platform", "/proc/device-tree/compatible") &&
		!put_file(text, "platform", "/sys/class/dmi/id/product_name"))
		text_put(text, "platform", "unknown");
	put_file(text, "model", "/proc/device-tree/model");
	put_file(text, "u_boot", "/proc/device-tree/chosen/u-boot,version");
}

static void put_memory(struct text *text)
{
	struct sysinfo info;

	text_put_i64(text, "page_bytes", sysconf(_SC_PAGESIZE));
	if (sysinfo(&info) != 0)
		return;
	text_put_u64(text, "memory_bytes", (uint64_t)info.totalram * info.mem_unit);
	text_put_u64(text, "memory_free_bytes", (uint64_t)info.freeram * info.mem_unit);
	text_put_u64(text, "swap_bytes", (uint64_t)info.totalswap * info.mem_unit);
	text_put_u64(text, "processes", info.procs);
}

void facts_write_system(struct text *text)
{
	struct utsname name;

	if (uname(&name) == 0) {
		text_put(text, "kernel_version", name.version);
		text_put(text, "machine", name.machine);
		put_preemption(text, &name);
	}
	put_platform(text);
	text_put(text, "protection", "U+MMU process");
	text_put(text, "address_space", "virtual, one per process");
	text_put(text, "scheduler", "fixed priority (FIFO)");
	put_memory(text);
	text_put_i64(text, "cpus_online", sysconf(_SC_NPROCESSORS_ONLN));
	put_file(text, "command_line", "/proc/cmdline");
	put_file(text, "boot_id", "/proc/sys/kernel/random/boot_id");
	put_file(text, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	put_file(text, "cpuidle", "/sys/devices/system/cpu/cpuidle/current_driver");
}

/* ---------------------------------------------------------------- clocks */

static uint64_t resolution_ns(clockid_t clock)
{
	struct timespec resolution;

	if (clock_getres(clock, &resolution) != 0)
		return 0;
	return (uint64_t)resolution.tv_sec * 1000000000u + (uint64_t)resolution.tv_nsec;
}

static void put_discipline(struct text *text)
{
	struct timex state = {.modes = 0};
	int clock = adjtimex(&state);
	bool is_steered;

	if (clock < 0) {
		text_put(text, "clock_discipline", "unknown");
		return;
	}
	is_steered = state.status & (STA_PLL | STA_FLL | STA_PPSFREQ) || state.offset != 0;
	text_put(text, "clock_discipline", is_steered ? "on" : "off");
	text_put_i64(text, "adjtimex.status", state.status);
	text_put_i64(text, "adjtimex.freq_ppm_65536", state.freq);
	text_put_i64(text, "adjtimex.tick_us", state.tick);
}

void facts_write_clocks(struct text *text)
{
	uint64_t tick_ns = resolution_ns(CLOCK_MONOTONIC_COARSE);
	struct timespec up;

	put_file(text, "clock_source",
		"/sys/devices/system/clocksource/clocksource0/current_clocksource");
	put_file(text, "clock_event", "/sys/devices/system/clockevents/clockevent0/current_device");
	text_put_u64(text, "clock_resolution_ns", resolution_ns(CLOCK_MONOTONIC));
	if (tick_ns) {
		text_put_u64(text, "tick_ns", tick_ns);
		text_put_u64(text, "tick_hz", (1000000000u + tick_ns / 2) / tick_ns);
	}
	put_discipline(text);
	/* Closed to user mode unless perf_user_access is 2, and then it is the perf event's. */
	text_put(text, "instret", "unsupported: user mode");
	if (clock_gettime(CLOCK_BOOTTIME, &up) == 0)
		text_put_u64(text, "uptime_ms",
			(uint64_t)up.tv_sec * 1000 + (uint64_t)up.tv_nsec / 1000000);
}

/* ---------------------------------------------------------------- build */

static void put_payload_crc(struct text *text)
{
	uint8_t piece[4096];
	uint64_t size = 0;
	uint32_t crc = 0;
	ssize_t got;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while ((got = read(fd, piece, sizeof(piece))) > 0) {
		crc = crc32c_update(crc, piece, (size_t)got);
		size += (uint64_t)got;
	}
	close(fd);
	if (got < 0)
		return;
	text_append(text, "agent_crc32c=");
	text_append_hex(text, crc);
	text_end_line(text);
	text_put_u64(text, "agent_bytes", size);
}

void facts_write_build(struct text *text)
{
#if defined(__clang__)
	text_put(text, "agent_compiler", __VERSION__);
#else
	text_put(text, "agent_compiler", "gcc " __VERSION__);
#endif
#if defined(__OPTIMIZE__)
	text_put(text, "agent_optimised", "yes");
#else
	text_put(text, "agent_optimised", "no");
#endif
#if defined(__SANITIZE_ADDRESS__)
	text_put(text, "agent_sanitized", "yes");
#endif
#if defined(__GLIBC__)
	text_append(text, "agent_libc=glibc ");
	text_append_u64(text, __GLIBC__);
	text_append(text, ".");
	text_append_u64(text, __GLIBC_MINOR__);
	text_end_line(text);
#endif
	put_payload_crc(text);
}
