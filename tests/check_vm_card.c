/* SPDX-License-Identifier: Apache-2.0 */
/* Disks of a virtual machine that must not be written, and a card that is pulled out of its reader.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/case_table.h"
#include "tests/vm_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WRITE	     VM_RIG_SAMEBOARD " sd vpanel write /src/build/images/baremetal.json --lab=lab.json"
#define TRACE	     "strace -f -o /lab/trace -e trace=open,openat,openat2,creat "
#define OTHER	     VM_RIG_DISK("OTHER1")
#define SOON	     ", \"appear_ms\": 1000"

/* A root of its own on the machine's own disk: what that holds is then the system. */
#define MAKE_ROOT                                                                                     \
	"mkfs.ext4 -q /dev/vda && mkdir -p /tmp/root && mount /dev/vda /tmp/root && cd /tmp/root && " \
	"mkdir dev proc sys usr src lab tmp && ln -s usr/bin usr/lib usr/lib64 . && "                 \
	"for d in dev proc sys usr src lab; do mount --bind /$d $d; done"

static const struct {
	const char *name;
	int exit_code;
	const char *before; /* what makes it so */
	const char *card, *more;
	const char *wanted; /* of the message */
	const char *around; /* the command that runs it */
	const char *after;
} rows[] = {
	{"a disk with a mounted partition", 3,
		"echo ,,L | sfdisk -q " OTHER " && udevadm settle && mkfs.ext4 -q " OTHER
		"-part1 && mkdir -p /tmp/m && mount " OTHER "-part1 /tmp/m",
		OTHER, "", "is mounted at /tmp/m; unmount it", "", "umount /tmp/m"},
	{"a partition", 2, "true", OTHER "-part1", "", "is a partition; name the whole card", "",
		"true"},
	{"a disk of the machine", 3, "true", "/dev/vda", "", "is not removable", "", "true"},
	{"the system disk", 3, MAKE_ROOT, "/dev/vda", ", \"allow_fixed_disk\": true",
		"holds the root file system of this machine", "chroot /tmp/root env -C /lab ",
		"umount /tmp/root/* ; umount /tmp/root"},
	{"swap", 3, "mkswap -q " OTHER " && swapon " OTHER, OTHER, "", "is in use", "",
		"swapoff " OTHER},
	{"a disk below another device", 3,
		"echo 0 2048 linear " OTHER " 0 | dmsetup create test --noudevsync", OTHER, "",
		"is in use by another block device", "", "dmsetup remove test --noudevsync"},
	{"a disk that a program holds", 3,
		"perl -e 'use Fcntl; sysopen(D, \"" OTHER
		"\", O_RDWR | O_EXCL) or die; print $$; close STDOUT; sleep' >/tmp/holder & "
		"until [ -s /tmp/holder ]; do sleep 0.1; done",
		OTHER, "", "is in use", "", "kill $(cat /tmp/holder)"},
	{"a card of another size", 3, "true", VM_RIG_CARD, ", \"card_bytes\": 8388608",
		"has 67108864 bytes, the configured card has 8388608", "", "true"},
	{"a card that is not here", 3, "true", VM_RIG_DISK("ELSEWHERE"), SOON, "did not appear", "",
		"true"},
};

/* Whether a file among the disks was opened; a refused open is none. */
static bool has_opened_disk(struct vm_rig *vm)
{
	char *trace = vm_rig_read(vm, "trace"), *rest = trace, *line;
	bool has_opened = false;

	ck_assert_ptr_nonnull(strstr(trace, "/lab/lab.json") ? trace : strstr(trace, "lab.json"));
	while ((line = strsep(&rest, "\n"))) {
		bool is_disk = strstr(line, "\"/dev/disk/") || strstr(line, "\"/dev/sd") ||
			       strstr(line, "\"/dev/vd");

		/* The folder with the names is no disk. */
		has_opened |= is_disk && !strstr(line, "O_DIRECTORY") && !strstr(line, ") = -1 ");
	}
	free(trace);
	return has_opened;
}

static void plug_in(struct vm_rig *vm)
{
	vm_rig_plug_port(vm, "relay", "relay", "RELAY1");
	vm_rig_plug_port(vm, "console", "uart", "CONSOLE1");
	vm_rig_await_ports(vm, "RELAY1 CONSOLE1");
}

