/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/case_table.h"

int case_table_run(const char *name, const struct case_row *rows, size_t count)
{
	Suite *suite = suite_create(name);
	SRunner *runner = srunner_create(suite);
	int failed;

	for (size_t i = 0; i < count; i++) {
		TCase *tcase = tcase_create(rows[i].name);

		tcase_add_test(tcase, rows[i].test);
		tcase_set_timeout(tcase, rows[i].timeout_s);
		suite_add_tcase(suite, tcase);
	}
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
