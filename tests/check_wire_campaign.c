/* SPDX-License-Identifier: Apache-2.0 */
/* A sample of `make campaign-wire`, always the same one. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/wire_campaign.h"

#define SESSIONS 24

START_TEST(bad_lines_give_the_same_data_or_an_error)
{
	struct wire_campaign_result result;

	wire_campaign_run((uint64_t)_i + 1, &result);
	ck_assert_msg(result.end == WIRE_CAMPAIGN_WHOLE || result.end == WIRE_CAMPAIGN_FAILED,
		"seed %d %s: %s", _i + 1, wire_campaign_end_name(result.end), result.what);
	/* Nothing but a reset may end a session of so patient a host. */
	if (result.end == WIRE_CAMPAIGN_FAILED)
		ck_assert_msg(result.error == -ECONNRESET && result.resets > 0, "seed %d: %s",
			_i + 1, result.what);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wire_campaign");
	TCase *tcase = tcase_create("wire_campaign");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, bad_lines_give_the_same_data_or_an_error, 0, SESSIONS);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
