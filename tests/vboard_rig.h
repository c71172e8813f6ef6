/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running vboard for tests, with both of its serial ports opened as a host opens them. Whatever
 * cannot be set up, and whatever a wait does not get in time, fails the test. vboard dies with the
 * process that started it, and takes its emulator with it.
 */
#ifndef TESTS_VBOARD_RIG_H
#define TESTS_VBOARD_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RIG_TEXT_SIZE 65536

struct rig {
	char dir[64];  /* vboard's, new and empty */
	char card[80]; /* beside it, 16 MiB of zeros */
	pid_t pid;
	int uart_fd, relay_fd;
	char text[RIG_TEXT_SIZE]; /* what the last rig_read... got; NUL-terminated */
	size_t text_size;
};

/* The path of a program beside the directory of the running test. */
void rig_find_program(const char *name, char *path, size_t size);

/* Start on a new directory with a new card; faults may be NULL. */
void rig_start(struct rig *rig, const char *faults, const char *seed);

/* The same with another clock of the UART, in Hz as text. */
void rig_start_clocked(struct rig *rig, const char *faults, const char *seed, const char *hz);

/* End vboard with SIGTERM, check that it ended well and left nothing, remove the directory. */
void rig_stop(struct rig *rig);

/* Only remove the directory, after vboard was ended by other means. */
void rig_remove(struct rig *rig);

/* Run a program to its end: its exit code; its output and errors, together, in text. */
int rig_run(const char *const argv[], char *text, size_t size);

/* Run vboard-sdmux on the rig's board: its exit code; what it printed in rig->text. */
int rig_switch_mux(struct rig *rig, const char *command);

/* Open a port in raw mode at the given rate, or change the rate of an open one. */
int rig_open_port(struct rig *rig, const char *name, unsigned baud);
void rig_set_baud(int fd, unsigned baud);

/* Bytes of the relay. The switch is over when the relay has answered a query after it. */
void rig_set_power(struct rig *rig, bool is_on);
void rig_write(int fd, const void *bytes, size_t size);

/* Read until the needle has come; then it ends the text. */
void rig_read_until(struct rig *rig, int fd, const char *needle);

/* Read just so many bytes. */
void rig_read_bytes(struct rig *rig, int fd, size_t count);

/* Read until nothing has come for so long. */
void rig_read_rest(struct rig *rig, int fd, int silence_ms);

/* Power on, stop U-Boot's countdown and wait for its prompt. */
void rig_boot(struct rig *rig);

/* Type a line at U-Boot's prompt and read until the next prompt: the echo and the output. */
void rig_command(struct rig *rig, const char *line);

/* One command of vboard's control socket: what follows "ok " is left in answer. */
void rig_ask(struct rig *rig, const char *command, char *answer, size_t size);

/* The emulator's process, which must be running. */
pid_t rig_get_qemu(struct rig *rig);

/* A number of the control socket's stats. */
unsigned long long rig_get_count(struct rig *rig, const char *key);

/* Whether DIR has the entry. */
bool rig_has_entry(const struct rig *rig, const char *name);

/* Wait for the end of a process, of whatever parent, whose descriptor pidfd_open gave. */
void rig_await_end(int pid_fd);

#endif
