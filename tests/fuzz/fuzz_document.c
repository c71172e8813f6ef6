/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte chooses the reader, the rest is the file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/lab.h"
#include "harness/manifest.h"
#include "harness/suite.h"
#include "harness/word.h"
#include "tests/fuzz/fuzz.h"

#define NAME "fuzz.json"

/* "fuzz.json:12: boards.panel1: what is wrong", with a line that the text has. */
static void check_error(int rc, const char *error, const char *text, size_t size, bool is_json)
{
	unsigned line, lines = 1;
	int at = 0;

	FUZZ_EXPECT(rc <= 0);
	FUZZ_EXPECT((rc == 0) == (error[0] == '\0'));
	fuzz_expect_line(error);
	if (rc == 0 || rc == -ENOMEM)
		return;
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	FUZZ_EXPECT(sscanf(error, NAME ":%u: %n", &line, &at) == 1 && at > 0);
	FUZZ_EXPECT(line >= 1 && line <= lines);
	/* What is JSON is wrong at a key, or lacks one. */
	if (is_json)
		FUZZ_EXPECT(strstr(error + at, ": ") || strncmp(error + at, "key \"", 5) == 0 ||
			    strncmp(error + at, "unknown key", 11) == 0);
}

static bool parse_plain(const char *text, size_t size)
{
	struct document *document;
	int rc = document_parse(&document, NAME, text, size);
	size_t text_size;

	FUZZ_EXPECT(document != NULL);
	check_error(rc, document_error(document), text, size, false);
	if (rc == 0) {
		FUZZ_EXPECT(document_root(document) && document_line(document_root(document)) > 0);
		FUZZ_EXPECT(memcmp(document_text(document, &text_size), text, size) == 0);
		FUZZ_EXPECT(text_size == size);
	}
	document_close(document);
	return rc == 0;
}

static void parse_lab(const char *text, size_t size, bool is_json)
{
	struct lab *lab;
	int rc = lab_parse(&lab, NAME, text, size);

	FUZZ_EXPECT(lab != NULL);
	check_error(rc, lab_error(lab), text, size, is_json);
	FUZZ_EXPECT((rc == 0) == (lab->board_count > 0));
	for (size_t i = 0; i < lab->board_count; i++) {
		const struct lab_board *board = &lab->boards[i];

		FUZZ_EXPECT(word_is_name(board->name) && board->model);
		FUZZ_EXPECT(board->console.driver && board->power.driver);
		FUZZ_EXPECT(!board->has_sdmux || (board->sdmux.device && board->card.device));
		FUZZ_EXPECT(board->loader.interrupt_size <= sizeof(board->loader.interrupt));
		FUZZ_EXPECT(lab_find_board(lab, board->name) == board);
	}
	lab_close(lab);
}

static void parse_suite(const char *text, size_t size, bool is_json)
{
	struct suite *suite;
	int rc = suite_parse(&suite, NAME, text, size);

	FUZZ_EXPECT(suite != NULL);
	check_error(rc, suite_error(suite), text, size, is_json);
	if (rc == 0) {
		FUZZ_EXPECT(suite->name && suite->description && suite->system_count > 0);
		FUZZ_EXPECT(suite->boots >= 1 && suite->primary_count <= SUITE_PRIMARY_MAX);
		FUZZ_EXPECT(
			suite->window_count >= 1 && suite->window_count <= 2 * SUITE_WINDOWS_MAX);
		for (size_t i = 0; i < suite->window_count; i++)
			FUZZ_EXPECT(suite->windows[i].bench && suite->windows[i].n <= 100000 &&
				    suite->windows[i].phase != SUITE_PHASE_BOTH);
		for (size_t i = 0; i < suite->primary_count; i++)
			FUZZ_EXPECT(suite->primary[i].bench && suite->primary[i].statistic);
	}
	suite_close(suite);
}

static void parse_manifest(const char *text, size_t size, bool is_json)
{
	struct manifest *manifest;
	int rc = manifest_parse(&manifest, NAME, text, size);

	FUZZ_EXPECT(manifest != NULL);
	check_error(rc, manifest_error(manifest), text, size, is_json);
	if (rc == 0) {
		FUZZ_EXPECT(word_is_name(manifest->system) && word_is_hex(manifest->sha256, 64));
		FUZZ_EXPECT(manifest->image_path && manifest->boot_count > 0);
		FUZZ_EXPECT(!manifest->plan.size ||
			    manifest->plan.offset + manifest->plan.size <= manifest->size);
		FUZZ_EXPECT(manifest->start_is_auto || manifest->prompt);
	}
	manifest_close(manifest);
}

int fuzz_document(const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes + 1;
	bool is_json;

	if (size-- < 1)
		return 0;
	is_json = parse_plain(text, size);
	switch (bytes[0] & 3) {
	case 0:
		parse_lab(text, size, is_json);
		break;
	case 1:
		parse_suite(text, size, is_json);
		break;
	default:
		parse_manifest(text, size, is_json);
		break;
	}
	return 0;
}

/* ------------------------------------------------------------------- seeds */

