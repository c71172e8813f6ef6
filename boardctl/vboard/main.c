/* SPDX-License-Identifier: Apache-2.0 */
/* vboard: the virtual 86 Panel. See DIR in --help and board.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/vboard/board.h"
#include "boardctl/vboard/control.h"
#include "boardctl/vboard/guard.h"
#include "boardctl/vboard/log.h"
#include "boardctl/vboard/loop.h"
#include "boardctl/vboard/options.h"
#include "boardctl/vboard/tree.h"

#define EXIT_USAGE 2
#define EXIT_LAB   3

/* How long the guard of a vboard that has died may still be cleaning the directory. */
#define MAIN_LOCK_PATIENCE_MS 2000

struct vboard {
	struct options options;
	struct qemu_config qemu;
	struct loop loop;
	struct guard guard;
	struct board board;
	struct control control;
	struct loop_watch signal_watch;
	int dir_fd, log_fd;
};

/* Whether the vboard that wrote DIR/pid is still there. */
static bool main_owner_lives(int dir_fd)
{
	char text[32] = "";
	int fd = openat(dir_fd, "pid", O_RDONLY | O_CLOEXEC);
	ssize_t count = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	return count > 0 && atoi(text) > 0 && kill(atoi(text), 0) == 0;
}

static int main_lock_dir(struct vboard *vboard)
{
	const char *dir = vboard->options.dir;
	unsigned waited_ms = 0;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
		log_error("cannot make %s: %s", dir, strerror(errno));
		return EXIT_LAB;
	}
	vboard->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (vboard->dir_fd < 0) {
		log_error("cannot open %s: %s", dir, strerror(errno));
		return EXIT_LAB;
	}
	while (flock(vboard->dir_fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || waited_ms >= MAIN_LOCK_PATIENCE_MS ||
			main_owner_lives(vboard->dir_fd)) {
			log_error("%s belongs to another vboard; take another directory, or end "
				  "that one (its process number is in %s/pid)",
				dir, dir);
			return EXIT_LAB;
		}
		poll(NULL, 0, 10);
		waited_ms += 10;
	}
	return 0;
}

