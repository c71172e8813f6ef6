/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened to the virtual board: DIR/log, a time-stamped line an event (seconds since start).
 * The only part of vboard that prints. Nothing here fails: a log that cannot be written is lost.
 */
#ifndef VBOARD_LOG_H
#define VBOARD_LOG_H

/* Start the log at the file descriptor, which stays the caller's; before that, events go nowhere.
 */
void log_init(int fd);

/* The descriptor, for the standard error of programs that vboard starts; -1 before log_init. */
int log_fd(void);

void log_event(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An event that is also told on standard error. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
