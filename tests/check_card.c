/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "boardctl/card.h"
#include "boardctl/cardcheck.h"
#include "boardctl/monotonic.h"
#include "tests/scratch.h"

#define MIB	   (1024 * 1024)
#define IMAGE_SIZE (3 * MIB + 512)
#define CARD_SIZE  (4 * MIB)

static struct scratch scratch;
static char image_path[256], card_path[256], image_hash[SHA256_HEX_SIZE];
static char *image_bytes;

static void set_up(void)
{
	uint32_t seed = 1;

	scratch_init(&scratch);
	image_bytes = malloc(IMAGE_SIZE);
	for (size_t i = 0; i < IMAGE_SIZE; i++) {
		seed = seed * 1664525u + 1013904223u;
		image_bytes[i] = (char)(seed >> 24);
	}
	strcpy(image_path, scratch_write(&scratch, "image", image_bytes, IMAGE_SIZE));
	ck_assert_int_eq(sha256_buffer(image_bytes, IMAGE_SIZE, image_hash), 0);
	strcpy(card_path, scratch_write(&scratch, "card", "old", 3));
	ck_assert_int_eq(truncate(card_path, CARD_SIZE), 0);
}

static void tear_down(void)
{
	free(image_bytes);
	scratch_fini(&scratch);
}

static struct card *open_card(void)
{
	const struct card_config config = {.device = card_path, .appear_ms = 50};
	struct card *card;

	ck_assert_msg(!card_open(&card, &config), "%s", card_error(card));
	return card;
}

static void check_card_untouched(void)
{
	char start[4] = "";
	struct stat now;
	int fd = open(card_path, O_RDONLY);

	ck_assert_int_eq(read(fd, start, 3), 3);
	ck_assert_str_eq(start, "old");
	ck_assert_int_eq(fstat(fd, &now), 0);
	ck_assert_int_eq(now.st_size, CARD_SIZE);
	close(fd);
}

/* What a test does to the card or the image at a moment of the write. */
struct tamper {
	enum card_phase phase;
	const char *path;
	off_t truncate_to; /* -1 = flip a byte instead */
	bool is_done;
	unsigned calls[3];
	uint64_t last[3];
	bool is_ordered;
};

static void see(void *ctx, enum card_phase phase, uint64_t done, uint64_t total)
{
	struct tamper *tamper = ctx;

	tamper->is_ordered = tamper->is_ordered && done >= tamper->last[phase] && done <= total &&
			     total == IMAGE_SIZE;
	tamper->last[phase] = done;
	tamper->calls[phase]++;
	if (!tamper->path || tamper->is_done || phase != tamper->phase)
		return;
	tamper->is_done = true;
	if (tamper->truncate_to >= 0) {
		ck_assert_int_eq(truncate(tamper->path, tamper->truncate_to), 0);
	} else {
		int fd = open(tamper->path, O_RDWR);
		unsigned char byte;

		ck_assert_int_eq(pread(fd, &byte, 1, 2 * MIB + 7), 1);
		byte ^= 0x10;
		ck_assert_int_eq(pwrite(fd, &byte, 1, 2 * MIB + 7), 1);
		close(fd);
	}
}

static int write_tampered(struct card *card, struct tamper *tamper)
{
	const struct card_image image = {.path = image_path, .sha256 = image_hash};
	const struct card_progress progress = {.see = see, .ctx = tamper};
	char written[SHA256_HEX_SIZE];
	int ret;

	tamper->is_ordered = true;
	ret = card_write_image(card, &image, &progress, written);
	ck_assert_str_eq(written, ret ? "" : image_hash);
	return ret;
}

