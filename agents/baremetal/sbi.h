/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls into the firmware (RISC-V SBI specification 1.0).  Nothing here waits;
 * a failed call returns a negative SBI error code.
 */
#ifndef AGENTS_BAREMETAL_SBI_H
#define AGENTS_BAREMETAL_SBI_H

#include <stdint.h>

#define SBI_EXTENSION_TIME  0x54494D45ul
#define SBI_EXTENSION_RESET 0x53525354ul

/* 1 when the firmware says that it has the extension, 0 when not. */
int sbi_probe_extension(unsigned long extension);

/* The firmware's own id (1 is OpenSBI) and version, as the base extension gives them. */
unsigned long sbi_get_implementation(void);
unsigned long sbi_get_version(void);

/* Asks for a timer interrupt once the counter reaches counts; a past value fires at once. */
void sbi_set_timer(uint64_t counts);

/* Cold reboot.  Comes back only where the firmware cannot. */
void sbi_reset_system(void);

/* Writes one character the firmware's way: for messages before the board is known. */
void sbi_put_character(char c);

#endif
