/* SPDX-License-Identifier: Apache-2.0 */
/* A sample of campaign-many: four boards at once through one daemon. */
#include <check.h>
#include <stdlib.h>

#include "tests/many_rig.h"

START_TEST(boards_pulled_at_the_same_time_lose_nothing)
{
	const struct many_config config = {.boards = 4, .windows = 2, .n = 5000, .chunk_size = 32};
	struct many_rig rig;
	struct many_result result;

	many_rig_start(&rig, &config);
	many_rig_submit(&rig);
	many_rig_finish(&rig, &result);
	ck_assert_msg(!result.wrong[0], "%s", result.wrong);
	ck_assert_uint_eq(result.windows, config.boards * config.windows);
	ck_assert_uint_eq(result.passed + result.invalid, config.boards);
	ck_assert_uint_eq(result.refused, 0);
	ck_assert_uint_eq(result.missing, 0);
	for (unsigned i = 0; i < config.boards; i++)
		ck_assert(!atomic_load(&rig.peer.shared->boards[i].is_on));
	lab_rig_check_db(&rig.daemon.lab);
	many_rig_stop(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("many");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("many");
	int failed;

	tcase_add_test(tcase, boards_pulled_at_the_same_time_lose_nothing);
	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
