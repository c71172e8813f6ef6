/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may ask the daemon for what.  Over its Unix socket the file's mode
 * decides.  Over TCP everybody may read and only who has the token may change
 * anything; and since a browser on this machine reaches 127.0.0.1 for any page
 * it shows, requests in the name of another site are refused: the Host must be
 * an address, "localhost" or this machine's name (a name that an attacker made
 * point here is none of these), and an Origin must be that Host.
 */
#ifndef SAMEBOARD_HARNESS_ACCESS_H
#define SAMEBOARD_HARNESS_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#define ACCESS_TOKEN_MIN 16
#define ACCESS_TOKEN_MAX 256

struct access {
	char token[ACCESS_TOKEN_MAX + 1]; /* "": no change over TCP at all */
};

/*
 * Reads the token: the file's first line, at least ACCESS_TOKEN_MIN printable
 * characters, readable by its owner only.  0 or a negative errno with text.
 */
int access_read_token(struct access *access, const char *path, char *error, size_t error_size);

/* What matters of a request; headers that were not sent are NULL. */
struct access_request {
	bool is_tcp;
	bool is_change;
	const char *host, *origin, *authorization;
};

/* 0, or the HTTP status of the refusal with its reason in *why (borrowed, lives for ever). */
unsigned access_check(
	const struct access *access, const struct access_request *request, const char **why);

#endif
