/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/scratch.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

void scratch_init(struct scratch *scratch)
{
	snprintf(scratch->dir, sizeof(scratch->dir), "/tmp/sameboard-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch->dir));
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	return remove(path);
}

void scratch_fini(struct scratch *scratch)
{
	ck_assert_int_eq(nftw(scratch->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

const char *scratch_path(struct scratch *scratch, const char *name)
{
	snprintf(scratch->path, sizeof(scratch->path), "%s/%s", scratch->dir, name);
	return scratch->path;
}

const char *scratch_write(struct scratch *scratch, const char *name, const void *bytes, size_t size)
{
	FILE *file = fopen(scratch_path(scratch, name), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
	return scratch->path;
}

/* In a chroot / is no mount, so that ours could not be kept from the others. */
static bool is_root_mounted(void)
{
	struct statx root;

	return statx(AT_FDCWD, "/", 0, STATX_BASIC_STATS, &root) == 0 &&
	       (root.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

bool scratch_mount(struct scratch *scratch, const char *name, const char *size)
{
	const char *path = scratch_path(scratch, name);
	char options[32];

	snprintf(options, sizeof(options), "size=%s", size);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	if (is_root_mounted() && unshare(CLONE_NEWNS) == 0 &&
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount("none", path, "tmpfs", 0, options) == 0)
		return true;
	fprintf(stderr, "no file system could be mounted at %s: %s; not tried: a full disk\n", path,
		strerror(errno));
	return false;
}

void scratch_unmount(struct scratch *scratch, const char *name)
{
	umount2(scratch_path(scratch, name), MNT_DETACH);
}
