/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_SECRET_H
#define BOARDCTL_SECRET_H

#include <stddef.h>

/*
 * Passwords of lab devices. 0 or a negative errno with a text that has no
 * secret in it.
 */

/*
 * The first line of a file that only its owner (and group) may read, or the
 * value of a variable; one of both is NULL. -EACCES when others may read it too.
 */
int secret_read(const char *file, const char *variable, char *secret, size_t size, char *error,
	size_t error_size);

/* Write '*' over each place where the secret, plain or escaped as in an URL, stands. */
void secret_blank(char *text, const char *secret);

/* Escape for an URL: out has room for 3 * strlen(text) + 1. */
void secret_escape(const char *text, char *out);

/* Overwrite it in memory. */
void secret_forget(char *secret, size_t size);

#endif
