/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/testbuild.h"

#include "agents/baremetal/console.h"
#include "agents/baremetal/sbi.h"

#ifdef TEST_BUILD_CHATTER
#define CHATTER_TICKS 700u

void testbuild_tick(uint64_t ticks)
{
	char line[CONSOLE_LINE_MAX];
	struct text text;

	if (ticks % CHATTER_TICKS)
		return;
	text_init(&text, line, sizeof(line));
	text_append(&text, "[ ");
	text_append_u64(&text, ticks);
	text_append(&text, " ms] usb 1-1: reset high-speed USB device number 2");
	console_say(&text);
}
#endif

#ifdef TEST_BUILD_RESET
#define TEST_BUILD_WATCHDOG_MS 3000u
#elif !defined(TEST_BUILD_WATCHDOG_MS)
/* The period that U-Boot gives the D1's watchdog. */
#define TEST_BUILD_WATCHDOG_MS 16000u
#endif

#if defined(TEST_BUILD_WATCHDOG_LEFT_ON) || defined(TEST_BUILD_RESET)
void testbuild_tick(uint64_t ticks)
{
	if (ticks == TEST_BUILD_WATCHDOG_MS)
		sbi_reset_system();
}
#endif
