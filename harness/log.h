/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only place that prints.  Results go to stdout, progress and errors to
 * stderr; progress is silent under --quiet.  Texts of boards, files and other
 * programs are in them: what is no UTF-8, and control characters but LF and
 * tab, are printed as '?'.  One thread.
 */
#ifndef SAMEBOARD_HARNESS_LOG_H
#define SAMEBOARD_HARNESS_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* No progress lines from now on (errors still come). */
void log_set_quiet(bool quiet);

enum log_kind {
	LOG_KIND_PROGRESS,
	LOG_KIND_ERROR,
};

/*
 * Progress and errors go there instead of stderr, without the newline at the
 * end: a worker's go to its daemon.  NULL: back to stderr.
 */
void log_set_sink(void (*sink)(void *context, enum log_kind kind, const char *text), void *context);

/* "sameboard: ..." and a newline on stderr. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A progress line on stderr, with the seconds since the program started. */
void log_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same without the seconds: a line that another process has made. */
void log_relay(const char *text);

/* Text of a result on stdout. */
void log_result(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Bytes of a result on stdout, whatever they are. */
void log_bytes(const void *data, size_t size);

/* 0, -EPIPE when the reader has gone (it has what it wanted), or -EIO when
 * stdout could not take all results (a full disk). */
int log_flush(void);

#endif
