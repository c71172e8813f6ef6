/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/port.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "agents/core/counter.h"
#include "agents/linux/baud.h"
#include "agents/linux/facts.h"
#include "agents/linux/file.h"
#include "agents/linux/panel.h"

#define SILENCE_LIMIT_S 600u
#define NS_PER_S	1000000000u
#define CODE_SIZE	(512u * 1024)
#define BLOCK_SIZE	4096u
#define SCRATCH_BLOCKS	16u

static struct linux_port *linux_port(struct agent_port *port)
{
	return (struct linux_port *)port;
}

/* ---------------------------------------------------------------- operations */

static int port_read(struct agent_port *port, uint8_t *data, size_t capacity, uint32_t timeout_ms)
{
	return console_read(linux_port(port)->console, data, capacity, timeout_ms);
}

static int port_write(struct agent_port *port, const uint8_t *data, size_t size)
{
	return console_write(linux_port(port)->console, data, size);
}

static int port_set_baud(struct agent_port *port, uint32_t baud)
{
	return console_set_baud(linux_port(port)->console, baud);
}

static uint64_t port_uptime_counts(struct agent_port *port)
{
	struct timespec up;

	clock_gettime(CLOCK_BOOTTIME, &up);
	return counter_scale((uint64_t)up.tv_sec * NS_PER_S + (uint64_t)up.tv_nsec,
		port->counter_rate_hz, NS_PER_S);
}

static void port_quiet(struct agent_port *port, bool is_quiet)
{
	struct linux_port *linux = linux_port(port);

	if (linux->keeps_settings)
		return;
	if (is_quiet)
		kmsg_quiet(&linux->kmsg);
	else
		kmsg_restore(&linux->kmsg);
}

static void port_window_begin(struct agent_port *port, struct window *window)
{
	struct linux_port *linux = linux_port(port);

	(void)window;
	kmsg_mark(&linux->kmsg);
	console_get_counts(linux->console, &linux->uart_begin);
	snapshot_take(&linux->files, &linux->begin);
}

static void put_count(struct text *text, const char *key, bool is_known, uint64_t count)
{
	if (is_known)
		text_put_u64(text, key, count);
	else
		text_put(text, key, "unknown");
}

static void port_window_end(struct agent_port *port, struct window *window)
{
	struct linux_port *linux = linux_port(port);
	struct text *text = &window->counters;
	const struct console_counts *begin = &linux->uart_begin;
	struct console_counts uart;
	struct snapshot end;
	int64_t messages;

	snapshot_take(&linux->files, &end);
	console_get_counts(linux->console, &uart);
	messages = kmsg_count(&linux->kmsg);
	text_put_i64(text, "console_level", linux->kmsg.level);
	snapshot_write(&linux->begin, &end, text);
	put_count(text, "uart_rx", uart.rx_is_known && begin->rx_is_known, uart.rx - begin->rx);
	put_count(text, "uart_tx", uart.tx_is_known && begin->tx_is_known, uart.tx - begin->tx);
	put_count(text, "kernel_messages", messages >= 0, (uint64_t)messages);
}

static void port_write_facts(struct agent_port *port, struct text *text)
{
	struct linux_port *linux = linux_port(port);

	text_put(text, "counter_rate_source", linux->rate.source);
	text_put_u64(text, "console_baud", console_get_baud(linux->console));
	text_put(text, "kmsg", linux->kmsg.fd >= 0 ? "counted" : "not readable");
	facts_write_system(text);
	facts_write_clocks(text, &linux->resolution);
	tuning_write_facts(linux->tuning, text);
	text_put(text, "settings", linux->keeps_settings ? "kept" : "tuned");
	panel_write_facts(text);
	facts_write_build(text);
}

static void port_enter_kernel(struct agent_port *port)
{
	(void)port;
	syscall(SYS_getppid);
}

static uint64_t port_memory_used(struct agent_port *port)
{
	struct sysinfo info;

	(void)port;
	if (sysinfo(&info) != 0)
		return 0;
	return ((uint64_t)info.totalram - info.freeram) * info.mem_unit;
}

static const struct agent_port_ops linux_ops = {
	.console_read = port_read,
	.console_write = port_write,
	.console_set_baud = port_set_baud,
	.anchor = posix_anchor,
	.wait_until = posix_wait_until,
	.sleep_ms = posix_sleep_ms,
	.clock_ns = posix_clock_ns,
	.uptime_counts = port_uptime_counts,
	.load_check = posix_load_check,
	.load_prepare = posix_load_prepare,
	.load_start = posix_load_start,
	.load_stop = posix_load_stop,
	.load_work = posix_load_work,
	.load_write = posix_load_write,
	.kernel_entry = port_enter_kernel,
	.memory_used = port_memory_used,
	.quiet = port_quiet,
	.window_begin = port_window_begin,
	.window_end = port_window_end,
	.facts = port_write_facts,
};

