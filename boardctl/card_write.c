/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "boardctl/bmap.h"
#include "boardctl/card_private.h"
#include "boardctl/imagefile.h"
#include "boardctl/monotonic.h"

#define CHUNK_SIZE	(1024u * 1024u)
#define PULLED_US	3000000u
#define PULLED_PAUSE_US 50000u

static const char no_memory[] = "out of memory";

struct job {
	struct card *card;
	const struct card_image *image;
	const struct card_progress *progress;
	struct imagefile *file;
	struct bmap bmap; /* without a map one range: everything */
	struct sha256 *hash, *file_hash, *range_hash;
	char *chunk;
	uint64_t size_bytes;	      /* of the content */
	bool is_hashed_late;	      /* nothing to compare it with: hashed as it is written */
	char wanted[SHA256_HEX_SIZE]; /* what the ranges have */
};

static void show(const struct job *job, enum card_phase phase, uint64_t done, uint64_t total)
{
	if (job->progress && job->progress->see)
		job->progress->see(job->progress->ctx, phase, done, total);
}

static int fail_image(struct job *job, int code, const char *what)
{
	return fail_format(job->card->error, sizeof(job->card->error), code, "image %s: %s",
		job->image->path, what);
}

static int pass_image_error(struct job *job, int code)
{
	return fail_format(
		job->card->error, sizeof(job->card->error), code, "%s", imagefile_error(job->file));
}

static bool is_there(const struct card *card)
{
	uint64_t size_bytes = 0;
	struct stat now;
	char path[64];

	if (ioctl(card->fd, BLKGETSIZE64, &size_bytes) || size_bytes != card->size_bytes ||
		fstat(card->fd, &now))
		return false;
	snprintf(
		path, sizeof(path), "/sys/dev/block/%u:%u", major(now.st_rdev), minor(now.st_rdev));
	return access(path, F_OK) == 0;
}

/*
 * A disk that was pulled out says much: no space, an error of input and output,
 * its end. The error may come before the kernel has taken the disk away.
 */
static bool is_pulled(const struct card *card)
{
	uint64_t deadline_us = monotonic_get_us() + PULLED_US;

	if (!card->is_block)
		return false;
	while (is_there(card)) {
		if (monotonic_get_us() >= deadline_us)
			return false;
		monotonic_sleep_until_us(monotonic_get_us() + PULLED_PAUSE_US);
	}
	return true;
}

static int fail_card(struct job *job, int error, const char *what, uint64_t at)
{
	struct card *card = job->card;

	if (error == ENXIO || error == ENODEV || is_pulled(card))
		return fail_format(card->error, sizeof(card->error), -ENODEV,
			"%s went away at byte %" PRIu64 "; what it holds is no whole image",
			card->device, at);
	/* EFBIG: the limit of a file, which is how a short card looks when it is one. */
	if (error == ENOSPC || error == EFBIG)
		return fail_format(card->error, sizeof(card->error), -ENOSPC,
			"%s is full after %" PRIu64 " of %" PRIu64 " bytes", card->device, at,
			job->size_bytes);
	return fail_format(card->error, sizeof(card->error), -error,
		"cannot %s %s at byte %" PRIu64 ": %s", what, card->device, at, strerror(error));
}

/* ------------------------------------------------------------------- bytes */

