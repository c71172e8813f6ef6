/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real emulated riscv64 machine for tests: QEMU's virt with OpenSBI, its UART
 * on a socket pair.  Whatever cannot be set up fails the
 * test.  QEMU dies with the process that started it.
 */
#ifndef TESTS_QEMU_MACHINE_H
#define TESTS_QEMU_MACHINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/peer.h"

#define QEMU_MACHINE_TEXT_SIZE 16384

struct qemu_machine {
	pid_t pid;
	int fd;
	char text[QEMU_MACHINE_TEXT_SIZE]; /* all that was no frame, NUL-terminated */
	size_t text_size;
};

/* Starts the machine with this kernel (a raw Image or an ELF file). */
void qemu_machine_power_on(struct qemu_machine *machine, const char *kernel);

/* Ends it; fine for one that never ran. */
void qemu_machine_power_off(struct qemu_machine *machine);

/* This end of its line, for peer_init(); text goes where the struct keeps it. */
struct peer_link qemu_machine_link(struct qemu_machine *machine);
struct peer_events qemu_machine_events(struct qemu_machine *machine);

/* Bytes straight onto its line. */
void qemu_machine_write(struct qemu_machine *machine, const uint8_t *bytes, size_t size);

#endif