/* ---------------------------------------------------------------- threads */

static long port_thread_id(void)
{
	return (long)gettid();
}

static void watch(struct linux_port *linux, long id)
{
	char path[64];

	if (linux->watched_fd >= 0)
		close(linux->watched_fd);
	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", id);
	linux->watched_fd = open(path, O_RDONLY | O_CLOEXEC);
	linux->watched = id;
}

/* The state follows the name, which stands in parentheses and may hold any. */
static int port_thread_is_blocked(struct posix_port *port, long id)
{
	struct linux_port *linux = (struct linux_port *)port;
	char text[256];
	const char *state;
	ssize_t size = -1;

	if (linux->watched == id && linux->watched_fd >= 0)
		size = pread(linux->watched_fd, text, sizeof(text) - 1, 0);
	if (size <= 0) {
		watch(linux, id);
		if (linux->watched_fd >= 0)
			size = pread(linux->watched_fd, text, sizeof(text) - 1, 0);
	}
	if (size <= 0)
		return -1;
	text[size] = '\0';
	state = strrchr(text, ')');
	return state && strncmp(state, ") S", 3) == 0;
}

/* ---------------------------------------------------------------- what Linux has */

static int port_open_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC);
}

static int port_start_forks(struct posix_port *port)
{
	return process_start_forks(&((struct linux_port *)port)->processes);
}

static uint64_t port_stop_forks(struct posix_port *port)
{
	return process_stop_forks(&((struct linux_port *)port)->processes);
}

static int port_begin_victim(struct posix_port *port, enum posix_victim victim)
{
	return process_begin_victim(&((struct linux_port *)port)->processes, victim);
}

static int port_run_victim(
	struct posix_port *port, enum posix_victim victim, struct posix_fate *fate)
{
	return process_run_victim(&((struct linux_port *)port)->processes, victim, fate);
}

static int port_write_block(struct posix_port *port)
{
	struct linux_port *linux = (struct linux_port *)port;
	off_t at = (off_t)(linux->scratch_at % SCRATCH_BLOCKS * BLOCK_SIZE);

	if (linux->scratch_fd < 0)
		return -1;
	linux->scratch_at++;
	return pwrite(linux->scratch_fd, port->load.data, BLOCK_SIZE, at) == BLOCK_SIZE ? 0 : -1;
}

static int port_sync_blocks(struct posix_port *port)
{
	return fdatasync(((struct linux_port *)port)->scratch_fd);
}

static const struct {
	unsigned long magic; /* of statfs(2) */
	const char *name;
} file_systems[] = {
	{EXT4_SUPER_MAGIC, "ext4"},
	{TMPFS_MAGIC, "tmpfs: memory"},
	{RAMFS_MAGIC, "ramfs: memory"},
	{OVERLAYFS_SUPER_MAGIC, "overlay"},
	{BTRFS_SUPER_MAGIC, "btrfs"},
	{XFS_SUPER_MAGIC, "xfs"},
	{F2FS_SUPER_MAGIC, "f2fs"},
};

static const char *port_name_file(struct posix_port *port)
{
	int fd = ((struct linux_port *)port)->scratch_fd;
	struct statfs status;

	if (fd < 0 || fstatfs(fd, &status) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(file_systems) / sizeof(file_systems[0]); i++)
		if ((unsigned long)status.f_type == file_systems[i].magic)
			return file_systems[i].name;
	return "another file system";
}

static unsigned int port_count_processors(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 ? (unsigned int)count : 1;
}

static const struct posix_os linux_os = {
	.thread_id = port_thread_id,
	.thread_is_blocked = port_thread_is_blocked,
	.open_pipe = port_open_pipe,
	.forks_start = port_start_forks,
	.forks_stop = port_stop_forks,
	.io_write = port_write_block,
	.io_sync = port_sync_blocks,
	.io_where = port_name_file,
	.processors = port_count_processors,
	.victim_begin = port_begin_victim,
	.victim_run = port_run_victim,
};

static int port_begin_alarms(struct agent_port *port)
{
	return rtc_begin(&linux_port(port)->rtc);
}

static int port_wait_alarm(struct agent_port *port, struct agent_alarm *alarm)
{
	return rtc_wait(&linux_port(port)->rtc, port->counter_rate_hz, alarm);
}

static void port_end_alarms(struct agent_port *port)
{
	rtc_end(&linux_port(port)->rtc);
}

