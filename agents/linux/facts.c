/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/facts.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "agents/core/build.h"
#include "agents/linux/discipline.h"
#include "agents/linux/file.h"
#include "agents/linux/mhz.h"
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

/* The distribution keeps its kernel's configuration here; it says what the version does not. */
static void put_config_model(struct text *text, const struct utsname *name)
{
	static const char *const models[][2] = {
		{"\nCONFIG_PREEMPT_VOLUNTARY=y\n", "PREEMPT_VOLUNTARY"},
		{"\nCONFIG_PREEMPT_NONE=y\n", "PREEMPT_NONE"},
	};
	char path[128], piece[8192 + 64];
	size_t kept = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/boot/config-%.80s", name->release);
	fd = file_open(path, O_RDONLY);
	while (fd >= 0 && (got = read(fd, piece + kept, sizeof(piece) - 1 - kept)) > 0) {
		size_t size = kept + (size_t)got;

		piece[size] = '\0';
		for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
			if (!strstr(piece, models[i][0]))
				continue;
			text_put(text, "preemption", models[i][1]);
			close(fd);
			return;
		}
		kept = size < 64 ? size : 64;
		memmove(piece, piece + size - kept, kept);
	}
	if (fd >= 0)
		close(fd);
	text_put(text, "preemption", "none or voluntary");
}

static void put_preemption(struct text *text, const struct utsname *name)
{
	char value[VALUE_MAX];

	if ((file_read_text("/sys/kernel/realtime", value, sizeof(value)) > 0 && value[0] == '1') ||
		strstr(name->version, "PREEMPT_RT"))
		text_put(text, "preemption", "PREEMPT_RT");
	else if (strstr(name->version, "PREEMPT_DYNAMIC"))
		text_put(text, "preemption", "PREEMPT_DYNAMIC");
	else if (strstr(name->version, "PREEMPT"))
		text_put(text, "preemption", "PREEMPT");
	else
		put_config_model(text, name);
	put_file(text, "preemption_dynamic", "/sys/kernel/debug/sched/preempt");
}

/* Behind the packed configuration stand CRC-32 and size of the plain one (RFC 1952). */
static void put_config_hash(struct text *text)
{
	uint8_t packed[65536];
	int fd = file_open("/proc/config.gz", O_RDONLY);
	size_t size = 0;
	ssize_t got;

	if (fd < 0)
		return;
	while ((got = read(fd, packed + size, sizeof(packed) - size)) > 0)
		size += (size_t)got;
	close(fd);
	if (size < 18 || size == sizeof(packed))
		return;
	text_append(text, "config_crc32=");
	for (size_t i = 5; i <= 8; i++) {
		static const char digits[] = "0123456789abcdef";
		char byte[3] = {0};

		byte[0] = digits[packed[size - i] >> 4];
		byte[1] = digits[packed[size - i] & 15];
		text_append(text, byte);
	}
	text_end_line(text);
}

/* The most specific entry of the board's own list, or the machine's product name. */
static void put_platform(struct text *text)
{
	if (!put_file(text, "platform", "/proc/device-tree/compatible") &&
		!put_file(text, "platform", "/sys/class/dmi/id/product_name"))
		text_put(text, "platform", "unknown");
	put_file(text, "model", "/proc/device-tree/model");
	put_file(text, "u_boot", "/proc/device-tree/chosen/u-boot,version");
	put_file(text, "bios", "/sys/class/dmi/id/bios_version");
}

/* What the kernel said of the firmware under it, while its log still has it. */
static void put_firmware(struct text *text)
{
	static const char mark[] = "SBI implementation ID=0x1 Version=0x";
	char record[2048];
	int fd = file_open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	ssize_t got;

	while (fd >= 0 && (got = read(fd, record, sizeof(record) - 1)) > 0) {
		const char *found;
		unsigned long version;

		record[got] = '\0';
		found = strstr(record, mark);
		if (!found)
			continue;
		version = strtoul(found + sizeof(mark) - 1, NULL, 16);
		text_append(text, "firmware=OpenSBI ");
		text_append_u64(text, version >> 16);
		text_append(text, ".");
		text_append_u64(text, version & 0xffff);
		text_end_line(text);
		break;
	}
	if (fd >= 0)
		close(fd);
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

/* One that a loader has left running ends the measuring sooner or later. */
static void put_watchdog(struct text *text)
{
	if (!put_file(text, "watchdog", "/sys/class/watchdog/watchdog0/state")) {
		text_put(text, "watchdog", "none");
		return;
	}
	put_file(text, "watchdog.identity", "/sys/class/watchdog/watchdog0/identity");
	put_file(text, "watchdog.timeout_s", "/sys/class/watchdog/watchdog0/timeout");
}

void facts_write_system(struct text *text)
{
	struct utsname name;

	if (uname(&name) == 0) {
		text_put(text, "kernel_version", name.version);
		text_put(text, "machine", name.machine);
		put_preemption(text, &name);
	}
	put_config_hash(text);
	put_platform(text);
	put_firmware(text);
	text_put(text, "protection", "U+MMU process");
	text_put(text, "address_space", "virtual, one per process");
	text_put(text, "scheduler", "fixed priority (FIFO)");
	put_memory(text);
	put_watchdog(text);
	text_put_i64(text, "cpus_online", sysconf(_SC_NPROCESSORS_ONLN));
	text_put_u64(text, "cpu_mhz_measured", mhz_measure());
	put_file(text, "cpus_isolated", "/sys/devices/system/cpu/isolated");
	put_file(text, "command_line", "/proc/cmdline");
	put_file(text, "boot_id", "/proc/sys/kernel/random/boot_id");
	put_file(text, "cpuidle", "/sys/devices/system/cpu/cpuidle/current_driver");
}

/* ---------------------------------------------------------------- clocks */

void facts_write_clocks(struct text *text, const struct resolution *resolution)
{
	struct discipline discipline;
	struct timespec up;

	put_file(text, "clock_source",
		"/sys/devices/system/clocksource/clocksource0/current_clocksource");
	put_file(text, "clock_event", "/sys/devices/system/clockevents/clockevent0/current_device");
	resolution_write_facts(resolution, text);
	discipline_read(&discipline);
	discipline_write_facts(&discipline, text);
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
	build_put_facts(text);
#if defined(AGENT_FLAGS)
	text_put(text, "agent_flags", AGENT_FLAGS);
#endif
#if defined(AGENT_LIBC)
	text_put(text, "agent_libc", AGENT_LIBC);
#elif defined(__GLIBC__)
	text_append(text, "agent_libc=glibc ");
	text_append_u64(text, __GLIBC__);
	text_append(text, ".");
	text_append_u64(text, __GLIBC_MINOR__);
	text_end_line(text);
#endif
	put_payload_crc(text);
}
