/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/qemu.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/vboard/log.h"

#define QEMU_ARGUMENTS_MAX 48
#define QEMU_ANSWER_NS	   (3 * LOOP_S)
/* QEMU's number for divisor 1. */
#define QEMU_BAUD_OF_DIVISOR_ONE 399193

/* ---------------------------------------------------------------- what it reports */

/* Calls line for each whole line in text; what is left moves to the front. */
static void qemu_split(struct qemu *qemu, char *text, size_t *used, size_t size,
	void (*line)(struct qemu *qemu, char *line))
{
	char *start = text, *end;

	while ((end = memchr(start, '\n', *used - (size_t)(start - text)))) {
		*end = '\0';
		line(qemu, start);
		start = end + 1;
	}
	*used -= (size_t)(start - text);
	memmove(text, start, *used);
	if (*used == size)
		*used = 0;
}

static void qemu_trace_line(struct qemu *qemu, char *line)
{
	const char *field = strstr(line, "serial_update_parameters baudrate=");
	unsigned number, divisor;

	if (!field || sscanf(field, "serial_update_parameters baudrate=%u", &number) != 1 ||
		number == 0) {
		log_event("qemu: %s", line);
		return;
	}
	divisor = (QEMU_BAUD_OF_DIVISOR_ONE + number / 2) / number;
	if (divisor)
		qemu->baud_changed(qemu->context, qemu->config->uart_hz / 16 / divisor);
}

static void qemu_trace_ready(void *context, short revents)
{
	struct qemu *qemu = context;
	ssize_t count = read(qemu->trace_fd, qemu->trace_text + qemu->trace_used,
		sizeof(qemu->trace_text) - qemu->trace_used);

	if (count == 0 || (count < 0 && (revents & (POLLHUP | POLLERR))))
		qemu->trace_watch.fd = -1;
	if (count <= 0)
		return;
	qemu->trace_used += (size_t)count;
	qemu_split(qemu, qemu->trace_text, &qemu->trace_used, sizeof(qemu->trace_text),
		qemu_trace_line);
}

static void qemu_monitor_line(struct qemu *qemu, char *line)
{
	line[strcspn(line, "\r")] = '\0';
	if (strncmp(line, "{\"return\"", 9) == 0 || strncmp(line, "{\"error\"", 8) == 0)
		qemu->answers_missing--;
	if (strncmp(line, "{\"QMP\"", 6) == 0)
		qemu->started(qemu->context);
	else if (!strstr(line, "\"return\": {}"))
		log_event("qemu: %s", line);
}

static void qemu_monitor_ready(void *context, short revents)
{
	struct qemu *qemu = context;
	ssize_t count = read(qemu->monitor_fd, qemu->monitor_text + qemu->monitor_used,
		sizeof(qemu->monitor_text) - qemu->monitor_used);

	if (count == 0 || (count < 0 && (revents & (POLLHUP | POLLERR))))
		qemu->monitor_watch.fd = -1;
	if (count <= 0)
		return;
	qemu->monitor_used += (size_t)count;
	qemu_split(qemu, qemu->monitor_text, &qemu->monitor_used, sizeof(qemu->monitor_text),
		qemu_monitor_line);
}

/* ---------------------------------------------------------------- start and end */

/* An argument list; its strings are freed by nobody, since the process executes or exits. */
struct qemu_arguments {
	char *list[QEMU_ARGUMENTS_MAX + 1];
	unsigned count;
};