static void find_device(struct linux_port *port)
{
	rtc_init(&port->rtc);
	port->device = (struct agent_device){
		.name = port->rtc.name,
		.step_us = RTC_STEP_US,
		.begin = port_begin_alarms,
		.wait = port_wait_alarm,
		.end = port_end_alarms,
	};
	if (port->rtc.is_usable)
		port->posix.agent.device = &port->device;
}

/* Of the first level, as the kernel has it from the device tree or the processor. */
static uint32_t read_cache(const char *type)
{
	for (unsigned int i = 0; i < 4; i++) {
		char path[80];
		char text[32];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/type", i);
		if (file_read_text(path, text, sizeof(text)) <= 0 || strcmp(text, type) != 0)
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/size", i);
		if (file_read_text(path, text, sizeof(text)) > 0)
			return (uint32_t)strtoul(text, NULL, 10) * 1024;
	}
	return 0;
}

static void find_memory(struct linux_port *port)
{
	struct agent_port *agent = &port->posix.agent;
	const char *folder = getenv("TMPDIR");
	void *code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	agent->caches.data = read_cache("Data");
	agent->caches.code = read_cache("Instruction");
	agent->caches.page = (uint32_t)sysconf(_SC_PAGESIZE);
	if (code != MAP_FAILED) {
		memset(code, 0, CODE_SIZE);
		agent->code = code;
		agent->code_size = CODE_SIZE;
	}
	port->scratch_fd = open(folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (port->scratch_fd >= 0 &&
		posix_fallocate(port->scratch_fd, 0, SCRATCH_BLOCKS * BLOCK_SIZE) != 0) {
		close(port->scratch_fd);
		port->scratch_fd = -1;
	}
#ifdef M_ARENA_MAX
	/* One heap for all threads, grown beforehand: a new one would fault in the window. */
	mallopt(M_ARENA_MAX, 1);
#endif
}

/* ---------------------------------------------------------------- life */

void port_init(struct linux_port *port, struct console *console, const struct tuning *tuning,
	bool keep_settings)
{
	struct posix_port *posix = &port->posix;
	struct agent_port *agent = &posix->agent;

	*port = (struct linux_port){.console = console,
		.tuning = tuning,
		.keeps_settings = keep_settings,
		.watched_fd = -1};
	if (uname(&port->name) != 0)
		strcpy(port->name.release, "unknown");
	port->rate = rate_read();
	kmsg_open(&port->kmsg);
	snapshot_open(&port->files);
	agent->ops = &linux_ops;
	agent->counter_rate_hz = port->rate.hz;
	agent->system = "linux";
	agent->version = port->name.release;
	agent->mode = "U+MMU thread";
	agent->benches = posix_benches;
	agent->bench_count = posix_bench_count;
	agent->silence_limit_s = SILENCE_LIMIT_S;
	agent->console_baud = baud_get(console->input);
	agent->baud_base = baud_get_base(console->input);
	agent->kernel_entry_name = "getppid";
	find_memory(port);
	find_device(port);
	process_init(&port->processes);
	posix->os = &linux_os;
	posix->priorities_are_permitted = tuning->fifo_is_permitted;
	posix->schedules[POSIX_PRIORITY_HIGH] =
		(struct posix_schedule){SCHED_FIFO, TUNING_PRIORITY_HIGH};
	posix->schedules[POSIX_PRIORITY_MIDDLE] =
		(struct posix_schedule){SCHED_FIFO, TUNING_PRIORITY_MIDDLE};
	posix->schedules[POSIX_PRIORITY_LOW] =
		(struct posix_schedule){SCHED_FIFO, TUNING_PRIORITY_LOW};
	posix->schedules[POSIX_PRIORITY_LOAD] = (struct posix_schedule){SCHED_OTHER, 0};
	resolution_measure(&port->resolution);
	posix->tick_ns = port->resolution.tick_ns;
	posix->granularity_ns = port->resolution.sleep_ns;
	/* Once outside of any window, so that its pages are there. */
	snapshot_take(&port->files, &port->begin);
}

void port_set_memory(struct linux_port *port, void *arena, size_t size, void *load_stack)
{
	port->posix.agent.arena = arena;
	port->posix.agent.arena_size = size;
	port->posix.load_stack = load_stack;
	/* Nobody's but the agent's: a fork need not copy it. */
	madvise(arena, size, MADV_DONTFORK);
}

void port_fini(struct linux_port *port)
{
	kmsg_close(&port->kmsg);
	snapshot_close(&port->files);
	process_fini(&port->processes);
	if (port->posix.agent.code)
		munmap(port->posix.agent.code, port->posix.agent.code_size);
	if (port->scratch_fd >= 0)
		close(port->scratch_fd);
	if (port->watched_fd >= 0)
		close(port->watched_fd);
	port->watched_fd = -1;
}