START_TEST(an_image_is_written_whole_and_nothing_behind_it_is_touched)
{
	char *after = malloc(CARD_SIZE);
	struct tamper none = {.path = NULL};
	struct card *card;
	int fd = open(card_path, O_RDWR);

	ck_assert_int_eq(pwrite(fd, "behind", 6, IMAGE_SIZE), 6);
	card = open_card();
	ck_assert_uint_eq(card_size(card), CARD_SIZE);
	ck_assert_msg(!write_tampered(card, &none), "%s", card_error(card));
	card_close(card);
	ck_assert(none.is_ordered);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_ge(none.calls[i], 4);
		ck_assert_uint_eq(none.last[i], IMAGE_SIZE);
	}
	ck_assert_int_eq(pread(fd, after, CARD_SIZE, 0), CARD_SIZE);
	ck_assert_mem_eq(after, image_bytes, IMAGE_SIZE);
	ck_assert_mem_eq(after + IMAGE_SIZE, "behind", 6);
	close(fd);
	free(after);
}
END_TEST

START_TEST(what_a_card_holds_is_read_without_writing)
{
	const struct card_image image = {.path = image_path, .sha256 = image_hash};
	char hash[SHA256_HEX_SIZE];
	struct card *card = open_card();
	int fd = open(card_path, O_RDWR);

	ck_assert_int_eq(card_read_hash(card, IMAGE_SIZE, NULL, hash), 0);
	ck_assert_str_ne(hash, image_hash);
	check_card_untouched();
	ck_assert_int_eq(card_write_image(card, &image, NULL, NULL), 0);
	ck_assert_int_eq(card_read_hash(card, IMAGE_SIZE, NULL, hash), 0);
	ck_assert_str_eq(hash, image_hash);
	ck_assert_int_eq(pwrite(fd, "x", 1, IMAGE_SIZE - 1), 1);
	ck_assert_int_eq(card_read_hash(card, IMAGE_SIZE, NULL, hash), 0);
	ck_assert_str_ne(hash, image_hash);
	ck_assert_int_eq(card_read_hash(card, CARD_SIZE + 1, NULL, hash), -EFBIG);
	ck_assert_str_eq(hash, "");
	close(fd);
	card_close(card);
}
END_TEST

START_TEST(a_wrong_hash_ends_it_before_the_first_byte)
{
	struct card_image image = {.path = image_path, .sha256 = image_hash};
	struct card *card = open_card();

	image_hash[5] = image_hash[5] == 'a' ? 'b' : 'a';
	ck_assert_int_eq(card_write_image(card, &image, NULL, NULL), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(card_error(card), image_hash));
	ck_assert_ptr_nonnull(strstr(card_error(card), "nothing was written"));
	check_card_untouched();
	image.sha256 = "12ab";
	ck_assert_int_eq(card_write_image(card, &image, NULL, NULL), -EINVAL);
	card_close(card);
}
END_TEST

START_TEST(upper_case_and_no_hash_are_fine)
{
	struct card_image image = {.path = image_path, .sha256 = image_hash};
	struct card *card = open_card();

	for (char *c = image_hash; *c; c++)
		if (*c >= 'a')
			*c = (char)(*c - 'a' + 'A');
	ck_assert_int_eq(card_write_image(card, &image, NULL, NULL), 0);
	image.sha256 = NULL;
	ck_assert_int_eq(card_write_image(card, &image, NULL, NULL), 0);
	card_close(card);
}
END_TEST

START_TEST(a_card_too_small_is_told_with_both_sizes)
{
	const struct card_image image = {.path = image_path, .sha256 = image_hash};
	struct card *card;

	ck_assert_int_eq(truncate(card_path, 2 * MIB), 0);
	card = open_card();
	ck_assert_int_eq(card_write_image(card, &image, NULL, NULL), -EFBIG);
	ck_assert_ptr_nonnull(strstr(card_error(card), "card too small"));
	ck_assert_ptr_nonnull(strstr(card_error(card), "needs 3146240 bytes"));
	ck_assert_ptr_nonnull(strstr(card_error(card), "has 2097152"));
	card_close(card);
	ck_assert_int_eq(truncate(card_path, CARD_SIZE), 0);
	check_card_untouched();
}
END_TEST