static void expect_refusal(struct vm_rig *vm, const char *name, int wanted_exit, const char *wanted,
	const char *right, const char *around)
{
	int exit_code = vm_rig_run(vm, "%s" TRACE WRITE, around);

	ck_assert_msg(exit_code == wanted_exit, "%s: ended with %d: %s", name, exit_code, vm->err);
	ck_assert_msg(strstr(vm->err, wanted) != NULL, "%s: %s", name, vm->err);
	ck_assert_msg(strstr(vm->err, right) != NULL, "%s: names no other: %s", name, vm->err);
	ck_assert_msg(!has_opened_disk(vm), "%s was opened", name);
}

START_TEST(a_disk_that_must_be_refused_is_never_opened)
{
	struct vm_rig vm;

	vm_rig_start(&vm, 64);
	plug_in(&vm);
	vm_rig_add_disk(&vm, "own", 32, NULL);
	vm_rig_add_disk(&vm, "other", 32, "OTHER1");
	vm_rig_expect(&vm, 0,
		"until [ -e /dev/vda ] && [ -e " OTHER " ]; do sleep 0.1; done; udevadm settle");
	/* The right card is in its reader, so that it can be named. */
	vm_rig_write_lab(&vm, VM_RIG_CARD, "");
	vm_rig_expect(&vm, 0, VM_RIG_SAMEBOARD " sd vpanel host --lab=lab.json");
	vm_rig_expect(&vm, 0, "until [ -e " VM_RIG_CARD " ]; do sleep 0.1; done; udevadm settle");
	for (size_t i = 0; i < COUNT(rows); i++) {
		vm_rig_expect(&vm, 0, "%s", rows[i].before);
		vm_rig_write_lab(&vm, rows[i].card, rows[i].more);
		expect_refusal(&vm, rows[i].name, rows[i].exit_code, rows[i].wanted, VM_RIG_CARD,
			rows[i].around);
		vm_rig_expect(&vm, 0, "%s", rows[i].after);
	}
	/* The same name for two of them. */
	vm_rig_add_disk(&vm, "twin", 64, "CARD0001");
	vm_rig_expect(&vm, 0,
		"until [ $(cat /sys/block/sd*/device/../../../../serial | grep -c CARD0001) = 2 ]; "
		"do sleep 0.1; done; udevadm settle");
	vm_rig_write_lab(&vm, VM_RIG_CARD, "");
	expect_refusal(
		&vm, "one of two alike", 3, "may be either of two disks", "/dev/disk/by-path/", "");
	vm_rig_stop(&vm);
}
END_TEST

START_TEST(a_reader_that_is_pulled_while_it_writes_leaves_no_accepted_card)
{
	struct vm_rig vm;

	vm_rig_start(&vm, 64);
	plug_in(&vm);
	vm_rig_write_lab(&vm, VM_RIG_CARD, ", \"appear_ms\": 120000");
	vm_rig_expect(&vm, 0,
		"head -c 64M /dev/urandom >/tmp/card.img && "
		"printf '\\125\\252' | dd of=/tmp/card.img bs=1 seek=510 conv=notrunc");
	vm_rig_begin(&vm, VM_RIG_SAMEBOARD " sd vpanel write /tmp/card.img --lab=lab.json");
	while (vm_rig_count_written(&vm) < 1 << 20)
		ck_assert_msg(!vm_rig_wait(&vm, 5), "it ended with %d", vm.exit_code);
	vm_rig_pull_reader(&vm);
	ck_assert_msg(vm_rig_end(&vm) == 3, "%d: %s", vm.exit_code, vm.err);
	ck_assert_msg(strstr(vm.err, "went away at byte") != NULL, "%s", vm.err);
	/* Put back, it is written from the beginning, and the trace shows what was looked for. */
	vm_rig_expect(&vm, 0, TRACE WRITE);
	ck_assert(has_opened_disk(&vm));
	ck_assert(!vm.has_card);
	vm_rig_stop(&vm);
}
END_TEST

int main(void)
{
	const struct case_row cases[] = {
		{"refused", a_disk_that_must_be_refused_is_never_opened, 900},
		{"reader", a_reader_that_is_pulled_while_it_writes_leaves_no_accepted_card, 900},
	};

	return case_table_run("vm_card", cases, COUNT(cases));
}
