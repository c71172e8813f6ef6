/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/card.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boardctl/cardcheck.h"
#include "boardctl/fail.h"
#include "boardctl/monotonic.h"

#define DEFAULT_APPEAR_MS 15000u
#define APPEAR_PAUSE_US	  20000u
#define CHUNK_SIZE	  (1024u * 1024u)

struct card {
	char *device;
	char error[FAIL_TEXT_SIZE];
	int fd; /* -1 = not open */
	bool is_block;
	uint64_t size_bytes;
};

static const char no_memory[] = "out of memory";
static const struct cardcheck this_machine = {
	.sysfs = "/sys",
	.mountinfo = "/proc/self/mountinfo",
};

static bool is_absent(int ret)
{
	return ret == -ENOENT || ret == -ENXIO || ret == -ENODEV || ret == -ENOMEDIUM;
}

/* A missing device and a careless `cp` leave a file in /dev that looks like a card. */
static bool is_stray_file(const char *device)
{
	char real[PATH_MAX];

	return realpath(device, real) && !strncmp(real, "/dev/", 5) &&
	       strncmp(real, "/dev/shm/", 9) != 0;
}

static int open_block(struct card *card, const struct card_config *config, dev_t device)
{
	int ret = cardcheck_run(&this_machine, device, card->device, config->fixed_disk_allowed,
		card->error, sizeof(card->error));
	uint64_t size_bytes = 0;
	struct stat now;

	if (ret)
		return ret;
	card->fd = open(card->device, O_RDWR | O_EXCL | O_CLOEXEC);
	if (card->fd < 0)
		return fail_format(card->error, sizeof(card->error), -errno,
			"cannot open %s for writing: %s", card->device, strerror(errno));
	if (fstat(card->fd, &now) || !S_ISBLK(now.st_mode) || now.st_rdev != device)
		return fail_format(card->error, sizeof(card->error), -ENODEV,
			"%s changed while it was opened", card->device);
	if (ioctl(card->fd, BLKGETSIZE64, &size_bytes))
		return fail_format(card->error, sizeof(card->error), -errno,
			"cannot ask %s for its size: %s", card->device, strerror(errno));
	if (!size_bytes)
		return fail_format(card->error, sizeof(card->error), -ENOMEDIUM,
			"%s is a reader without a card", card->device);
	card->size_bytes = size_bytes;
	card->is_block = true;
	return 0;
}

static int open_file(struct card *card)
{
	struct stat now;

	if (is_stray_file(card->device))
		return fail_format(card->error, sizeof(card->error), -ENOTBLK,
			"%s is a regular file among the devices, left by a write without a card; "
			"remove it",
			card->device);
	card->fd = open(card->device, O_RDWR | O_CLOEXEC);
	if (card->fd < 0 || fstat(card->fd, &now))
		return fail_format(card->error, sizeof(card->error), -errno,
			"cannot open %s for writing: %s", card->device, strerror(errno));
	card->size_bytes = (uint64_t)now.st_size;
	return 0;
}

static int try_open(struct card *card, const struct card_config *config)
{
	struct stat now;

	if (stat(card->device, &now))
		return fail_format(card->error, sizeof(card->error), -errno, "no card at %s: %s",
			card->device, strerror(errno));
	if (S_ISBLK(now.st_mode))
		return open_block(card, config, now.st_rdev);
	if (S_ISREG(now.st_mode))
		return open_file(card);
	return fail_format(card->error, sizeof(card->error), -ENOTBLK,
		"%s is neither a block device nor a regular file", card->device);
}

static void close_device(struct card *card)
{
	if (card->fd >= 0)
		close(card->fd);
	card->fd = -1;
}

static int wait_open(struct card *card, const struct card_config *config)
{
	unsigned appear_ms = config->appear_ms ? config->appear_ms : DEFAULT_APPEAR_MS;
	uint64_t deadline_us = monotonic_get_us() + (uint64_t)appear_ms * 1000u;
	int ret;

	while (is_absent(ret = try_open(card, config))) {
		uint64_t now_us = monotonic_get_us();
		char last[FAIL_TEXT_SIZE];

		close_device(card);
		snprintf(last, sizeof(last), "%s", card->error);
		if (now_us >= deadline_us)
			return fail_format(card->error, sizeof(card->error), -ENODEV,
				"the card did not appear within %u ms: %s; check the SD mux and the "
				"card in it",
				appear_ms, last);
		monotonic_sleep_until_us(now_us + APPEAR_PAUSE_US);
	}
	return ret;
}

