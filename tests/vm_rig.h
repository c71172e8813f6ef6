/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lab in a virtual machine: a Debian guest whose USB serial adapters and card
 * reader are wired to a vboard on this side. The guest sees this machine's /usr
 * and the sources at /src, read-only, and shares the folder /lab with the test.
 * The card is moved between the board and the guest's reader when the guest runs
 * /lab/mux; it is never in both. Whatever cannot be done fails the test.
 */
#ifndef TESTS_VM_RIG_H
#define TESTS_VM_RIG_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/lab_rig.h"

/* Of udev for a USB disk with this serial number, and the reader with the board's card in it. */
#define VM_RIG_DISK(serial) "/dev/disk/by-id/usb-QEMU_QEMU_HARDDISK_" serial "-0:0"
#define VM_RIG_CARD	    VM_RIG_DISK("CARD0001")

/* In the guest. */
#define VM_RIG_SAMEBOARD "/src/build/sameboard"

struct vm_rig {
	struct lab_rig lab; /* its scratch/vm is the guest's /lab */
	pid_t qemu;
	FILE *qmp;
	int test_fd, mux_fd;
	char test_line[64], mux_line[64];
	size_t test_used, mux_used;
	bool has_card; /* the board's card is in the guest's reader */
	char command[2048];
	int exit_code;	 /* of the last command that ended */
	char *out, *err; /* what it printed */
};

/* vboard and the guest, with nothing plugged into it; returns when udev is done. */
void vm_rig_start(struct vm_rig *vm, unsigned card_mib);
void vm_rig_stop(struct vm_rig *vm);

/* One QMP command; arguments are printf's, of a JSON object, or NULL. The answer is deleted by
 * the caller; NULL when QEMU refused. */
cJSON *vm_rig_ask(struct vm_rig *vm, const char *command, const char *arguments, ...)
	__attribute__((format(printf, 3, 4)));

/* A USB adapter with FTDI's identity and this serial number: wired to vboard's "uart" or "relay",
 * to nothing if end is NULL. Unplugging it also closes vboard's end. */
void vm_rig_plug_port(struct vm_rig *vm, const char *id, const char *end, const char *serial);
void vm_rig_unplug_port(struct vm_rig *vm, const char *id);

/* A new disk of zeros: by USB with this serial number, or on the machine's own bus. */
void vm_rig_add_disk(struct vm_rig *vm, const char *id, unsigned mib, const char *usb_serial);

/* The reader is pulled, with the card in it. */
void vm_rig_pull_reader(struct vm_rig *vm);

/* A line for the guest's shell, in /lab; wait a while for its end; wait for it to the end. */
void vm_rig_begin(struct vm_rig *vm, const char *command);
bool vm_rig_wait(struct vm_rig *vm, int wait_ms);
int vm_rig_end(struct vm_rig *vm);
int vm_rig_run(struct vm_rig *vm, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, and the test fails unless it ends with this exit code. */
void vm_rig_expect(struct vm_rig *vm, int wanted, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Begun and not ended, until its standard error has this in it. */
void vm_rig_await_word(struct vm_rig *vm, const char *word);

/* A file in /lab; one of there, to be freed. */
void vm_rig_write(struct vm_rig *vm, const char *name, const char *text);
char *vm_rig_read(struct vm_rig *vm, const char *name);

/* The lab file: vpanel with console CONSOLE1, relay RELAY1 and this card, by USB identity; more
 * is JSON behind a comma, of the mux. And a suite of one short window on bare metal. */
void vm_rig_write_lab(struct vm_rig *vm, const char *card, const char *more);

/* The guest has these ports, by their serial numbers: udev has named them and is done. */
void vm_rig_await_ports(struct vm_rig *vm, const char *serials);

/* Bytes that the guest has written to the card in its reader. */
double vm_rig_count_written(struct vm_rig *vm);

#endif
