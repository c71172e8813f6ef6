/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/card_private.h"

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
#include "boardctl/monotonic.h"

#define DEFAULT_APPEAR_MS 15000u
#define APPEAR_PAUSE_US	  20000u

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

static int check_size(struct card *card, const struct card_config *config, uint64_t size_bytes)
{
	if (!config->size_bytes || config->size_bytes == size_bytes)
		return 0;
	return fail_format(card->error, sizeof(card->error), -EPERM,
		"%s has %" PRIu64 " bytes, the configured card has %" PRIu64 "; it is another card",
		card->device, size_bytes, config->size_bytes);
}

static int open_block(struct card *card, const struct card_config *config, dev_t device)
{
	int ret = cardcheck_run(&this_machine, device, card->device, config->fixed_disk_allowed,
		card->error, sizeof(card->error));
	uint64_t size_bytes = 0;
	struct stat now;

	if (!ret && strstr(card->device, "/by-id/"))
		ret = cardcheck_run_twin(
			&this_machine, device, card->device, card->error, sizeof(card->error));
	if (!ret)
		size_bytes = cardcheck_get_size(&this_machine, device);
	if (!ret && size_bytes)
		ret = check_size(card, config, size_bytes);
	if (ret)
		return ret;
	card->fd = open(card->device, O_RDWR | O_EXCL | O_CLOEXEC);
	if (card->fd < 0 && errno == EBUSY)
		return fail_format(card->error, sizeof(card->error), -EBUSY,
			"%s is in use: it is mounted, swapped to, or part of another device",
			card->device);
	if (card->fd < 0 && errno == EACCES)
		return fail_format(card->error, sizeof(card->error), -EACCES,
			"cannot open %s for writing: permission denied; be in the group disk, or let "
			"an udev rule give this reader to you",
			card->device);
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

static bool has_wrong_name(int ret)
{
	return ret == -EPERM || ret == -EINVAL || ret == -ENOTBLK || ret == -EBUSY ||
	       ret == -ENODEV || ret == -ENOTUNIQ;
}

/* Behind what is wrong with a device: those that would do. */
static void tell_candidates(struct card *card, const char *folder)
{
	char list[256];
	size_t used = strlen(card->error);

	if (cardcheck_list(&this_machine, folder, list, sizeof(list)) > 0)
		snprintf(card->error + used, sizeof(card->error) - used,
			"; removable disks here: %s", list);
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
	if (!ret)
		ret = check_size(card, config, card->size_bytes);
	if (ret)
		close_device(card);
	if (has_wrong_name(ret))
		tell_candidates(card, ret == -ENOTUNIQ ? "/dev/disk/by-path" : "/dev/disk/by-id");
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