static const char lab_text[] =
	"{ // a bench\n"
	"  \"boards\": { \"panel1\": {\n"
	"    \"model\": \"lichee-rv-86-panel\",\n"
	"    \"console\": { \"driver\": \"serial\", \"baud\": 115200, \"latency_ms\": 16,\n"
	"      \"max_baud\": 1500000, \"match\": { \"usb\": \"0403:6001\", \"serial\": \"A5\" } },\n"
	"    \"power\": { \"driver\": \"lcus\", \"channel\": 1, \"off_ms\": 2000,\n"
	"      \"match\": { \"path\": \"usb-0:3:1.0\" }, \"answer_ms\": 500, \"silent\": false },\n"
	"    \"sdmux\": { \"driver\": \"usbsdmux\", \"device\": \"id-0001\",\n"
	"      \"card\": \"/dev/disk/by-id/x\", \"command\": \"bin/mux\" },\n"
	"    \"loader\": { \"prompt\": \"=> \", \"interrupt_hex\": \"20\" },\n"
	"    \"rest\": \"off\", \"time\": \"real\" },\n"
	"   \"virtual\": { \"model\": \"vboard\",\n"
	"    \"console\": { \"driver\": \"pty\", \"path\": \"v/uart\" }, /* as it is */\n"
	"    \"power\": { \"driver\": \"lcus\", \"port\": { \"driver\": \"pty\",\n"
	"      \"path\": \"v/relay\" } } } } }\n";

static const char suite_text[] =
	"{ \"name\": \"all\", \"description\": \"\", \"systems\": [\"linux\", \"baremetal\"],\n"
	"  \"golden\": \"baremetal\", \"boots\": 5, \"soak_s\": 20, \"time\": \"icount\",\n"
	"  \"primary\": [\"wake.cpu/p99\", \"wake.idle/p99.9\"],\n"
	"  \"allow_unknown\": [\"temperature\"], \"accept_clock_ppm\": { \"nuttx\": 41.7 },\n"
	"  \"windows\": [ { \"bench\": \"wake.idle\", \"n\": 2000, \"phase\": \"both\" },\n"
	"    { \"bench\": \"wake.cpu\", \"period_us\": 1000, \"settle_ms\": 200, \"seed\": 7 },\n"
	"    { \"bench\": \"clock.audit\", \"duration_ms\": 20000, \"load\": \"idle\" } ] }\n";

/* %lld: the size of the file that stands for the image. */
static const char manifest_text[] =
	"{ \"system\": \"linux\", \"version\": \"6.1\", \"file\": \"tests/data/vectors.txt\",\n"
	"  \"size\": %lld, \"sha256\":\n"
	"  \"E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\n"
	"  \"boards\": [\"lichee-rv-86-panel\"], \"build\": { \"compiler\": \"gcc 12\",\n"
	"    \"optimisation\": \"-O2\", \"debug\": true },\n"
	"  \"payloads\": [ { \"file\": \"/Image\", \"address\": \"${kernel_addr_r}\",\n"
	"    \"size\": 100, \"crc32\": \"cbf43926\" } ],\n"
	"  \"boot\": [\"load mmc 0:1 ${kernel_addr_r} /Image\", \"booti ${kernel_addr_r}\"],\n"
	"  \"plan\": { \"offset\": 512, \"size\": 64 }, \"first_banner\": \"Linux\",\n"
	"  \"loader_banner\": \"U-Boot 20\", \"prompt\": \"# \", \"start\": \"/agent\",\n"
	"  \"uart\": { \"baud\": 115200 }, \"writes_card\": true, \"start_timeout\": 120,\n"
	"  \"first_boot\": { \"reboots\": 1, \"timeout\": 300 }, \"protection\": \"MMU\",\n"
	"  \"address_space\": \"many\", \"tick\": \"1000 Hz\",\n"
	"  \"login\": { \"user\": \"root\", \"password\": \"\" } }\n";

/* Mistakes of people, each in each reader. */
static const char *const slips[] = {
	"",
	"{}",
	"[]",
	"{\"boards\": {\"a\\u000ab\": {}}}",
	"{\"systems\": [\"\\u001b[2J\"], \"windows\": [{\"bench\": \"wake.idle\"}]}",
	"{\"system\": \"a\xc3\xa9\", \"system\": 1}",
	"{\"a\\u0062\": {\"c\": [1, 2.5e-3, null, true, \"\\ud83d\\ude00\"]}, \"ab\": 0}",
	"{\"name\": 1e400, /* */ \"size\": -0 } // end",
};

void fuzz_document_seeds(fuzz_visit *visit, void *context)
{
	char seed[4096];
	struct stat info = {0};

	FUZZ_EXPECT(stat("tests/data/vectors.txt", &info) == 0);
	for (int kind = 0; kind < 3; kind++) {
		for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++)
			visit(context, (const uint8_t *)seed,
				(size_t)snprintf(seed, sizeof(seed), "%c%s", '0' + kind, slips[i]));
	}
	visit(context, (const uint8_t *)seed,
		(size_t)snprintf(seed, sizeof(seed), "0%s", lab_text));
	visit(context, (const uint8_t *)seed,
		(size_t)snprintf(seed, sizeof(seed), "1%s", suite_text));
	seed[0] = '2';
	visit(context, (const uint8_t *)seed,
		1 + (size_t)snprintf(
			    seed + 1, sizeof(seed) - 1, manifest_text, (long long)info.st_size));
}