int card_open(struct card **out, const struct card_config *config)
{
	struct card *card = calloc(1, sizeof(*card));
	int ret;

	*out = card;
	if (!card)
		return -ENOMEM;
	card->fd = -1;
	if (!config->device)
		return fail_format(
			card->error, sizeof(card->error), -EINVAL, "no card device configured");
	card->device = strdup(config->device);
	if (!card->device)
		return fail_format(card->error, sizeof(card->error), -ENOMEM, no_memory);
	ret = wait_open(card, config);
	if (!ret && config->size_bytes && config->size_bytes != card->size_bytes)
		ret = fail_format(card->error, sizeof(card->error), -EPERM,
			"%s has %" PRIu64 " bytes, the configured card has %" PRIu64
			"; it is another card",
			card->device, card->size_bytes, config->size_bytes);
	if (ret)
		close_device(card);
	return ret;
}

void card_close(struct card *card)
{
	if (!card)
		return;
	close_device(card);
	free(card->device);
	free(card);
}

const char *card_error(const struct card *card)
{
	return card ? card->error : no_memory;
}

uint64_t card_size(const struct card *card)
{
	return card->size_bytes;
}

/* ---------------------------------------------------------------- writing */

struct job {
	struct card *card;
	const struct card_image *image;
	const struct card_progress *progress;
	struct sha256 *hash;
	char *chunk;
	int image_fd;
	uint64_t size_bytes;	      /* of the image */
	char wanted[SHA256_HEX_SIZE]; /* what the image file has */
};

static void show(const struct job *job, enum card_phase phase, uint64_t done_bytes)
{
	if (job->progress && job->progress->see)
		job->progress->see(job->progress->ctx, phase, done_bytes, job->size_bytes);
}

static int fail_image(struct job *job, int code, const char *what)
{
	return fail_format(job->card->error, sizeof(job->card->error), code, "image %s: %s",
		job->image->path, what);
}

static int fail_card(struct job *job, int error, const char *what, uint64_t at)
{
	struct card *card = job->card;

	/* EFBIG: the limit of a file, which is how a short card looks when it is one. */
	if (error == ENOSPC || error == EFBIG)
		return fail_format(card->error, sizeof(card->error), -ENOSPC,
			"%s is full after %" PRIu64 " of %" PRIu64 " bytes", card->device, at,
			job->size_bytes);
	if (error == ENXIO || error == ENODEV)
		return fail_format(card->error, sizeof(card->error), -ENODEV,
			"%s went away at byte %" PRIu64, card->device, at);
	return fail_format(card->error, sizeof(card->error), -error,
		"cannot %s %s at byte %" PRIu64 ": %s", what, card->device, at, strerror(error));
}

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

static size_t chunk_at(const struct job *job, uint64_t at)
{
	uint64_t left = job->size_bytes - at;

	return left < CHUNK_SIZE ? (size_t)left : CHUNK_SIZE;
}

/* Hash the image as it is now; also says whether it is still the one of before. */
static int hash_image(struct job *job)
{
	for (uint64_t at = 0; at < job->size_bytes;) {
		ssize_t got = read_full(job->image_fd, job->chunk, chunk_at(job, at), at);

		if (got < 0)
			return fail_image(job, (int)got, strerror((int)-got));
		if (!got)
			return fail_image(job, -EBADMSG, "it shrank while it was read");
		show(job, CARD_PHASE_HASH, at);
		sha256_update(job->hash, job->chunk, (size_t)got);
		at += (uint64_t)got;
	}
	sha256_finish(job->hash, job->wanted);
	show(job, CARD_PHASE_HASH, job->size_bytes);
	if (!job->image->sha256 || !strcasecmp(job->image->sha256, job->wanted))
		return 0;
	return fail_format(job->card->error, sizeof(job->card->error), -EBADMSG,
		"image %s has the SHA-256 %s, its manifest says %s; nothing was written",
		job->image->path, job->wanted, job->image->sha256);
}