static void qemu_add(struct qemu_arguments *arguments, const char *option, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void qemu_add(struct qemu_arguments *arguments, const char *option, const char *format, ...)
{
	va_list values;
	char *value = NULL;

	va_start(values, format);
	assert(arguments->count + 2 <= QEMU_ARGUMENTS_MAX);
	arguments->list[arguments->count++] = strdup(option);
	if (vasprintf(&value, format, values) >= 0)
		arguments->list[arguments->count++] = value;
	va_end(values);
}

/* A comma in a value of QEMU's option lists is written twice. */
static char *qemu_escape(const char *text)
{
	char *escaped = malloc(2 * strlen(text) + 1), *out = escaped;

	while (escaped && *text) {
		if (*text == ',')
			*out++ = ',';
		*out++ = *text++;
	}
	if (escaped)
		*out = '\0';
	return escaped;
}

static void qemu_list_arguments(struct qemu_arguments *arguments, const struct qemu *qemu,
	const struct line_end *uart, int monitor_fd, int trace_fd)
{
	const struct qemu_config *config = qemu->config;

	memset(arguments, 0, sizeof(*arguments));
	arguments->list[arguments->count++] = strdup(config->program);
	/* One hart: with two OpenSBI picks the boot hart at random. */
	qemu_add(arguments, "-M", "virt");
	qemu_add(arguments, "-smp", "1");
	qemu_add(arguments, "-m", "%uM", config->memory_mb);
	qemu_add(arguments, "-bios", "%s", config->bios);
	qemu_add(arguments, "-kernel", "%s", config->uboot);
	if (config->is_icount) {
		qemu_add(arguments, "-icount", "shift=0,sleep=off");
		qemu_add(arguments, "-rtc", "base=2026-01-01T00:00:00,clock=vm");
		qemu_add(arguments, "-seed", "%u", (unsigned)config->seed);
	}
	if (config->tree_fd >= 0)
		qemu_add(arguments, "-dtb", "/dev/fd/%d", config->tree_fd);
	qemu_add(arguments, "-device", "sdhci-pci");
	/* A slot without a card can still be given one under power. */
	if (qemu->has_card)
		qemu_add(arguments, "-drive", "if=none,id=slot,format=raw,file=%s",
			qemu_escape(config->card));
	else
		qemu_add(arguments, "-drive", "if=none,id=slot");
	qemu_add(arguments, "-device", "sd-card,drive=slot,id=card");
	qemu_add(arguments, "-display", "none");
	if (uart->in_fd == uart->out_fd)
		qemu_add(arguments, "-chardev", "socket,id=uart,fd=%d", uart->in_fd);
	else
		qemu_add(arguments, "-chardev", "stdio,id=uart,signal=off");
	qemu_add(arguments, "-serial", "chardev:uart");
	qemu_add(arguments, "-monitor", "none");
	qemu_add(arguments, "-chardev", "socket,id=qmp,fd=%d", monitor_fd);
	qemu_add(arguments, "-mon", "chardev=qmp,mode=control");
	qemu_add(arguments, "-trace", "enable=serial_update_parameters");
	qemu_add(arguments, "-D", "/dev/fd/%d", trace_fd);
}

/*
 * QEMU's main loop must not look at a guest that has just gone to sleep before its last
 * instructions are counted: it would move time on by so much too far. So all threads stay on one
 * processor, whichever, and as batch work none takes it from another that still has something to
 * do: the main loop then sleeps before the guest goes on.
 */
static void qemu_keep_threads_apart(void)
{
	static const struct sched_param no_priority;
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		log_event("qemu: cannot stay on one processor: %s", strerror(errno));
	if (sched_setscheduler(0, SCHED_BATCH, &no_priority) < 0)
		log_event("qemu: cannot be batch work: %s", strerror(errno));
}

/*
 * On one processor its main loop may wait for a guest that ticks through its idle time for as long
 * as a minute before it can hand a byte over.
 */
void qemu_let_threads_go(const struct qemu *qemu)
{
	static const struct sched_param no_priority;
	char path[32];
	struct dirent *entry;
	cpu_set_t set;
	DIR *tasks;

	memset(&set, 0xff, sizeof(set));
	snprintf(path, sizeof(path), "/proc/%d/task", (int)qemu->pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)) != NULL) {
		pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);

		if (task > 0) {
			sched_setaffinity(task, sizeof(set), &set);
			sched_setscheduler(task, SCHED_OTHER, &no_priority);
		}
	}
	if (tasks)
		closedir(tasks);
}

static void qemu_execute(const struct qemu *qemu, const struct line_end *uart, int monitor_fd,
	int trace_fd, pid_t parent)
{
	struct qemu_arguments arguments;
	int inherited[] = {uart->in_fd, uart->out_fd, monitor_fd, trace_fd, qemu->config->tree_fd};
	int null_fd = open("/dev/null", O_RDWR);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (unsigned i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++)
		if (inherited[i] >= 0)
			fcntl(inherited[i], F_SETFD, 0);
	dup2(null_fd, 0);
	dup2(log_fd() >= 0 ? log_fd() : null_fd, 1);
	dup2(1, 2);
	/* A pair of pipes is only taken as standard input and output. */
	if (uart->in_fd != uart->out_fd) {
		dup2(uart->in_fd, 0);
		dup2(uart->out_fd, 1);
	}
	if (qemu->config->is_icount)
		qemu_keep_threads_apart();
	qemu_list_arguments(&arguments, qemu, uart, monitor_fd, trace_fd);
	execvp(arguments.list[0], arguments.list);
	dprintf(2, "cannot execute %s: %s\n", arguments.list[0], strerror(errno));
	_exit(127);
}

void qemu_init(struct qemu *qemu, struct loop *loop, const struct qemu_config *config)
{
	memset(qemu, 0, sizeof(*qemu));
	qemu->config = config;
	qemu->monitor_fd = -1;
	qemu->trace_fd = -1;
	qemu->monitor_watch = (struct loop_watch){-1, POLLIN, qemu_monitor_ready, qemu};
	qemu->trace_watch = (struct loop_watch){-1, POLLIN, qemu_trace_ready, qemu};
	loop_add_watch(loop, &qemu->monitor_watch);
	loop_add_watch(loop, &qemu->trace_watch);
}

