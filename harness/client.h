/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line's side of the daemon, through libcurl.  Functions return 0
 * or an exit code of the program with the text in client_error().  One thread.
 */
#ifndef SAMEBOARD_HARNESS_CLIENT_H
#define SAMEBOARD_HARNESS_CLIENT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;

/*
 * The daemon's socket: `given`, $SAMEBOARD_SOCKET, sameboard.sock in
 * $SAMEBOARD_STATE, in $XDG_RUNTIME_DIR or in the state folder.  0 or
 * -ENAMETOOLONG.
 */
int client_find_socket(const char *given, char *path, size_t size);

/*
 * Asks whether the daemon answers.  `socket` as found above; "http://..." is a
 * daemon over TCP, with the token in the file $SAMEBOARD_TOKEN_FILE.  *client
 * is set even on failure (NULL only without memory); always close it.
 */
int client_open(struct client **client, const char *socket);
void client_close(struct client *client);
const char *client_error(const struct client *client);

/* What the daemon says of itself: "lab", "database", "images"; "" if not. */
const char *client_get_fact(const struct client *client, const char *name);

/* GET, POST or DELETE; body (may be NULL) is borrowed.  *json is the caller's, NULL on error. */
int client_ask(struct client *client, const char *method, const char *path, const cJSON *body,
	cJSON **json);

/* GET with Accept: text/plain.  *text is the caller's. */
int client_get_text(struct client *client, const char *path, char **text);

struct client_events {
	void *context;
	void (*see)(void *context, const char *event, const char *data);
};

/*
 * Follows a job to its end: *exit_code is the job's.  A connection that breaks
 * is made anew and nothing is seen twice; CLI_LAB when the daemon stays away or
 * a signal asked to stop.
 */
int client_watch(
	struct client *client, int64_t job, const struct client_events *events, int *exit_code);

#endif
