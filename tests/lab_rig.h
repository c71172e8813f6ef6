/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole lab for tests: a vboard with its card, a lab file, a database, and
 * the sameboard program run against them as a person would.  Whatever cannot
 * be set up fails the test.  Several may run side by side.
 */
#ifndef TESTS_LAB_RIG_H
#define TESTS_LAB_RIG_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <sys/types.h>

#include "tests/scratch.h"

#define LAB_RIG_ARGUMENTS_MAX 24

struct lab_rig {
	struct scratch scratch;
	pid_t board, client;
	char db[512], lab[256], images[512], suite[256];
	bool has_shim;
	const char *time; /* NULL: real */
	bool autoboots;	  /* its loader waits for no key */
	const char *seed; /* NULL: vboard's own */
	char *out, *err;  /* of the last program that ended */
};

/* faults may be NULL; the card is of card_mib MiB of zeros. */
void lab_rig_start(struct lab_rig *rig, const char *faults, unsigned card_mib);

/* The same with a seed of what the damage follows from; borrowed. */
void lab_rig_start_seeded(
	struct lab_rig *rig, const char *faults, unsigned card_mib, const char *seed);

/* The same in repeatable time. */
void lab_rig_start_icount(struct lab_rig *rig, unsigned card_mib);

/*
 * From now on console and relay are opened by the driver "serial", that is by
 * libserialport, which a preloaded library brings to take a pty.
 */
void lab_rig_use_serial(struct lab_rig *rig);
/* From now on these are the texts of "console" and "power" in the lab file. */
void lab_rig_use_wires(struct lab_rig *rig, const char *console, const char *power);

/* The same with the D1's UART clock, and a lab file that lets pulls raise the line. */
void lab_rig_start_raised(struct lab_rig *rig, const char *faults, unsigned card_mib);

/* The same with a loader that waits for no key, in real time. */
void lab_rig_start_autoboot(struct lab_rig *rig, unsigned card_mib);

/* From now on a kernel that this machine has no time for may be silent for five minutes. */
void lab_rig_be_patient(struct lab_rig *rig);

/* The same without a vboard: nothing is behind the wires. */
void lab_rig_start_unplugged(struct lab_rig *rig);

/* Ends vboard and checks that no emulator is left; removes everything. */
void lab_rig_stop(struct lab_rig *rig);

/* Start sameboard with these arguments (NULL-terminated), and --lab, --db and
 * --images where the command takes them. */
void lab_rig_begin(struct lab_rig *rig, const char *const arguments[]);

/* Wait for it: its exit code (128 + signal if it was killed); out and err are set. */
int lab_rig_end(struct lab_rig *rig);
int lab_rig_run(struct lab_rig *rig, const char *const arguments[]);

/* The same, and the test fails unless it ends with this exit code. */
void lab_rig_expect(struct lab_rig *rig, int wanted, const char *const arguments[]);

/* Standard output as JSON; the caller deletes it. */
cJSON *lab_rig_json(struct lab_rig *rig);

/* `show LAST --json`; the caller deletes it. */
cJSON *lab_rig_show(struct lab_rig *rig);

/* A suite file with this text of "windows"; its path. */
const char *lab_rig_write_suite(
	struct lab_rig *rig, const char *systems, const char *windows, unsigned soak_s);

/*
 * A manifest of build/images to change, and putting it where --images points
 * from then on: a folder with this one image in it.  The JSON is deleted.
 */
cJSON *lab_rig_read_manifest(struct lab_rig *rig, const char *system);
void lab_rig_write_manifest(struct lab_rig *rig, const char *system, cJSON *manifest);

/* A question to vboard's control socket: what follows "ok " is left in answer. */
void lab_rig_ask(struct lab_rig *rig, const char *question, char *answer, size_t size);

/* Bytes that the board has sent over its UART since vboard began. */
unsigned long long lab_rig_count_bytes(struct lab_rig *rig);

/* What vboard says of itself. */
bool lab_rig_has_power(struct lab_rig *rig);

/* The database passes its own integrity check. */
void lab_rig_check_db(struct lab_rig *rig);

/* In `show` output: the gate of the run, or of any window that failed first; NULL if none. */
const cJSON *lab_rig_find_gate(const cJSON *show, const char *id, const char *verdict);

#endif