static void qemu_command(struct qemu *qemu, const char *command)
{
	if (qemu->monitor_fd < 0)
		return;
	qemu->answers_missing++;
	if (send(qemu->monitor_fd, command, strlen(command), MSG_NOSIGNAL) < 0)
		log_event("qemu: command lost: %s", strerror(errno));
}

/* Only when it has answered has it let go of the card's file. */
static void qemu_await_answers(struct qemu *qemu)
{
	uint64_t until_ns = loop_now_ns() + QEMU_ANSWER_NS;

	while (qemu->answers_missing > 0 && qemu->monitor_watch.fd >= 0) {
		struct pollfd poll_monitor = {.fd = qemu->monitor_fd, .events = POLLIN};
		uint64_t now_ns = loop_now_ns();
		if (now_ns >= until_ns) {
			log_event("qemu: no answer to a command");
			return;
		}
		if (poll(&poll_monitor, 1, (int)((until_ns - now_ns) / LOOP_MS) + 1) > 0)
			qemu_monitor_ready(qemu, poll_monitor.revents);
	}
}

static void qemu_close(struct qemu *qemu)
{
	qemu->monitor_watch.fd = -1;
	qemu->trace_watch.fd = -1;
	if (qemu->monitor_fd >= 0)
		close(qemu->monitor_fd);
	if (qemu->trace_fd >= 0)
		close(qemu->trace_fd);
	qemu->monitor_fd = -1;
	qemu->trace_fd = -1;
	qemu->monitor_used = 0;
	qemu->trace_used = 0;
	qemu->answers_missing = 0;
	qemu->pid = 0;
}

int qemu_start(struct qemu *qemu, struct line_end *uart, bool with_card)
{
	int monitor[2] = {-1, -1}, trace[2] = {-1, -1};
	pid_t parent = getpid(), pid;
	int result = 0;

	assert(!qemu->pid);
	qemu->has_card = with_card;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, monitor) < 0 ||
		pipe2(trace, O_CLOEXEC) < 0 || fcntl(trace[0], F_SETFL, O_NONBLOCK) < 0) {
		result = -errno;
		goto out;
	}
	pid = fork();
	if (pid == 0)
		qemu_execute(qemu, uart, monitor[1], trace[1], parent);
	if (pid < 0) {
		result = -errno;
		goto out;
	}
	qemu->pid = pid;
	qemu->monitor_fd = qemu->monitor_watch.fd = monitor[0];
	qemu->trace_fd = qemu->trace_watch.fd = trace[0];
	monitor[0] = trace[0] = -1;
	qemu_command(qemu, "{\"execute\":\"qmp_capabilities\"}\n");
out:
	for (unsigned i = 0; i < 2; i++) {
		if (monitor[i] >= 0)
			close(monitor[i]);
		if (trace[i] >= 0)
			close(trace[i]);
	}
	line_close_end(uart);
	return result;
}

void qemu_kill(struct qemu *qemu)
{
	if (!qemu->pid)
		return;
	kill(qemu->pid, SIGKILL);
	while (waitpid(qemu->pid, NULL, 0) < 0 && errno == EINTR)
		;
	qemu_close(qemu);
}

bool qemu_reap(struct qemu *qemu, pid_t pid, int status)
{
	if (!qemu->pid || pid != qemu->pid)
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		log_event("qemu: the guest has switched itself off");
	else if (WIFEXITED(status))
		log_error(
			"QEMU ended with code %d; its message is in the log", WEXITSTATUS(status));
	else
		log_error("QEMU was killed by signal %d", WTERMSIG(status));
	qemu_close(qemu);
	return true;
}

/* ---------------------------------------------------------------- commands */

void qemu_reset(struct qemu *qemu)
{
	qemu_command(qemu, "{\"execute\":\"system_reset\"}\n");
}

void qemu_freeze(struct qemu *qemu)
{
	qemu_command(qemu, "{\"execute\":\"stop\"}\n");
}

void qemu_remove_card(struct qemu *qemu)
{
	if (!qemu->pid || !qemu->has_card)
		return;
	qemu->has_card = false;
	qemu_command(
		qemu, "{\"execute\":\"eject\",\"arguments\":{\"id\":\"card\",\"force\":true}}\n");
	qemu_await_answers(qemu);
}

void qemu_insert_card(struct qemu *qemu)
{
	char name[2 * PATH_MAX], command[2 * PATH_MAX + 200];
	size_t used = 0;

	if (!qemu->pid || qemu->has_card)
		return;
	qemu->has_card = true;
	for (const char *in = qemu->config->card; *in && used < sizeof(name) - 2; in++) {
		if (*in == '"' || *in == '\\')
			name[used++] = '\\';
		name[used++] = *in;
	}
	name[used] = '\0';
	snprintf(command, sizeof(command),
		"{\"execute\":\"blockdev-change-medium\",\"arguments\":"
		"{\"id\":\"card\",\"filename\":\"%s\",\"format\":\"raw\"}}\n",
		name);
	qemu_command(qemu, command);
	qemu_await_answers(qemu);
}
