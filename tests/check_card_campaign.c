/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes to cards that damage what they are given, or lie about it: whenever the
 * writer says that the image is on the card, it is. `make check` runs a fixed
 * sample, `make campaign-card` as many as $SAMEBOARD_CARD_CAMPAIGN says. The
 * number of a trial is the seed of all that happens in it.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zstd.h>

#include "boardctl/card.h"
#include "tests/scratch.h"

#define SAMPLE	  160
#define SIZE_MAX_ (3u * 1024u * 1024u)
#define SECTOR	  512u

enum fault {
	FAULT_NONE,
	FAULT_SHORT_COUNTS, /* as a kernel may: no fault */
	FAULT_FLIP,	    /* a bit of what is written */
	FAULT_LOSE_WRITE,   /* a whole write, though it says that all was taken */
	FAULT_LOSE_SECTOR,
	FAULT_MISDIRECT,  /* a write goes to a neighbour's place */
	FAULT_TORN,	  /* the end of a write is lost */
	FAULT_WRAP,	  /* a card that is smaller than it says: writes begin anew */
	FAULT_STUCK,	  /* a sector that keeps what it had */
	FAULT_LOST_CACHE, /* what was not on the medium is lost when it is synced */
	FAULT_READ_FLIP,
	FAULT_READ_SHORT, /* it ends early when read back */
	FAULT_WRITE_EIO,
	FAULT_LAST_BLOCK, /* an error at the last one */
	FAULT_READ_EIO,
	FAULT_FULL,
	FAULT_GONE, /* pulled out while writing */
	FAULT_SYNC_EIO,
	FAULTS,
};

static const char *const fault_names[FAULTS] = {"none", "short counts", "bit flip", "lost write",
	"lost sector", "misdirected write", "torn write", "wrap-around", "stuck sector",
	"lost cache", "read flip", "short when read", "EIO on write", "EIO at the last block",
	"EIO on read", "full", "pulled out", "EIO on sync"};

static struct {
	int fd; /* of the card; -1: no card is bad */
	enum fault fault;
	uint64_t random;
	uint64_t size;	  /* of the card */
	uint64_t trigger; /* the byte at which it happens */
	uint64_t written; /* bytes so far */
	bool is_done, is_gone;
	unsigned char *before; /* the card when the fault began */
} bad = {.fd = -1};

static uint64_t draw(uint64_t below)
{
	uint64_t z = bad.random += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % below;
}

static ssize_t raw_write(const void *data, size_t size, uint64_t at)
{
	return syscall(SYS_pwrite64, bad.fd, data, size, (off_t)at);
}

/* ---------------------------------------------------- what the card does */

/* Whether the trigger lies in these bytes, once. */
static bool is_hit(uint64_t at, size_t size)
{
	if (bad.is_done || bad.trigger < at || bad.trigger >= at + size)
		return false;
	bad.is_done = true;
	return true;
}

static ssize_t damaged_write(const unsigned char *data, size_t size, uint64_t at)
{
	static unsigned char copy[SIZE_MAX_];
	size_t hit = (size_t)(bad.trigger - at);
	size_t sector = hit / SECTOR * SECTOR;
	size_t rest = size - sector < SECTOR ? size - sector : SECTOR;

	if (bad.fault == FAULT_WRITE_EIO || bad.fault == FAULT_LAST_BLOCK) {
		errno = EIO;
		return -1;
	}
	if (bad.fault == FAULT_FULL || bad.fault == FAULT_GONE) {
		bad.is_gone = bad.fault == FAULT_GONE;
		errno = bad.is_gone ? ENODEV : ENOSPC;
		return -1;
	}
	if (bad.fault == FAULT_FLIP) {
		memcpy(copy, data, size);
		copy[hit] ^= (unsigned char)(1u << draw(8));
		raw_write(copy, size, at);
	} else if (bad.fault == FAULT_MISDIRECT) {
		raw_write(data, size, at + SECTOR * (1 + draw(8)));
	} else if (bad.fault != FAULT_LOSE_WRITE) {
		raw_write(data, sector, at); /* torn, or with a hole */
		if (bad.fault == FAULT_LOSE_SECTOR)
			raw_write(data + sector + rest, size - sector - rest, at + sector + rest);
	}
	return (ssize_t)size;
}

static bool damages_writes(enum fault fault)
{
	return (fault >= FAULT_FLIP && fault <= FAULT_TORN) || fault == FAULT_WRITE_EIO ||
	       fault == FAULT_LAST_BLOCK || fault == FAULT_FULL || fault == FAULT_GONE;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	uint64_t at = (uint64_t)offset;
	ssize_t put;

	if (fd < 0 || fd != bad.fd)
		return syscall(SYS_pwrite64, fd, data, size, offset);
	if (bad.is_gone) {
		errno = ENODEV;
		return -1;
	}
	bad.written += size;
	if (bad.fault == FAULT_SHORT_COUNTS && size > 1)
		return raw_write(data, 1 + draw(size - 1), at);
	if (bad.fault == FAULT_WRAP) {
		for (size_t i = 0; i < size; i += SECTOR)
			raw_write((const char *)data + i, size - i < SECTOR ? size - i : SECTOR,
				(at + i) % bad.trigger);
		return (ssize_t)size;
	}
	if (damages_writes(bad.fault) && is_hit(at, size))
		return damaged_write(data, size, at);
	put = raw_write(data, size, at);
	if (bad.fault == FAULT_STUCK && at <= bad.trigger && at + size > bad.trigger)
		raw_write(bad.before + bad.trigger / SECTOR * SECTOR, SECTOR,
			bad.trigger / SECTOR * SECTOR);
	return put;
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	uint64_t at = (uint64_t)offset;
	ssize_t got;

	if (fd < 0 || fd != bad.fd)
		return syscall(SYS_pread64, fd, data, size, offset);
	if (bad.is_gone) {
		errno = ENODEV;
		return -1;
	}
	if (bad.fault == FAULT_READ_EIO && is_hit(at, size)) {
		errno = EIO;
		return -1;
	}
	if (bad.fault == FAULT_READ_SHORT) {
		if (at >= bad.trigger)
			return 0;
		if (at + size > bad.trigger)
			size = (size_t)(bad.trigger - at);
	}
	if (bad.fault == FAULT_SHORT_COUNTS && size > 1)
		size = 1 + (size_t)draw(size - 1);
	if (bad.fault == FAULT_WRAP)
		at %= bad.trigger, size = size > bad.trigger - at ? bad.trigger - at : size;
	got = syscall(SYS_pread64, fd, data, size, (off_t)at);
	if (bad.fault == FAULT_READ_FLIP && got > 0 && is_hit(at, (size_t)got))
		((unsigned char *)data)[bad.trigger - at] ^= (unsigned char)(1u << draw(8));
	return got;
}

