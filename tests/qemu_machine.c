/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/qemu_machine.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static ssize_t link_read(void *context, uint8_t *bytes, size_t capacity, int timeout_ms)
{
	struct qemu_machine *self = context;
	struct pollfd poll_fd = {.fd = self->fd, .events = POLLIN};
	ssize_t got;

	if (poll(&poll_fd, 1, timeout_ms) <= 0)
		return 0;
	got = read(self->fd, bytes, capacity);
	if (got < 0)
		return -errno;
	return got ? got : -ENODEV;
}

static int link_write(void *context, const uint8_t *bytes, size_t size)
{
	struct qemu_machine *self = context;

	while (size > 0) {
		ssize_t put = send(self->fd, bytes, size, MSG_NOSIGNAL);

		if (put < 0)
			return -errno;
		bytes += put;
		size -= (size_t)put;
	}
	return 0;
}

static uint64_t link_now_us(void *context)
{
	struct timespec now;

	(void)context;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void keep_text(void *context, uint64_t when_us, const uint8_t *text, size_t size)
{
	struct qemu_machine *self = context;
	size_t room = sizeof(self->text) - 1 - self->text_size;

	(void)when_us;
	if (size > room)
		size = room;
	for (size_t i = 0; i < size; i++)
		self->text[self->text_size++] = text[i] ? (char)text[i] : '?';
	self->text[self->text_size] = '\0';
}

static _Noreturn void run_qemu(pid_t parent, int fd, const char *kernel)
{
	char chardev[64];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	fcntl(fd, F_SETFD, 0);
	snprintf(chardev, sizeof(chardev), "socket,id=uart,fd=%d", fd);
	execlp("qemu-system-riscv64", "qemu-system-riscv64", "-M", "virt", "-m", "512M", "-smp",
		"1", "-bios", "default", "-nodefaults", "-display", "none", "-chardev", chardev,
		"-serial", "chardev:uart", "-kernel", kernel, (char *)NULL);
	_exit(127);
}

void qemu_machine_power_on(struct qemu_machine *machine, const char *kernel)
{
	pid_t self = getpid();
	int pair[2];

	memset(machine, 0, sizeof(*machine));
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	machine->pid = fork();
	ck_assert_int_ge(machine->pid, 0);
	if (machine->pid == 0)
		run_qemu(self, pair[1], kernel);
	close(pair[1]);
	machine->fd = pair[0];
}

void qemu_machine_power_off(struct qemu_machine *machine)
{
	if (machine->pid <= 0)
		return;
	kill(machine->pid, SIGKILL);
	waitpid(machine->pid, NULL, 0);
	close(machine->fd);
	machine->pid = 0;
}

struct peer_link qemu_machine_link(struct qemu_machine *machine)
{
	return (struct peer_link){machine, link_read, link_write, link_now_us, NULL, NULL};
}

struct peer_events qemu_machine_events(struct qemu_machine *machine)
{
	return (struct peer_events){machine, keep_text, NULL};
}

void qemu_machine_write(struct qemu_machine *machine, const uint8_t *bytes, size_t size)
{
	ck_assert_int_eq(link_write(machine, bytes, size), 0);
}
