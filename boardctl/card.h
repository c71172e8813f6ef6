/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_CARD_H
#define BOARDCTL_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "boardctl/sha256.h"

/*
 * The card while the mux gives it to the host: a block device, or a regular
 * file (the virtual board's card). Order of a safe write: board off, mux to
 * host, card_open(), card_write_image(), card_close(), mux off, mux to dut.
 *
 * Errors, with their text in card_error():
 *   -EINVAL     the configuration or the image is wrong
 *   -ENODEV     the device didn't appear in time, or went away
 *   -ENOTBLK    it is neither a block device nor a regular file
 *   -EBUSY      it, or a partition of it, is mounted or otherwise in use
 *   -EPERM      it isn't removable and that isn't allowed, or it holds the root file system
 *   -EFBIG      the image is larger than the card; nothing was written
 *   -EBADMSG    the image file isn't what its SHA-256 or its block map says, or is
 *               damaged; nothing was written, unless it changed while it was
 *   -ENOSPC     the device ended or was full before the image was
 *   -EILSEQ     what was read back isn't what was written
 *   -EIO ...    what the kernel said
 */
struct card;

/* Strings are copied by card_open(). */
struct card_config {
	const char *device;	 /* by a stable name: /dev/disk/by-id/..., DIR/card */
	unsigned appear_ms;	 /* wait for it; 0 = 15000 */
	uint64_t size_bytes;	 /* refuse a card of another size; 0 = any */
	bool fixed_disk_allowed; /* write to a device that isn't marked removable */
};

/* Raw, or compressed by gzip, xz or zstd (imagefile.h). */
struct card_image {
	const char *path;
	const char *sha256; /* of the file, 64 hex digits; NULL = whatever it has */
	const char *bmap;   /* path of a block map: only its blocks are written; NULL = all */
};

enum card_phase {
	CARD_PHASE_HASH,   /* the image file is hashed */
	CARD_PHASE_WRITE,  /* it is written */
	CARD_PHASE_VERIFY, /* the card is read back */
};

/* Called at least at the start and the end of each phase; NULL see = not. */
struct card_progress {
	void (*see)(void *ctx, enum card_phase phase, uint64_t done_bytes, uint64_t total_bytes);
	void *ctx;
};

/*
 * Wait for the device, check that it may be written, and hold it (a block
 * device exclusively). Writes nothing. *card is set even on failure (NULL only
 * without memory); always card_close() it.
 */
int card_open(struct card **card, const struct card_config *config);
void card_close(struct card *card);
const char *card_error(const struct card *card);

/* Bytes that fit. */
uint64_t card_size(const struct card *card);

/*
 * Hash the image file and compare (a raw one that nothing is known of is hashed
 * as it is written), write its content from the card's first byte
 * on, sync, drop the caches, read back and compare. written (may be NULL) gets
 * the hash of what the card returned: of the whole content, or of the blocks of
 * the map in their order.
 */
int card_write_image(struct card *card, const struct card_image *image,
	const struct card_progress *progress, char written[SHA256_HEX_SIZE]);

/*
 * The hash of the card's first size_bytes, as they come from the card and not
 * from memory. -EFBIG where it has fewer.
 */
int card_read_hash(struct card *card, uint64_t size_bytes, const struct card_progress *progress,
	char hash[SHA256_HEX_SIZE]);

#endif
