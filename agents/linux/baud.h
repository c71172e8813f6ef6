/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates of a tty that are none of the standard ones: the kernel's termios2,
 * which libc's termios.h does not know.  0 or a negative errno.
 */
#ifndef AGENTS_LINUX_BAUD_H
#define AGENTS_LINUX_BAUD_H

#include <stdint.h>

/* The rate as it is set, exact where the UART's clock is known; 0 when it is not known. */
uint32_t baud_get(int fd);

/* Only the rate; what was written has left before. */
int baud_set(int fd, uint32_t baud);

/* The UART's clock / 16, of which it makes whole fractions; 0 when the driver does not say. */
uint32_t baud_get_base(int fd);

#endif