/* What is left after a power cut of this machine may go; what vboard never makes must stay. */
static int main_check_dir(struct vboard *vboard)
{
	static const char *const links[] = {"uart", "relay", "card"};

	for (unsigned i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		struct stat status;
		if (fstatat(vboard->dir_fd, links[i], &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!S_ISLNK(status.st_mode)) {
			log_error("%s/%s is in the way: vboard makes a link of that name",
				vboard->options.dir, links[i]);
			return EXIT_USAGE;
		}
		unlinkat(vboard->dir_fd, links[i], 0);
	}
	return 0;
}

static int main_open_log(struct vboard *vboard)
{
	vboard->log_fd =
		openat(vboard->dir_fd, "log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (vboard->log_fd < 0) {
		log_error("cannot write %s/log: %s", vboard->options.dir, strerror(errno));
		return EXIT_LAB;
	}
	log_init(vboard->log_fd);
	log_event("vboard " SAMEBOARD_VERSION
		  ", process %d, card %s, U-Boot %s, seed %llu, time %s",
		(int)getpid(), vboard->options.card, vboard->options.uboot,
		(unsigned long long)vboard->options.faults.seed,
		vboard->options.is_icount ? "icount" : "real");
	return 0;
}

static int main_write_pid(struct vboard *vboard)
{
	int fd = openat(vboard->dir_fd, "pid", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0) {
		log_error("cannot write %s/pid: %s", vboard->options.dir, strerror(errno));
		return EXIT_LAB;
	}
	close(fd);
	return 0;
}

static void main_signal_ready(void *context, short revents)
{
	struct vboard *vboard = context;
	struct signalfd_siginfo info;
	pid_t pid;
	int status;

	(void)revents;
	while (read(vboard->signal_watch.fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		log_event("ended by signal %u", info.ssi_signo);
		loop_end(&vboard->loop);
	}
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (!board_reap(&vboard->board, pid, status) && pid == vboard->guard.pid)
			log_error("the guard has ended: nothing cleans up after a kill");
}

static int main_open_signals(struct vboard *vboard)
{
	sigset_t signals;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	vboard->signal_watch =
		(struct loop_watch){signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC), POLLIN,
			main_signal_ready, vboard};
	if (vboard->signal_watch.fd < 0) {
		log_error("cannot take signals: %s", strerror(errno));
		return EXIT_LAB;
	}
	loop_add_watch(&vboard->loop, &vboard->signal_watch);
	return 0;
}

static int main_make_tree(struct vboard *vboard)
{
	const struct options *options = &vboard->options;
	int result;

	vboard->qemu.tree_fd = -1;
	if (options->uart_hz == QEMU_UART_CLOCK_HZ)
		return 0;
	result =
		tree_make(vboard->qemu.program, options->memory_mb, options->dir, options->uart_hz);
	if (result < 0) {
		log_error("cannot make a device tree: %s", strerror(-result));
		return EXIT_LAB;
	}
	vboard->qemu.tree_fd = result;
	return 0;
}

static int main_open_board(struct vboard *vboard)
{
	const struct options *options = &vboard->options;
	int result;

	vboard->qemu = (struct qemu_config){
		.program = "qemu-system-riscv64",
		.uboot = options->uboot,
		.bios = options->bios,
		.card = options->card,
		.memory_mb = options->memory_mb,
		.is_icount = options->is_icount,
		.seed = options->faults.seed,
		.uart_hz = options->uart_hz,
	};
	result = main_make_tree(vboard);
	if (result)
		return result;
	if (board_open(&vboard->board, &vboard->loop, &vboard->guard, &options->faults,
		    &vboard->qemu, options->dir, vboard->dir_fd) < 0)
		return EXIT_LAB;
	result = control_open(&vboard->control, &vboard->loop, &vboard->board, vboard->dir_fd);
	if (result < 0) {
		log_error("cannot listen at %s/vboard.sock: %s", options->dir, strerror(-result));
		return EXIT_LAB;
	}
	return main_write_pid(vboard);
}

static int main_run(struct vboard *vboard)
{
	int result;

	/* A byte's time is less than the timer slack of an ordinary process. */
	prctl(PR_SET_TIMERSLACK, 1000UL);
	printf("ready %s\n", vboard->options.dir);
	fflush(stdout);
	result = loop_run(&vboard->loop);
	if (result < 0)
		log_error("cannot wait for events: %s", strerror(-result));
	return result < 0 ? EXIT_LAB : 0;
}

static int main_serve(struct vboard *vboard)
{
	int code = main_lock_dir(vboard);

	if (!code)
		code = main_check_dir(vboard);
	if (!code)
		code = main_open_log(vboard);
	if (!code)
		code = main_open_signals(vboard);
	if (!code && guard_start(&vboard->guard, vboard->dir_fd) < 0) {
		log_error("cannot start the guard: %s", strerror(errno));
		code = EXIT_LAB;
	}
	if (!code)
		code = main_open_board(vboard);
	if (!code)
		code = main_run(vboard);
	control_close(&vboard->control);
	board_close(&vboard->board);
	guard_finish(&vboard->guard);
	log_event("end, code %d", code);
	return code;
}

int main(int argc, char **argv)
{
	static struct vboard vboard = {.guard.pipe_fd = -1, .dir_fd = -1, .log_fd = -1};
	char error[1024];
	const char *line;

	if (options_parse(&vboard.options, argc, argv, error, sizeof(error)) < 0) {
		log_error("%s", error);
		return EXIT_USAGE;
	}
	if (vboard.options.action == OPTIONS_VERSION) {
		puts("vboard " SAMEBOARD_VERSION);
		return 0;
	}
	if (vboard.options.action == OPTIONS_HELP) {
		for (unsigned i = 0; (line = options_get_help(i)); i++)
			puts(line);
		return 0;
	}
	return main_serve(&vboard);
}