START_TEST(a_device_that_is_full_early_is_told_with_the_place)
{
	const struct rlimit limit = {.rlim_cur = 2 * MIB + 100, .rlim_max = RLIM_INFINITY};
	struct tamper none = {.path = NULL};
	struct card *card = open_card();

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(write_tampered(card, &none), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(card_error(card), "is full after 2097252 of 3146240 bytes"));
	card_close(card);
}
END_TEST

START_TEST(a_byte_that_reads_back_differently_is_told)
{
	struct tamper flip = {.phase = CARD_PHASE_VERIFY, .path = card_path, .truncate_to = -1};
	struct card *card = open_card();

	ck_assert_int_eq(write_tampered(card, &flip), -EILSEQ);
	ck_assert(flip.is_done);
	ck_assert_ptr_nonnull(strstr(card_error(card), image_hash));
	card_close(card);
}
END_TEST

START_TEST(a_device_that_ends_early_when_read_back_is_told)
{
	struct tamper cut = {.phase = CARD_PHASE_VERIFY, .path = card_path, .truncate_to = MIB};
	struct card *card = open_card();

	ck_assert_int_eq(write_tampered(card, &cut), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(card_error(card), "ends at byte 1048576"));
	card_close(card);
}
END_TEST

START_TEST(an_image_that_changes_or_shrinks_meanwhile_is_told)
{
	struct tamper flip = {.phase = CARD_PHASE_WRITE, .path = image_path, .truncate_to = -1};
	struct tamper cut = {.phase = CARD_PHASE_WRITE, .path = image_path, .truncate_to = MIB};
	struct card *card = open_card();

	ck_assert_int_eq(write_tampered(card, &flip), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(card_error(card), "changed while"));
	flip.is_done = false;
	ck_assert_int_eq(write_tampered(card, &flip), -EBADMSG);
	strcpy(image_path, scratch_write(&scratch, "image", image_bytes, IMAGE_SIZE));
	ck_assert_int_eq(write_tampered(card, &cut), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(card_error(card), "shrank"));
	card_close(card);
}
END_TEST

START_TEST(a_missing_or_empty_image_is_told)
{
	struct card_image image = {.path = "/no/such/image"};
	struct card *card = open_card();

	ck_assert_int_eq(card_write_image(card, &image, NULL, NULL), -ENOENT);
	ck_assert_ptr_nonnull(strstr(card_error(card), "/no/such/image"));
	image.path = scratch_write(&scratch, "empty", "", 0);
	ck_assert_int_eq(card_write_image(card, &image, NULL, NULL), -EINVAL);
	image.path = "/tmp";
	ck_assert_int_eq(card_write_image(card, &image, NULL, NULL), -EINVAL);
	check_card_untouched();
	card_close(card);
}
END_TEST

static void *bring_card(void *link)
{
	ck_assert_int_eq(symlink(card_path, link), 0);
	return NULL;
}

START_TEST(a_card_that_appears_later_is_waited_for)
{
	char late[256];
	struct card_config config = {.device = late, .appear_ms = 30};
	uint64_t start_ms = monotonic_get_ms();
	struct card *card;
	pthread_t thread;

	strcpy(late, scratch_path(&scratch, "late"));
	ck_assert_int_eq(card_open(&card, &config), -ENODEV);
	ck_assert_uint_ge(monotonic_get_ms() - start_ms, 29);
	ck_assert_ptr_nonnull(strstr(card_error(card), "did not appear"));
	ck_assert_ptr_nonnull(strstr(card_error(card), "late"));
	ck_assert_int_eq(
		card_write_image(card, &(struct card_image){.path = image_path}, NULL, NULL),
		-ENODEV);
	card_close(card);
	config.appear_ms = 10000;
	ck_assert_int_eq(pthread_create(&thread, NULL, bring_card, late), 0);
	ck_assert_msg(!card_open(&card, &config), "%s", card_error(card));
	pthread_join(thread, NULL);
	ck_assert_uint_eq(card_size(card), CARD_SIZE);
	card_close(card);
}
END_TEST

