/* SPDX-License-Identifier: Apache-2.0 */
/* The systemd units in ci/, as systemd itself reads them.  Run in the root of the tree. */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/scratch.h"
#include "tests/vboard_rig.h"

/* With the programs of this build in the place of the installed ones. */
START_TEST(systemd_finds_nothing_wrong_with_the_units)
{
	char programs[PATH_MAX], command[PATH_MAX + 1024], text[8192] = "";
	struct scratch scratch;
	size_t size;
	FILE *out;
	int status;

	if (access("/usr/bin/systemd-analyze", X_OK) != 0)
		return; /* a system without systemd */
	rig_find_program("sameboard", programs, sizeof(programs));
	*strrchr(programs, '/') = '\0';
	scratch_init(&scratch);
	snprintf(command, sizeof(command),
		"set -e; programs=$(cd '%s' && pwd); cd ci; for unit in *.service *.timer; do "
		"sed \"s|/usr/local/bin|$programs|\" $unit >'%s'/$unit; done; cd '%s'; "
		"systemd-analyze verify --man=no *.service *.timer 2>&1",
		programs, scratch.dir, scratch.dir);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, sizeof(text) - 1, out);
	status = pclose(out);
	scratch_fini(&scratch);
	ck_assert_msg(status == 0 && size == 0, "%s", text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("units");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("units");
	int failed;

	tcase_add_test(tcase, systemd_finds_nothing_wrong_with_the_units);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
