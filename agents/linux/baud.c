/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/baud.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <linux/serial.h>
#include <sys/ioctl.h>

uint32_t baud_get_base(int fd)
{
	struct serial_struct serial;

	/* Drivers of USB adapters and ptys have no such base, or 0 or a made-up one. */
	if (ioctl(fd, TIOCGSERIAL, &serial) != 0 || serial.baud_base <= 0 ||
		serial.type == PORT_UNKNOWN)
		return 0;
	return (uint32_t)serial.baud_base;
}

uint32_t baud_get(int fd)
{
	uint32_t base = baud_get_base(fd);
	struct termios2 settings;
	uint32_t divisor;

	if (ioctl(fd, TCGETS2, &settings) != 0 || settings.c_ospeed == 0)
		return 0;
	if (base == 0 || settings.c_ospeed >= base)
		return settings.c_ospeed;
	/* 115200 of a 24 MHz clock is really 115384. */
	divisor = (base + settings.c_ospeed / 2) / settings.c_ospeed;
	return base / divisor;
}

int baud_set(int fd, uint32_t baud)
{
	struct termios2 settings;

	if (ioctl(fd, TCGETS2, &settings) != 0)
		return -errno;
	settings.c_cflag &= ~(tcflag_t)(CBAUD | CIBAUD);
	settings.c_cflag |= BOTHER | BOTHER << IBSHIFT;
	settings.c_ispeed = baud;
	settings.c_ospeed = baud;
	return ioctl(fd, TCSETSW2, &settings) == 0 ? 0 : -errno;
}
