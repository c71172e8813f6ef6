/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card of each board: which it is, what it holds, how often it was written
 * and how often that failed.  Another device or size under a board is another
 * card, and its counts begin anew.  Errors and threads as in db/store.h.
 */
#ifndef SAMEBOARD_DB_CARDLOG_H
#define SAMEBOARD_DB_CARDLOG_H

#include "db/store.h"

struct cardlog {
	const char *board;
	const char *device; /* as the lab file names it */
	int64_t size_bytes;
	const char *sha256; /* of the image that it was left with; "": not known */
	int64_t writes, errors;
	const char *error;  /* the last one; "": none */
	int64_t written_ms; /* 0: never */
};

/* Written and read back. */
int cardlog_note_write(struct store *store, const char *board, const char *device,
	uint64_t size_bytes, const char *sha256, int64_t now_ms);

/* Reading or writing it failed: what it holds is not known. */
int cardlog_note_error(
	struct store *store, const char *board, const char *device, const char *error);

/* A system that writes its card has power: what it holds is not known from here on. */
int cardlog_forget(struct store *store, const char *board);

/* 0 and *card (free() it); NULL for a board whose card was never written. */
int cardlog_get(struct store *store, const char *board, struct cardlog **card);

#endif