START_TEST(what_is_no_card_is_refused)
{
	struct card_config config = {.device = "/dev/null", .appear_ms = 10};
	struct card *card;

	ck_assert_int_eq(card_open(&card, &config), -ENOTBLK);
	card_close(card);
	config.device = scratch.dir;
	ck_assert_int_eq(card_open(&card, &config), -ENOTBLK);
	card_close(card);
	config.device = NULL;
	ck_assert_int_eq(card_open(&card, &config), -EINVAL);
	card_close(card);
	config = (struct card_config){.device = card_path, .size_bytes = CARD_SIZE + 512};
	ck_assert_int_eq(card_open(&card, &config), -EPERM);
	ck_assert_ptr_nonnull(strstr(card_error(card), "another card"));
	card_close(card);
	card_close(NULL);
}
END_TEST

/* ---------------------------------------------------------------- in use? */

/* A machine of files: disk 8:0 with partitions 8:1 and 8:2, disk 8:16 bare,
 * reader 8:32 removable. */
static struct cardcheck machine;
static char sysfs[128], mountinfo[128];

static void write_entry(const char *name, const char *text)
{
	scratch_write(&scratch, name, text, strlen(text));
}

static void make_dir(const char *name)
{
	ck_assert_int_eq(mkdir(scratch_path(&scratch, name), 0755), 0);
}

static void set_up_machine(void)
{
	set_up();
	make_dir("sys");
	make_dir("sys/dev");
	make_dir("sys/dev/block");
	make_dir("sys/dev/block/8:0");
	make_dir("sys/dev/block/8:0/holders");
	make_dir("sys/dev/block/8:0/sda1");
	make_dir("sys/dev/block/8:0/sda1/holders");
	make_dir("sys/dev/block/8:0/sda2");
	make_dir("sys/dev/block/8:1");
	make_dir("sys/dev/block/8:16");
	make_dir("sys/dev/block/8:32");
	write_entry("sys/dev/block/8:0/removable", "1\n");
	write_entry("sys/dev/block/8:0/sda1/partition", "1\n");
	write_entry("sys/dev/block/8:0/sda1/dev", "8:1\n");
	write_entry("sys/dev/block/8:0/sda2/partition", "2\n");
	write_entry("sys/dev/block/8:0/sda2/dev", "8:2\n");
	write_entry("sys/dev/block/8:1/partition", "1\n");
	write_entry("sys/dev/block/8:16/removable", "0\n");
	write_entry("sys/dev/block/8:32/removable", "1\n");
	write_entry("mountinfo", "22 1 254:1 / / rw - ext4 /dev/vda1 rw\n");
	strcpy(sysfs, scratch_path(&scratch, "sys"));
	strcpy(mountinfo, scratch_path(&scratch, "mountinfo"));
	machine = (struct cardcheck){.sysfs = sysfs, .mountinfo = mountinfo};
}

static int check_disk(unsigned minor_number, bool fixed_disk_allowed, char error[512])
{
	error[0] = '\0';
	return cardcheck_run(
		&machine, makedev(8, minor_number), "/dev/x", fixed_disk_allowed, error, 512);
}

START_TEST(a_removable_disk_that_nobody_uses_is_fine)
{
	char error[512];

	ck_assert_int_eq(check_disk(32, false, error), 0);
	ck_assert_int_eq(check_disk(0, false, error), 0);
}
END_TEST

START_TEST(a_fixed_disk_needs_permission)
{
	char error[512];

	ck_assert_int_eq(check_disk(16, false, error), -EPERM);
	ck_assert_ptr_nonnull(strstr(error, "not removable"));
	ck_assert_int_eq(check_disk(16, true, error), 0);
	ck_assert_int_eq(check_disk(48, false, error), -ENOENT);
}
END_TEST

