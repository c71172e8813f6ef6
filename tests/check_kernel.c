/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What guards PREEMPT_RT against its twin: the fragments in the tree, and the
 * script that compares final configurations, on small ones.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/subprocess.h"
#include "tests/scratch.h"

static struct scratch scratch;

static void set_up(void)
{
	scratch_init(&scratch);
}

static void tear_down(void)
{
	scratch_fini(&scratch);
}

static int check(const char *mode, const char *first, const char *second, char *said, size_t size)
{
	char a[256], b[256];
	const char *argv[] = {"ci/images/kernel-check", mode, a, b, NULL};
	int status;

	snprintf(a, sizeof(a), "%s", scratch_write(&scratch, "a", first, strlen(first)));
	snprintf(b, sizeof(b), "%s", scratch_write(&scratch, "b", second, strlen(second)));
	ck_assert_int_eq(subprocess_run(argv, 20000, said, size, &status), 0);
	return status;
}

static const struct {
	const char *rt, *twin, *says;
} twins[] = {
	{"CONFIG_PREEMPT_RT=y\nCONFIG_PREEMPT_RCU=y\nCONFIG_HZ=250\n",
		"# CONFIG_PREEMPT_RT is not set\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_HZ=250\n",
		NULL},
	/* Said or not said, "n" is "n". */
	{"CONFIG_PREEMPT_RT=y\n# CONFIG_SMP is not set\n", "CONFIG_PREEMPT_VOLUNTARY=y\n", NULL},
	{"CONFIG_PREEMPT_RT=y\nCONFIG_HZ=1000\n", "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_HZ=250\n",
		"CONFIG_HZ: 1000 against 250"},
	{"CONFIG_PREEMPT_RT=y\n", "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_DEBUG_LIST=y\n",
		"CONFIG_DEBUG_LIST: n against y"},
	{"CONFIG_PREEMPT_RT=y\n", "CONFIG_PREEMPT_RT=y\n", "is a PREEMPT_RT kernel too"},
	{"CONFIG_PREEMPT=y\n", "CONFIG_PREEMPT_VOLUNTARY=y\n", "not a PREEMPT_RT kernel"},
};

START_TEST(twins_differ_in_the_preemption_model_only)
{
	char said[512];
	int status = check("twins", twins[_i].rt, twins[_i].twin, said, sizeof(said));

	ck_assert_msg(status == (twins[_i].says ? 1 : 0), "%d: %s", status, said);
	if (twins[_i].says)
		ck_assert_msg(strstr(said, twins[_i].says) != NULL, "%s", said);
}
END_TEST

static const struct {
	const char *fragment, *config, *says;
} fragments[] = {
	{"CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=\"x y\"\n",
		"CONFIG_C=\"x y\"\nCONFIG_A=y\nCONFIG_D=y\n", NULL},
	{"CONFIG_A=y\n", "CONFIG_B=y\n", "CONFIG_A: asked for y, is n"},
	{"# CONFIG_A is not set\n", "CONFIG_A=m\n", "CONFIG_A: asked for n, is m"},
	{"CONFIG_HZ=250\n", "CONFIG_HZ=2500\n", "CONFIG_HZ: asked for 250, is 2500"},
};

START_TEST(a_line_that_did_not_hold_is_named)
{
	char said[512];
	int status =
		check("fragment", fragments[_i].fragment, fragments[_i].config, said, sizeof(said));

	ck_assert_msg(status == (fragments[_i].says ? 1 : 0), "%d: %s", status, said);
	if (fragments[_i].says)
		ck_assert_msg(strstr(said, fragments[_i].says) != NULL, "%s", said);
}
END_TEST

static size_t count_lines(const char *path, const char *symbol)
{
	FILE *file = fopen(path, "r");
	char line[256];
	size_t count = 0;

	ck_assert_msg(file != NULL, "%s", path);
	while (fgets(line, sizeof(line), file))
		count += strstr(line, symbol) != NULL && strstr(line, "CONFIG_") != NULL;
	fclose(file);
	return count;
}

START_TEST(the_second_fragments_are_two_lines_and_the_first_leaves_the_model_open)
{
	ck_assert_uint_eq(count_lines("ci/images/kernel-rt.config", ""), 2);
	ck_assert_uint_eq(count_lines("ci/images/kernel-twin.config", ""), 2);
	ck_assert_uint_eq(count_lines("ci/images/kernel-rt.config", "PREEMPT"), 2);
	ck_assert_uint_eq(count_lines("ci/images/kernel-twin.config", "PREEMPT"), 2);
	ck_assert_uint_eq(count_lines("ci/images/kernel.config", "CONFIG_PREEMPT"), 0);
	ck_assert_uint_eq(count_lines("ci/images/kernel.config", "CONFIG_DEBUG_FS=y"), 1);
	ck_assert_uint_eq(count_lines("ci/images/kernel.config", "CONFIG_SCHED_DEBUG=y"), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel");
	TCase *tcase = tcase_create("kernel");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, twins_differ_in_the_preemption_model_only, 0,
		sizeof(twins) / sizeof(twins[0]));
	tcase_add_loop_test(tcase, a_line_that_did_not_hold_is_named, 0,
		sizeof(fragments) / sizeof(fragments[0]));
	tcase_add_test(
		tcase, the_second_fragments_are_two_lines_and_the_first_leaves_the_model_open);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
