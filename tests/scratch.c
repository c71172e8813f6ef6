/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/scratch.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
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
