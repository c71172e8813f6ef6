/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bare-metal image's reader of device trees, run on the host against the
 * tree that QEMU really hands over, whole and damaged.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The reader belongs to the target's image and is in no host library. */
#include "agents/baremetal/fdt.c"

static uint8_t *blob;
static size_t blob_size;

static void dump_tree(const char *path)
{
	char machine[128];
	pid_t pid;
	int status;

	snprintf(machine, sizeof(machine), "virt,dumpdtb=%s", path);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(126);
		execlp("qemu-system-riscv64", "qemu-system-riscv64", "-M", machine, "-m", "512M",
			"-display", "none", (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "qemu-system-riscv64 failed");
}

static void setup(void)
{
	char directory[] = "/tmp/sameboard-fdt-XXXXXX";
	char path[64];
	FILE *file;
	size_t total;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/tree.dtb", directory);
	dump_tree(path);
	file = fopen(path, "rb");
	ck_assert_ptr_nonnull(file);
	blob = malloc(2u << 20);
	ck_assert_ptr_nonnull(blob);
	total = fread(blob, 1, 2u << 20, file);
	fclose(file);
	unlink(path);
	rmdir(directory);
	ck_assert_uint_gt(total, FDT_HEADER_SIZE);
	/* QEMU pads the tree to a mebibyte; only what its two blocks take is wanted. */
	blob_size = get_be32(blob + 8) + get_be32(blob + 36);
	if (get_be32(blob + 12) + get_be32(blob + 32) > blob_size)
		blob_size = get_be32(blob + 12) + get_be32(blob + 32);
	ck_assert_uint_le(blob_size, total);
	blob[4] = (uint8_t)(blob_size >> 24);
	blob[5] = (uint8_t)(blob_size >> 16);
	blob[6] = (uint8_t)(blob_size >> 8);
	blob[7] = (uint8_t)blob_size;
}

static void teardown(void)
{
	free(blob);
}

/* Everything the image asks for, on a copy that ends where the tree does. */
static int ask_everything(const uint8_t *tree, size_t size)
{
	uint8_t *copy = malloc(size);
	struct fdt fdt;
	uint64_t base;
	uint64_t bytes;
	int opened;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, tree, size);
	opened = fdt_init(&fdt, copy, size);
	if (opened == 0) {
		fdt_has_string(&fdt, "/", "compatible", "riscv-virtio");
		fdt_get_number(&fdt, "/cpus", "timebase-frequency", 0);
		fdt_get_number(&fdt, "/soc/serial", "clock-frequency", 0);
		fdt_get_memory(&fdt, &base, &bytes);
		fdt_get_number(&fdt, "/no/such/node", "reg", 0);
	}
	free(copy);
	return opened;
}

START_TEST(qemus_tree_tells_board_rate_clock_and_memory)
{
	struct fdt fdt;
	uint64_t base;
	uint64_t size;

	ck_assert_int_eq(fdt_init(&fdt, blob, blob_size), 0);
	ck_assert_int_eq(fdt_has_string(&fdt, "/", "compatible", "riscv-virtio"), 1);
	ck_assert_int_eq(fdt_has_string(&fdt, "/", "compatible", "riscv-virti"), 0);
	ck_assert_int_eq(fdt_has_string(&fdt, "/", "compatible", "riscv-virtio2"), 0);
	ck_assert_uint_eq(fdt_get_number(&fdt, "/cpus", "timebase-frequency", 0), 10000000);
	ck_assert_uint_eq(fdt_get_number(&fdt, "/soc/serial", "clock-frequency", 0), 3686400);
	ck_assert_uint_eq(
		fdt_get_number(&fdt, "/soc/serial@10000000", "clock-frequency", 0), 3686400);
	fdt_get_memory(&fdt, &base, &size);
	ck_assert_uint_eq(base, 0x80000000u);
	ck_assert_uint_eq(size, 512u << 20);
}
END_TEST

START_TEST(what_is_not_there_is_not_found)
{
	struct fdt fdt;
	size_t size = 1;

	ck_assert_int_eq(fdt_init(&fdt, blob, blob_size), 0);
	/* A node's name is matched whole, and at its own depth. */
	ck_assert_uint_eq(fdt_get_number(&fdt, "/cpu", "timebase-frequency", 7), 7);
	ck_assert_uint_eq(fdt_get_number(&fdt, "/", "timebase-frequency", 7), 7);
	ck_assert_uint_eq(fdt_get_number(&fdt, "/serial", "clock-frequency", 7), 7);
	ck_assert_uint_eq(fdt_get_number(&fdt, "/soc/serial@1000000", "clock-frequency", 7), 7);
	ck_assert_ptr_null(fdt_get_property(&fdt, "/cpus", "timebase", &size));
	ck_assert_uint_eq(size, 0);
}
END_TEST

START_TEST(no_cut_of_the_tree_is_read_beyond_its_end)
{
	ck_assert_int_eq(ask_everything(blob, blob_size), 0);
	for (size_t size = 1; size < blob_size; size++)
		ck_assert_int_eq(ask_everything(blob, size), -1);
	/* The same with a header that believes the cut. */
	for (size_t size = FDT_HEADER_SIZE; size < blob_size; size += 3) {
		struct fdt fdt = {0};
		uint8_t *copy = malloc(size);
		uint64_t base;
		uint64_t bytes;

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, blob, size);
		fdt.structure = copy;
		fdt.strings = copy;
		fdt.structure_size = size;
		fdt.strings_size = size;
		if (size > 56) {
			fdt.structure = copy + 56;
			fdt.structure_size = size - 56;
		}
		fdt_get_memory(&fdt, &base, &bytes);
		free(copy);
	}
}
END_TEST

START_TEST(no_flipped_bit_makes_it_read_outside)
{
	for (size_t bit = 0; bit < blob_size * 8; bit += 3) {
		blob[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ask_everything(blob, blob_size);
		blob[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fdt");
	TCase *tcase = tcase_create("fdt");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, qemus_tree_tells_board_rate_clock_and_memory);
	tcase_add_test(tcase, what_is_not_there_is_not_found);
	tcase_add_test(tcase, no_cut_of_the_tree_is_read_beyond_its_end);
	tcase_add_test(tcase, no_flipped_bit_makes_it_read_outside);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
