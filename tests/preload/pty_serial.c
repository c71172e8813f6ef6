/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before libc (LD_PRELOAD) for tests only: lets libserialport open a
 * pseudo-terminal.  It wants an entry of the port below /sys/class/tty, and
 * modem lines; all the rest is the real library on a real tty.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

int __lxstat(int version, const char *path, struct stat *result);

static bool is_entry_of_pty(const char *path)
{
	return strncmp(path, "/sys/class/tty/pts/", 19) == 0;
}

/* What a port without modem lines answers to each request; -1: it has such a thing. */
static int answer_for_modem(unsigned long request, void *argument)
{
	switch (request) {
	case TIOCMGET:
		*(int *)argument = 0;
		return 0;
	case TIOCMBIS:
	case TIOCMBIC:
	case TIOCMSET:
		return 0;
	default:
		return -1;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	va_list args;
	void *argument;
	int result;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (!real)
		real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	/* An exclusive pty would stay so after a killed owner. */
	if (request == TIOCEXCL)
		return 0;
	result = real(fd, request, argument);
	if (result < 0 && (errno == ENOTTY || errno == EINVAL) &&
		answer_for_modem(request, argument) == 0)
		return 0;
	return result;
}

/* Any link does: what it points to is asked by readlink(). */
static int stat_link(const char *path, struct stat *result)
{
	if (is_entry_of_pty(path))
		path = "/proc/self/exe";
	return fstatat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}

/* What lstat() was to a library built against an older libc. */
int __lxstat(int version, const char *path, struct stat *result)
{
	(void)version;
	return stat_link(path, result);
}

int lstat(const char *restrict path, struct stat *restrict result)
{
	return stat_link(path, result);
}

ssize_t readlink(const char *restrict path, char *restrict target, size_t size)
{
	static const char native[] = "../../devices/platform/serial8250/tty";

	if (!is_entry_of_pty(path))
		return readlinkat(AT_FDCWD, path, target, size);
	if (size > sizeof(native) - 1)
		size = sizeof(native) - 1;
	memcpy(target, native, size);
	return (ssize_t)size;
}