static int write_image(struct job *job)
{
	char written[SHA256_HEX_SIZE];

	for (uint64_t at = 0; at < job->size_bytes;) {
		size_t done = 0;
		ssize_t got = read_full(job->image_fd, job->chunk, chunk_at(job, at), at);
		int error;

		if (got < 0)
			return fail_image(job, (int)got, strerror((int)-got));
		if (!got)
			return fail_image(job, -EBADMSG, "it shrank while it was written");
		show(job, CARD_PHASE_WRITE, at);
		sha256_update(job->hash, job->chunk, (size_t)got);
		error = write_full(job->card->fd, job->chunk, (size_t)got, at, &done);
		if (error)
			return fail_card(job, error, "write to", at + done);
		at += (uint64_t)got;
	}
	sha256_finish(job->hash, written);
	if (strcmp(written, job->wanted))
		return fail_image(job, -EBADMSG, "it changed while it was written");
	if (fsync(job->card->fd))
		return fail_card(job, errno, "sync", job->size_bytes);
	show(job, CARD_PHASE_WRITE, job->size_bytes);
	return 0;
}

/* What comes back must come from the card, not from memory. */
static int drop_caches(struct job *job)
{
	int ret;

	if (job->card->is_block && ioctl(job->card->fd, BLKFLSBUF, 0))
		return fail_card(job, errno, "drop the cache of", 0);
	ret = posix_fadvise(job->card->fd, 0, 0, POSIX_FADV_DONTNEED);
	return ret ? fail_card(job, ret, "drop the cache of", 0) : 0;
}

static int verify_card(struct job *job, char written[SHA256_HEX_SIZE])
{
	for (uint64_t at = 0; at < job->size_bytes;) {
		ssize_t got;

		show(job, CARD_PHASE_VERIFY, at);
		got = read_full(job->card->fd, job->chunk, chunk_at(job, at), at);
		if (got < 0)
			return fail_card(job, (int)-got, "read back", at);
		if (!got)
			return fail_format(job->card->error, sizeof(job->card->error), -ENOSPC,
				"%s ends at byte %" PRIu64 " when read back, %" PRIu64
				" were written",
				job->card->device, at, job->size_bytes);
		sha256_update(job->hash, job->chunk, (size_t)got);
		at += (uint64_t)got;
	}
	sha256_finish(job->hash, written);
	show(job, CARD_PHASE_VERIFY, job->size_bytes);
	if (!strcmp(written, job->wanted))
		return 0;
	return fail_format(job->card->error, sizeof(job->card->error), -EILSEQ,
		"%s returns the SHA-256 %s, %s was written; the card, its reader or the mux is bad",
		job->card->device, written, job->wanted);
}

static int check_sizes(struct job *job)
{
	const char *hex = job->image->sha256;
	struct stat now;

	if (hex && (strlen(hex) != 64 || strspn(hex, "0123456789abcdefABCDEF") != 64))
		return fail_image(job, -EINVAL, "its SHA-256 must be 64 hex digits");
	job->image_fd = open(job->image->path, O_RDONLY | O_CLOEXEC);
	if (job->image_fd < 0 || fstat(job->image_fd, &now))
		return fail_image(job, -errno, strerror(errno));
	if (!S_ISREG(now.st_mode) || !now.st_size)
		return fail_image(job, -EINVAL, "it is empty or no regular file");
	job->size_bytes = (uint64_t)now.st_size;
	if (job->size_bytes <= job->card->size_bytes)
		return 0;
	return fail_format(job->card->error, sizeof(job->card->error), -EFBIG,
		"card too small: %s needs %" PRIu64 " bytes, %s has %" PRIu64
		"; nothing was written",
		job->image->path, job->size_bytes, job->card->device, job->card->size_bytes);
}

int card_write_image(struct card *card, const struct card_image *image,
	const struct card_progress *progress, char written[SHA256_HEX_SIZE])
{
	char read_back[SHA256_HEX_SIZE] = "";
	struct job job = {.card = card, .image = image, .progress = progress, .image_fd = -1};
	int ret;

	if (written)
		written[0] = '\0';
	if (card->fd < 0)
		return fail_format(
			card->error, sizeof(card->error), -ENODEV, "the card is not open");
	job.hash = sha256_new();
	job.chunk = malloc(CHUNK_SIZE);
	if (!job.hash || !job.chunk) {
		ret = fail_format(card->error, sizeof(card->error), -ENOMEM, no_memory);
		goto out;
	}
	ret = check_sizes(&job);
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
	if (job.image_fd >= 0)
		close(job.image_fd);
	free(job.chunk);
	sha256_free(job.hash);
	return ret;
}