/* Up to size bytes, less only at the end; or a negative errno. */
static ssize_t read_full(int fd, char *buffer, size_t size, uint64_t at)
{
	size_t have = 0;

	while (have < size) {
		ssize_t got = pread(fd, buffer + have, size - have, (off_t)(at + have));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

static int write_full(int fd, const char *buffer, size_t size, uint64_t at, size_t *done)
{
	for (*done = 0; *done < size;) {
		ssize_t put = pwrite(fd, buffer + *done, size - *done, (off_t)(at + *done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno;
		if (!put)
			return ENOSPC;
		*done += (size_t)put;
	}
	return 0;
}

static size_t piece(uint64_t left)
{
	return left < CHUNK_SIZE ? (size_t)left : CHUNK_SIZE;
}

/* ---------------------------------------------------------------- contents */

/*
 * Each piece of the content that lies in a range goes to `take`, in order; what
 * lies between is passed over. Size and sums of the ranges are not checked here.
 */
struct walk {
	struct job *job;
	int (*take)(struct walk *walk, const struct bmap_range *range, uint64_t at, size_t size);
	size_t range;
	uint64_t at; /* in the content */
};

/* A piece lies in one range or in none. */
static int take_piece(struct walk *walk, size_t size)
{
	const struct bmap *bmap = &walk->job->bmap;
	const struct bmap_range *range =
		walk->range < bmap->count ? &bmap->ranges[walk->range] : NULL;
	uint64_t at = walk->at;

	walk->at += size;
	if (!range || at < range->start)
		return 0;
	if (walk->at >= range->start + range->size)
		walk->range++;
	return walk->take(walk, range, at, size);
}

/* How much to read so that this holds. */
static size_t next_size(const struct walk *walk)
{
	const struct bmap *bmap = &walk->job->bmap;
	const struct bmap_range *range;

	if (walk->range >= bmap->count)
		return CHUNK_SIZE;
	range = &bmap->ranges[walk->range];
	if (range->start > walk->at)
		return piece(range->start - walk->at);
	return piece(range->start + range->size - walk->at);
}

static int walk_content(struct walk *walk, enum card_phase phase, struct sha256 *file_hash)
{
	struct job *job = walk->job;
	int ret = imagefile_rewind(job->file);

	if (ret)
		return pass_image_error(job, ret);
	for (;;) {
		ssize_t got;

		if (phase == CARD_PHASE_HASH)
			show(job, phase, imagefile_position(job->file), imagefile_size(job->file));
		else
			show(job, phase, walk->at, job->size_bytes);
		got = imagefile_read(job->file, job->chunk, next_size(walk), file_hash);
		if (got < 0)
			return pass_image_error(job, (int)got);
		if (!got)
			return 0;
		ret = take_piece(walk, (size_t)got);
		if (ret)
			return ret;
	}
}

/* -------------------------------------------------------------------- hash */

static int hash_piece(struct walk *walk, const struct bmap_range *range, uint64_t at, size_t size)
{
	struct job *job = walk->job;
	char sum[SHA256_HEX_SIZE];

	sha256_update(job->hash, job->chunk, size);
	if (!range->sha256[0])
		return 0;
	sha256_update(job->range_hash, job->chunk, size);
	if (at + size < range->start + range->size)
		return 0;
	sha256_finish(job->range_hash, sum);
	if (!strcmp(sum, range->sha256))
		return 0;
	return fail_format(job->card->error, sizeof(job->card->error), -EBADMSG,
		"image %s: its bytes from %" PRIu64 " on are not those of the block map; nothing "
		"was written",
		job->image->path, range->start);
}

static int check_fit(struct job *job)
{
	if (job->size_bytes <= job->card->size_bytes)
		return 0;
	return fail_format(job->card->error, sizeof(job->card->error), -EFBIG,
		"card too small: %s needs %" PRIu64 " bytes, %s has %" PRIu64
		"; nothing was written",
		job->image->path, job->size_bytes, job->card->device, job->card->size_bytes);
}

static int read_map(struct job *job)
{
	if (job->image->bmap) {
		int ret = bmap_read(
			&job->bmap, job->image->bmap, job->card->error, sizeof(job->card->error));

		if (ret)
			return ret;
	} else {
		job->bmap.ranges = calloc(1, sizeof(*job->bmap.ranges));
		if (!job->bmap.ranges)
			return fail_image(job, -ENOMEM, no_memory);
		job->bmap.ranges[0].size = UINT64_MAX;
		job->bmap.count = 1;
	}
	return 0;
}

/* What the image has, before anything is written: its size, its sums. */
static int hash_image(struct job *job)
{
	struct walk walk = {.job = job, .take = hash_piece};
	char of_file[SHA256_HEX_SIZE];
	bool is_raw = imagefile_is_raw(job->file);
	int ret;

	job->size_bytes = imagefile_size(job->file);
	ret = is_raw ? check_fit(job) : 0;
	job->is_hashed_late = is_raw && !job->image->sha256 && !job->image->bmap;
	if (!ret && job->is_hashed_late) {
		job->bmap.ranges[0].size = job->size_bytes;
		show(job, CARD_PHASE_HASH, job->size_bytes, job->size_bytes);
		return 0;
	}
	if (!ret)
		/* Of a raw image without a map the two sums are one. */
		ret = walk_content(&walk, CARD_PHASE_HASH,
			is_raw && !job->image->bmap ? NULL : job->file_hash);
	if (ret)
		return ret;
	if (is_raw && walk.at != job->size_bytes)
		return fail_image(job, -EBADMSG, "it shrank while it was read");
	job->size_bytes = walk.at;
	sha256_finish(job->hash, job->wanted);
	if (is_raw && !job->image->bmap)
		memcpy(of_file, job->wanted, sizeof(of_file));
	else
		sha256_finish(job->file_hash, of_file);
	if (job->image->sha256 && strcasecmp(job->image->sha256, of_file) != 0)
		return fail_format(job->card->error, sizeof(job->card->error), -EBADMSG,
			"image %s has the SHA-256 %s, and %s was expected; nothing was written",
			job->image->path, of_file, job->image->sha256);
	if (job->image->bmap && job->bmap.image_bytes != job->size_bytes)
		return fail_format(job->card->error, sizeof(job->card->error), -EBADMSG,
			"image %s has %" PRIu64 " bytes, its block map says %" PRIu64
			"; nothing was written",
			job->image->path, job->size_bytes, job->bmap.image_bytes);
	if (!job->image->bmap)
		job->bmap.ranges[0].size = job->size_bytes;
	return check_fit(job);
}

/* ------------------------------------------------------------------- write */

static int write_piece(struct walk *walk, const struct bmap_range *range, uint64_t at, size_t size)
{
	struct job *job = walk->job;
	size_t done = 0;
	int error;

	(void)range;
	if (job->is_hashed_late)
		sha256_update(job->hash, job->chunk, size);
	error = write_full(job->card->fd, job->chunk, size, at, &done);
	return error ? fail_card(job, error, "write to", at + done) : 0;
}

static int write_image(struct job *job)
{
	struct walk walk = {.job = job, .take = write_piece};
	int ret = walk_content(&walk, CARD_PHASE_WRITE, NULL);

	if (ret)
		return ret;
	if (walk.at < job->size_bytes)
		return fail_image(job, -EBADMSG, "it shrank while it was written");
	if (walk.at > job->size_bytes)
		return fail_image(job, -EBADMSG, "it changed while it was written");
	if (job->is_hashed_late)
		sha256_finish(job->hash, job->wanted);
	if (fsync(job->card->fd))
		return fail_card(job, errno, "sync", job->size_bytes);
	show(job, CARD_PHASE_WRITE, job->size_bytes, job->size_bytes);
	return 0;
}

/* ------------------------------------------------------------------ verify */

/* What comes back must come from the card, not from memory. */
static int drop_caches(struct job *job)
{
	int ret;

	if (job->card->is_block && ioctl(job->card->fd, BLKFLSBUF, 0))
		return fail_card(job, errno, "drop the cache of", 0);
	ret = posix_fadvise(job->card->fd, 0, 0, POSIX_FADV_DONTNEED);
	return ret ? fail_card(job, ret, "drop the cache of", 0) : 0;
}

static int verify_range(struct job *job, const struct bmap_range *range)
{
	for (uint64_t at = range->start, end = range->start + range->size; at < end;) {
		ssize_t got;

		show(job, CARD_PHASE_VERIFY, at, job->size_bytes);
		got = read_full(job->card->fd, job->chunk, piece(end - at), at);
		if (got < 0)
			return fail_card(job, (int)-got, "read back", at);
		if (!got && is_pulled(job->card))
			return fail_card(job, ENODEV, "read back", at);
		if (!got)
			return fail_format(job->card->error, sizeof(job->card->error), -ENOSPC,
				"%s ends at byte %" PRIu64 " when read back, %" PRIu64
				" were written",
				job->card->device, at, job->size_bytes);
		sha256_update(job->hash, job->chunk, (size_t)got);
		at += (uint64_t)got;
	}
	return 0;
}

static int hash_again(struct walk *walk, const struct bmap_range *range, uint64_t at, size_t size)
{
	(void)range;
	(void)at;
	sha256_update(walk->job->hash, walk->job->chunk, size);
	return 0;
}

/* Who is to blame where the card has something else: the card, or who changed the image. */
static int check_unchanged(struct job *job)
{
	struct walk walk = {.job = job, .take = hash_again};
	char now[SHA256_HEX_SIZE];
	int ret = walk_content(&walk, CARD_PHASE_VERIFY, NULL);

	sha256_finish(job->hash, now);
	if (ret)
		return ret;
	return strcmp(now, job->wanted) == 0
		       ? 0
		       : fail_image(job, -EBADMSG, "it changed while it was written");
}

static int verify_card(struct job *job, char written[SHA256_HEX_SIZE])
{
	int ret = 0;

	for (size_t i = 0; !ret && i < job->bmap.count; i++)
		ret = verify_range(job, &job->bmap.ranges[i]);
	if (ret)
		return ret;
	sha256_finish(job->hash, written);
	show(job, CARD_PHASE_VERIFY, job->size_bytes, job->size_bytes);
	if (!strcmp(written, job->wanted))
		return 0;
	ret = check_unchanged(job);
	if (ret)
		return ret;
	return fail_format(job->card->error, sizeof(job->card->error), -EILSEQ,
		"%s returns the SHA-256 %s, %s was written; the card, its reader or the mux is bad",
		job->card->device, written, job->wanted);
}

/* --------------------------------------------------------------------- all */

static int open_image(struct job *job)
{
	const char *hex = job->image->sha256;
	int ret;

	if (hex && (strlen(hex) != 64 || strspn(hex, "0123456789abcdefABCDEF") != 64))
		return fail_image(job, -EINVAL, "its SHA-256 must be 64 hex digits");
	ret = imagefile_open(&job->file, job->image->path);
	return ret ? pass_image_error(job, ret) : read_map(job);
}

int card_write_image(struct card *card, const struct card_image *image,
	const struct card_progress *progress, char written[SHA256_HEX_SIZE])
{
	char read_back[SHA256_HEX_SIZE] = "";
	struct job job = {.card = card, .image = image, .progress = progress};
	int ret;

	if (written)
		written[0] = '\0';
	if (card->fd < 0)
		return fail_format(
			card->error, sizeof(card->error), -ENODEV, "the card is not open");
	job.hash = sha256_new();
	job.file_hash = sha256_new();
	job.range_hash = sha256_new();
	job.chunk = malloc(CHUNK_SIZE);
	if (!job.hash || !job.file_hash || !job.range_hash || !job.chunk) {
		ret = fail_format(card->error, sizeof(card->error), -ENOMEM, no_memory);
		goto out;
	}
	ret = open_image(&job);
	if (!ret)
		ret = hash_image(&job);
	if (!ret)
		ret = write_image(&job);
	if (!ret)
		ret = drop_caches(&job);
	if (!ret)
		ret = verify_card(&job, read_back);
	if (!ret && written)
		memcpy(written, read_back, sizeof(read_back));
out:
	imagefile_close(job.file);
	bmap_free(&job.bmap);
	free(job.chunk);
	sha256_free(job.range_hash);
	sha256_free(job.file_hash);
	sha256_free(job.hash);
	return ret;
}

int card_read_hash(struct card *card, uint64_t size_bytes, const struct card_progress *progress,
	char hash[SHA256_HEX_SIZE])
{
	struct bmap_range whole = {.size = size_bytes};
	struct job job = {.card = card, .progress = progress, .size_bytes = size_bytes};
	int ret;

	hash[0] = '\0';
	if (card->fd < 0)
		return fail_format(
			card->error, sizeof(card->error), -ENODEV, "the card is not open");
	if (size_bytes > card->size_bytes)
		return fail_format(card->error, sizeof(card->error), -EFBIG,
			"%s has %" PRIu64 " bytes, fewer than the %" PRIu64 " that are to be read",
			card->device, card->size_bytes, size_bytes);
	job.hash = sha256_new();
	job.chunk = malloc(CHUNK_SIZE);
	if (!job.hash || !job.chunk)
		ret = fail_format(card->error, sizeof(card->error), -ENOMEM, no_memory);
	else if ((ret = drop_caches(&job)) == 0)
		ret = verify_range(&job, &whole);
	if (ret == 0) {
		sha256_finish(job.hash, hash);
		show(&job, CARD_PHASE_VERIFY, size_bytes, size_bytes);
	}
	free(job.chunk);
	sha256_free(job.hash);
	return ret;
}
