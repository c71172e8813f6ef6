/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bootrules.h"
#include "tests/fuzz/fuzz.h"

const struct watcher_rules *fuzz_rules(void)
{
	static struct bootrules *rules;

	if (!rules)
		FUZZ_EXPECT(bootrules_open(&rules, NULL) == 0);
	return bootrules_get(rules);
}
