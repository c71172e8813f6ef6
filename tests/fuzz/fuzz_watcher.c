/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte is a configuration.  Then the console's bytes; a byte FF stands
 * for a silence, whose length is the next one, or for itself.
 */
#include <string.h>

#include "boardctl/watcher.h"
#include "tests/fuzz/fuzz.h"

static const struct watcher_config configs[] = {
	{.prompt = NULL},
	{.prompt = "D1> ", .loader_banner = "MyBoot", .first_banner = "sameboard bare metal"},
	{.prompt = "", .loader_banner = "", .first_banner = "NuttShell", .shell_prompt = "nsh> "},
	{.first_banner = "Linux version",
		.shell_prompt = "# ",
		.limit_ms = {100, 100, 100, 100, 100}},
};

static void check(const struct watcher *w, const struct watcher_verdict *before)
{
	const struct watcher_verdict *now = watcher_verdict(w);

	FUZZ_EXPECT(watcher_state(w) < WATCHER_STATES && watcher_state_name(watcher_state(w)));
	FUZZ_EXPECT(now->cause < WATCHER_CAUSES && watcher_cause_name(now->cause));
	FUZZ_EXPECT(w->line_size < WATCHER_LINE_SIZE);
	FUZZ_EXPECT(memchr(now->text, '\0', sizeof(now->text)) != NULL);
	FUZZ_EXPECT(memchr(w->last, '\0', sizeof(w->last)) != NULL);
	FUZZ_EXPECT(w->unreadable <= w->bytes);
	fuzz_expect_line(now->text);
	/* What went wrong stays wrong, but for a failure that the boot then got beyond. */
	FUZZ_EXPECT(now->cause != WATCHER_CAUSE_NONE || before->cause == WATCHER_CAUSE_NONE ||
		    ((before->cause == WATCHER_CAUSE_LOADER_FAILED ||
			     before->cause == WATCHER_CAUSE_SPL_FAILED) &&
			    w->warning_count > 0));
}

static void check_lists(const struct watcher *w)
{
	const struct watcher_warning *warnings;
	const struct watcher_step *steps;
	size_t count = watcher_get_steps(w, &steps);

	FUZZ_EXPECT(count <= WATCHER_STEPS_MAX);
	for (size_t i = 0; i < count; i++)
		FUZZ_EXPECT(steps[i].state < WATCHER_STATES && steps[i].line <= w->line_number + 1);
	count = watcher_get_warnings(w, &warnings);
	FUZZ_EXPECT(count <= WATCHER_WARNINGS_MAX);
	for (size_t i = 0; i < count; i++) {
		FUZZ_EXPECT(warnings[i].word && warnings[i].word[0]);
		fuzz_expect_line(warnings[i].text);
	}
}

static void feed(struct watcher *w, uint64_t now_ms, const uint8_t *bytes, size_t size,
	bool in_pieces, uint32_t *state)
{
	while (size > 0) {
		size_t piece = in_pieces ? fuzz_piece(state, size) : size;

		watcher_feed(w, now_ms, bytes, piece);
		bytes += piece;
		size -= piece;
	}
}

static void watch(const uint8_t *bytes, size_t size, bool in_pieces, struct watcher *w)
{
	struct watcher_verdict before = {0};
	uint32_t state = 5;
	uint64_t now_ms = 0;

	struct watcher_config config = configs[bytes[0] % 4];

	config.rules = fuzz_rules();
	config.medium = bytes[0] & 4 ? "sd" : NULL;
	FUZZ_EXPECT(watcher_init(w, &config) == 0);
	watcher_restart(w, 0);
	for (size_t at = 1; at < size;) {
		const uint8_t *silence = memchr(bytes + at, 0xff, size - at);
		size_t end = silence ? (size_t)(silence - bytes) : size;

		feed(w, now_ms, bytes + at, end - at, in_pieces, &state);
		check(w, &before);
		before = *watcher_verdict(w);
		if (end + 1 < size && bytes[end + 1] != 0xff) {
			now_ms += (uint64_t)bytes[end + 1] * 500;
			watcher_tick(w, now_ms);
			check(w, &before);
			before = *watcher_verdict(w);
		} else if (end < size) {
			watcher_feed(w, now_ms, "\xff", 1);
		}
		at = end + 2;
	}
	watcher_tick(w, now_ms + 1000000);
	check(w, &before);
}

int fuzz_watcher(const uint8_t *bytes, size_t size)
{
	static struct watcher whole, pieces;

	if (size < 1)
		return 0;
	watch(bytes, size, false, &whole);
	watch(bytes, size, true, &pieces);
	FUZZ_EXPECT(memcmp(&whole, &pieces, sizeof(whole)) == 0);
	check_lists(&whole);
	watcher_finish(&whole);
	check_lists(&whole);
	fuzz_expect_line(watcher_conclude(&whole)->text);
	FUZZ_EXPECT(watcher_conclude(&whole)->cause != WATCHER_CAUSE_NONE);
	watcher_clear_verdict(&whole);
	FUZZ_EXPECT(watcher_verdict(&whole)->cause == WATCHER_CAUSE_NONE);
	return 0;
}

/* ------------------------------------------------------------------- seeds */

void fuzz_watcher_seeds(fuzz_visit *visit, void *context)
{
	static const char *const boots[] = {
		"\nU-Boot SPL 2024.01\nOpenSBI v1.2\n\nU-Boot 2023.01\nHit any key: 2 \b\b\b 1 \b\b\b 0\n"
		"=> load mmc 0:1 /x\n** Invalid partition 1 **\n=> booti\nStarting kernel ...\n\n"
		"[    0.000000] Linux version 6.1\n[    1.0] Run /sbin/init as init process\n"
		"systemd[1]: Hello\ndebian login: ",
		"OpenSBI v1.2\nU-Boot 2023.01\nCard did not respond to voltage select!\n\xff\xf0"
		"MMC: no card present\n\xff\xf0",
		"[    0.000000] Linux version 6.1\nUnable to handle kernel NULL\nOops [#1]\n"
		"badaddr: 00 cause: 0000000000000003\nKernel panic - not syncing: x\nU-Boot SPL 2024\n"
		"OpenSBI v1\n[    0.000000] Linux version 6.1\nU-Boot SPL 2024\n",
		"\x1b[2J\x1b]0;title\a  HELLO! BOOT0 is starting\n\tDRAM size is 0\n"
		"## Starting application at 0x1\nsameboard bare metal 1\nnsh> \xff\xff\xff",
		"D1> \nMyBoot 1\nD1> go\n## Transferring control to Linux\nD1> \xff\x7f",
		"Kernel panic - not\xff\xfe",
	};
	static const char again[] = "x\n";
	uint8_t seed[2048];
	size_t size;

	for (size_t i = 0; i < sizeof(boots) / sizeof(boots[0]); i++) {
		size = strlen(boots[i]);
		seed[0] = (uint8_t)i;
		memcpy(seed + 1, boots[i], size);
		visit(context, seed, 1 + size);
	}
	for (size = 1; size < 600; size += sizeof(again) - 1)
		memcpy(seed + size, again, sizeof(again) - 1);
	visit(context, seed, size);
	memset(seed, 0xf0, sizeof(seed));
	visit(context, seed, sizeof(seed));
}