START_TEST(a_mounted_partition_makes_the_disk_busy)
{
	char error[512];

	write_entry("mountinfo",
		"22 1 254:1 / / rw - ext4 /dev/vda1 rw\n"
		"40 22 8:2 / /media/my\\040card rw shared:7 - vfat /dev/sda2 rw\n");
	ck_assert_int_eq(check_disk(0, true, error), -EBUSY);
	ck_assert_ptr_nonnull(strstr(error, "mounted at /media/my"));
	ck_assert_int_eq(check_disk(32, true, error), 0);
	write_entry("mountinfo", "40 22 8:32 / /mnt rw - vfat /dev/sdc rw\n");
	ck_assert_int_eq(check_disk(32, true, error), -EBUSY);
}
END_TEST

START_TEST(the_disk_of_the_machine_itself_is_refused)
{
	char error[512];

	write_entry("mountinfo", "21 1 8:2 / /boot rw - vfat /dev/sda2 rw\n"
				 "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
	ck_assert_int_eq(check_disk(0, true, error), -EPERM);
	ck_assert_ptr_nonnull(strstr(error, "root file system"));
}
END_TEST

START_TEST(a_disk_below_another_device_is_busy)
{
	char error[512];

	make_dir("sys/dev/block/8:0/sda1/holders/dm-0");
	ck_assert_int_eq(check_disk(0, true, error), -EBUSY);
	ck_assert_ptr_nonnull(strstr(error, "another block device"));
}
END_TEST

START_TEST(a_partition_is_no_card)
{
	char error[512];

	ck_assert_int_eq(check_disk(1, true, error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "whole card"));
}
END_TEST

START_TEST(doubt_is_refused)
{
	char error[512];

	ck_assert_int_eq(unlink(mountinfo), 0);
	ck_assert_int_eq(check_disk(32, true, error), -ENOENT);
	ck_assert_ptr_nonnull(strstr(error, "cannot tell"));
}
END_TEST

/* ---------------------------------------------------------------- hashes */

START_TEST(hashes_are_those_of_the_standard)
{
	char hex[SHA256_HEX_SIZE];
	uint64_t size = 0;
	struct sha256 *hash = sha256_new();

	ck_assert_int_eq(sha256_buffer("abc", 3, hex), 0);
	ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_update(hash, "a", 1);
	sha256_update(hash, "bc", 2);
	sha256_finish(hash, hex);
	ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_finish(hash, hex);
	ck_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_free(hash);
	ck_assert_int_eq(sha256_file(image_path, hex, &size), 0);
	ck_assert_str_eq(hex, image_hash);
	ck_assert_uint_eq(size, IMAGE_SIZE);
	ck_assert_int_eq(sha256_file("/no/such/file", hex, NULL), -ENOENT);
	ck_assert_int_eq(sha256_file("/tmp", hex, NULL), -EISDIR);
}
END_TEST

/* ------------------------------------------------------------------ alike? */

static void make_path(const char *name)
{
	char path[256];

	for (size_t i = 0; name[i]; i++)
		if (name[i] == '/' && i) {
			snprintf(path, sizeof(path), "%.*s", (int)i, name);
			mkdir(scratch_path(&scratch, path), 0755);
		}
}

/* A unit of a USB reader as sysfs has it. */
static void add_reader(const char *port, const char *serial, unsigned lun, unsigned minor_number)
{
	char path[256], text[256], target[192];

	snprintf(path, sizeof(path), "sys/usb1/%s/x", port);
	make_path(path);
	snprintf(path, sizeof(path), "sys/usb1/%s/idVendor", port);
	write_entry(path, "0bda\n");
	snprintf(path, sizeof(path), "sys/usb1/%s/idProduct", port);
	write_entry(path, "0316\n");
	snprintf(path, sizeof(path), "sys/usb1/%s/serial", port);
	snprintf(text, sizeof(text), "%s\n", serial);
	if (serial[0])
		write_entry(path, text);
	snprintf(target, sizeof(target), "usb1/%s/%s:1.0/host2/target2:0:0/2:0:0:%u/block/sd%u",
		port, port, lun, minor_number);
	snprintf(path, sizeof(path), "sys/%s/dev", target);
	make_path(path);
	snprintf(text, sizeof(text), "8:%u\n", minor_number);
	write_entry(path, text);
	snprintf(path, sizeof(path), "sys/%s/removable", target);
	write_entry(path, "1\n");
	snprintf(text, sizeof(text), "../../%s", target);
	snprintf(path, sizeof(path), "sys/dev/block/8:%u", minor_number);
	ck_assert_int_eq(symlink(text, scratch_path(&scratch, path)), 0);
	snprintf(text, sizeof(text), "../%s", target);
	snprintf(path, sizeof(path), "sys/block/sd%u", minor_number);
	ck_assert_int_eq(symlink(text, scratch_path(&scratch, path)), 0);
}

static int check_twin(unsigned minor_number, char error[512])
{
	error[0] = '\0';
	return cardcheck_run_twin(&machine, makedev(8, minor_number), "/dev/x", error, 512);
}

START_TEST(two_readers_of_one_identity_are_refused)
{
	char error[512];

	make_dir("sys/block");
	add_reader("1-2", "000000000001", 0, 64);
	ck_assert_int_eq(check_twin(64, error), 0);
	/* Another unit of the same reader, another number, none, no USB at all. */
	add_reader("1-2", "000000000001", 1, 80);
	add_reader("1-3", "000000000002", 0, 96);
	add_reader("1-4", "", 0, 112);
	ck_assert_int_eq(check_twin(64, error), 0);
	ck_assert_int_eq(check_twin(112, error), 0);
	ck_assert_int_eq(check_twin(32, error), 0);
	add_reader("2-1.4", "000000000001", 0, 128);
	ck_assert_int_eq(check_twin(64, error), -ENOTUNIQ);
	ck_assert_ptr_nonnull(strstr(error, "sd128"));
	ck_assert_ptr_nonnull(strstr(error, "0bda:0316, serial number 000000000001, unit 0"));
	ck_assert_ptr_nonnull(strstr(error, "/dev/disk/by-path"));
	ck_assert_int_eq(check_twin(128, error), -ENOTUNIQ);
	ck_assert_int_eq(check_twin(80, error), 0);
	add_reader("2-2", "", 0, 144);
	ck_assert_int_eq(check_twin(112, error), -ENOTUNIQ);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card");
	TCase *write = tcase_create("write"), *use = tcase_create("use");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(write, set_up, tear_down);
	tcase_set_timeout(write, 20);
	tcase_add_test(write, an_image_is_written_whole_and_nothing_behind_it_is_touched);
	tcase_add_test(write, what_a_card_holds_is_read_without_writing);
	tcase_add_test(write, a_wrong_hash_ends_it_before_the_first_byte);
	tcase_add_test(write, upper_case_and_no_hash_are_fine);
	tcase_add_test(write, a_card_too_small_is_told_with_both_sizes);
	tcase_add_test(write, a_device_that_is_full_early_is_told_with_the_place);
	tcase_add_test(write, a_byte_that_reads_back_differently_is_told);
	tcase_add_test(write, a_device_that_ends_early_when_read_back_is_told);
	tcase_add_test(write, an_image_that_changes_or_shrinks_meanwhile_is_told);
	tcase_add_test(write, a_missing_or_empty_image_is_told);
	tcase_add_test(write, a_card_that_appears_later_is_waited_for);
	tcase_add_test(write, what_is_no_card_is_refused);
	tcase_add_test(write, hashes_are_those_of_the_standard);
	suite_add_tcase(suite, write);
	tcase_add_checked_fixture(use, set_up_machine, tear_down);
	tcase_add_test(use, a_removable_disk_that_nobody_uses_is_fine);
	tcase_add_test(use, a_fixed_disk_needs_permission);
	tcase_add_test(use, a_mounted_partition_makes_the_disk_busy);
	tcase_add_test(use, the_disk_of_the_machine_itself_is_refused);
	tcase_add_test(use, a_disk_below_another_device_is_busy);
	tcase_add_test(use, a_partition_is_no_card);
	tcase_add_test(use, doubt_is_refused);
	tcase_add_test(use, two_readers_of_one_identity_are_refused);
	suite_add_tcase(suite, use);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