int fsync(int fd)
{
	if (fd < 0 || fd != bad.fd)
		return (int)syscall(SYS_fsync, fd);
	if (bad.is_gone || bad.fault == FAULT_SYNC_EIO) {
		errno = bad.is_gone ? ENODEV : EIO;
		return -1;
	}
	/* Everything behind the trigger was only in its cache, and is as before. */
	if (bad.fault == FAULT_LOST_CACHE)
		raw_write(bad.before + bad.trigger, bad.size - bad.trigger, bad.trigger);
	return 0;
}

/* ------------------------------------------------------------------- trials */

static struct scratch scratch;
static unsigned char content[SIZE_MAX_], before[SIZE_MAX_ + 65536], after[SIZE_MAX_ + 65536];
static unsigned char packed[SIZE_MAX_ + 65536];

static void fill(unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = draw(UINT64_MAX);

		memcpy(bytes + i, &word, size - i < 8 ? size - i : 8);
	}
}

static void check_trial(unsigned number, enum fault fault)
{
	char image[256], device[256];
	struct card_config config = {.device = device, .appear_ms = 50};
	struct card_image wanted = {.path = image};
	size_t size, packed_size;
	struct card *card;
	bool is_same;
	int ret;

	bad.random = number;
	size = SECTOR * (1 + (size_t)draw(SIZE_MAX_ / SECTOR));
	if (number % 4)
		size = size / 16 + SECTOR; /* most are small, so that there can be many */
	fill(content, size);
	fill(before, size + 8192);
	packed_size = number % 2 ? ZSTD_compress(packed, sizeof(packed), content, size, -3) : 0;
	snprintf(image, sizeof(image), "%s",
		scratch_write(&scratch, "image", packed_size ? packed : content,
			packed_size ? packed_size : size));
	snprintf(
		device, sizeof(device), "%s", scratch_write(&scratch, "card", before, size + 8192));
	ck_assert_int_eq(card_open(&card, &config), 0);
	bad.fd = open(device, O_RDWR); /* a number of its own, so that it is known */
	close(bad.fd);
	/* The writer's descriptor is the one below: opened before. */
	bad.fd--;
	bad.fault = fault;
	bad.size = size + 8192;
	bad.trigger = fault == FAULT_LAST_BLOCK ? size - 1
		      : fault == FAULT_WRAP	? SECTOR * (1 + draw(size / SECTOR))
						: draw(size);
	bad.written = 0;
	bad.is_done = bad.is_gone = false;
	bad.before = before;
	ret = card_write_image(card, &wanted, NULL, NULL);
	bad.fd = -1;
	card_close(card);
	bad.fd = open(device, O_RDONLY);
	ck_assert_int_eq(read(bad.fd, after, size), (ssize_t)size);
	close(bad.fd);
	bad.fd = -1;
	is_same = memcmp(after, content, size) == 0;
	ck_assert_msg(ret != 0 || is_same, "trial %u, %s at byte %llu of %zu: a WRONG ACCEPT",
		number, fault_names[fault], (unsigned long long)bad.trigger, size);
	if (fault == FAULT_NONE || fault == FAULT_SHORT_COUNTS)
		ck_assert_msg(ret == 0, "trial %u, %s: %d", number, fault_names[fault], ret);
	else if (fault != FAULT_WRAP || bad.trigger < size)
		ck_assert_msg(ret != 0, "trial %u, %s: accepted", number, fault_names[fault]);
}

static unsigned count_trials(void)
{
	const char *text = getenv("SAMEBOARD_CARD_CAMPAIGN");

	return text ? (unsigned)strtoul(text, NULL, 10) : SAMPLE;
}

START_TEST(no_damaged_card_is_taken_for_a_good_one)
{
	unsigned count = count_trials(), by_fault[FAULTS] = {0};

	scratch_init(&scratch);
	for (unsigned i = 0; i < count; i++) {
		check_trial(i, i % FAULTS);
		by_fault[i % FAULTS]++;
	}
	scratch_fini(&scratch);
	printf("%u writes to cards, %u of them damaged in %u ways: 0 wrong accepts\n", count,
		count - by_fault[FAULT_NONE] - by_fault[FAULT_SHORT_COUNTS], FAULTS - 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card_campaign");
	TCase *tcase = tcase_create("campaign");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, count_trials() > SAMPLE ? 7200 : 120);
	tcase_add_test(tcase, no_damaged_card_is_taken_for_a_good_one);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
