/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte chooses the reader.  The rest is the file, or edits to a good
 * one: bytes alone seldom come to a file that is right but for its meaning.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/bootrules.h"
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

static void parse_rules(const char *text, size_t size, bool is_json)
{
	struct bootrules *bootrules;
	int rc = bootrules_parse(&bootrules, NAME, text, size);
	const struct watcher_rules *rules = bootrules_get(bootrules);

	FUZZ_EXPECT(bootrules != NULL && (rc == 0) == (rules != NULL));
	check_error(rc, bootrules_error(bootrules), text, size, is_json);
	for (size_t i = 0; rules && i < rules->rule_count; i++)
		FUZZ_EXPECT(rules->rules[i].texts[0] && rules->rules[i].texts[0][0] &&
			    strlen(rules->rules[i].texts[0]) <= WATCHER_TEXT_MAX);
	for (size_t i = 0; rules && i < rules->prompt_count; i++)
		FUZZ_EXPECT(rules->prompts[i].text && rules->prompts[i].text[0]);
	bootrules_close(bootrules);
}

/* ------------------------------------------------------------------- good files */

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

static const char rules_text[] =
	"{ \"description\": \"ours\", \"rules\": [\n"
	"  { \"text\": \"Oops [#\", \"then\": [\"]\"], \"verdict\": \"oops\",\n"
	"    \"state\": \"linux\", \"from\": [\"system\", \"loader\"], \"printk\": true },\n"
	"  { \"text\": \"OurBoot \", \"banner\": true, \"state\": \"uboot\" },\n"
	"  { \"text\": \"harmless\", \"without\": \"not\", \"ignore\": true } ],\n"
	"  \"prompts\": [ { \"text\": \"*@*:*# \", \"state\": \"shell\" } ],\n"
	"  \"silence_ms\": { \"linux\": 90000 } }\n";

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

static size_t write_good(uint8_t kind, char *text, size_t size)
{
	struct stat info = {0};

	FUZZ_EXPECT(stat("tests/data/vectors.txt", &info) == 0);
	if (kind == 0)
		return (size_t)snprintf(text, size, "%s", lab_text);
	if (kind == 1)
		return (size_t)snprintf(text, size, "%s", suite_text);
	if (kind == 3)
		return (size_t)snprintf(text, size, "%s", rules_text);
	return (size_t)snprintf(text, size, manifest_text, (long long)info.st_size);
}

/* ------------------------------------------------------------------- edits */

#define TEXT_MAX 6000u

enum edit {
	EDIT_REPLACE, /* a token by a word */
	EDIT_COPY,    /* a token by another one */
	EDIT_REMOVE,  /* up to the token behind the next comma */
	EDIT_INSERT,  /* a member in front of a token */
	EDITS,
};

static const char *const words[] = {"\"linux\"", "\"wake.idle\"", "\"wake.cpu\"", "\"clock.audit\"",
	"\"sleep.check\"", "\"floor\"", "\"mutex.handoff\"", "\"wake.idle/p99\"", "\"wake.idle\"",
	"\"mutex.handoff/p50\"", "\"wake.cpu/p1\"", "\"wake.ilde\"", "\"silense\"", "\"pty\"",
	"\"serial\"", "\"bad name\"", "\"\\u0001\"", "\"0403:6001\"", "\"zz\"", "\"20\"", "\"cpu\"",
	"\"idle\"", "\"both\"", "\"arbitrary\"", "\"n\"", "\"duration_ms\"", "\"period_us\"",
	"\"load\"", "\"phase\"", "\"match\"", "\"port\"", "\"path\"", "\"usb\"", "\"prompt\"",
	"\"oops\"", "\"shell\"", "\"pending\"", "\"warning\"", "\"medium\"", "\"replace\"",
	"\"rules\"", "\"auto\"", "\"golden\"", "\"build\"", "\"config_sha256\"", "\"agent_sha256\"",
	"\"tests\"", "\"\"", "[]", "{}", "{\"usb\": \"x\"}", "0", "1", "-1", "64", "500", "1e9",
	"0.5", "true", "null"};

#define WORDS (sizeof(words) / sizeof(words[0]))

/* Strings, and runs of letters and digits; false behind the last. */
static bool find_token(const char *text, unsigned int index, size_t *start, size_t *size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789+-.";

	for (const char *at = text; *at; at += *size) {
		*size = strspn(at, plain);
		if (*at == '"') {
			for (*size = 1; at[*size] && at[*size] != '"'; ++*size)
				*size += at[*size] == '\\' && at[*size + 1];
			*size += at[*size] == '"';
		}
		*start = (size_t)(at - text);
		if (*size && index-- == 0)
			return true;
		*size = *size ? *size : 1;
	}
	return false;
}

static void exchange(char *text, size_t start, size_t size, const char *with)
{
	size_t length = strlen(text), room = strlen(with);

	if (length - size + room >= TEXT_MAX)
		return;
	memmove(text + start + room, text + start + size, length - start - size + 1);
	memcpy(text + start, with, room);
}

static void edit(char *text, struct fuzz_input *input)
{
	unsigned int index = fuzz_take_byte(input), what = fuzz_take_byte(input);
	unsigned int argument = fuzz_take_byte(input);
	char member[128];
	size_t start, size, other, other_size;

	if (!find_token(text, index, &start, &size))
		return;
	switch (what % EDITS) {
	case EDIT_REPLACE:
		exchange(text, start, size, words[argument % WORDS]);
		break;
	case EDIT_COPY:
		if (!find_token(text, argument, &other, &other_size) ||
			other_size >= sizeof(member))
			return;
		snprintf(member, sizeof(member), "%.*s", (int)other_size, text + other);
		exchange(text, start, size, member);
		break;
	case EDIT_REMOVE:
		other = strcspn(text + start, ",");
		exchange(text, start, text[start + other] ? other + 1 : size, "");
		break;
	default:
		snprintf(member, sizeof(member), "%s: %s, ", words[argument % WORDS],
			words[fuzz_take_byte(input) % WORDS]);
		exchange(text, start, 0, member);
		break;
	}
}

static size_t write_edited(uint8_t kind, struct fuzz_input input, char *text)
{
	write_good(kind, text, TEXT_MAX);
	for (int count = 0; input.left > 0 && count < 16; count++)
		edit(text, &input);
	return strlen(text);
}

static void parse(uint8_t kind, const char *text, size_t size)
{
	bool is_json = parse_plain(text, size);

	if (kind == 0)
		parse_lab(text, size, is_json);
	else if (kind == 1)
		parse_suite(text, size, is_json);
	else if (kind == 2)
		parse_manifest(text, size, is_json);
	else
		parse_rules(text, size, is_json);
}

int fuzz_document(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = {bytes, size};
	uint8_t head = fuzz_take_byte(&input), kind = head % 4;
	char text[TEXT_MAX];

	if (head & 4)
		parse(kind, text, write_edited(kind, input, text));
	else
		parse(kind, (const char *)input.bytes, input.left);
	return 0;
}

/* ------------------------------------------------------------------- seeds */

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
	char seed[TEXT_MAX + 1];

	for (uint8_t kind = 0; kind < 4; kind++) {
		seed[0] = (char)('0' + kind);
		visit(context, (const uint8_t *)seed,
			1 + write_good(kind, seed + 1, sizeof(seed) - 1));
		for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++)
			visit(context, (const uint8_t *)seed,
				1 + (size_t)snprintf(seed + 1, sizeof(seed) - 1, "%s", slips[i]));
		/* Every token of a good file changed once. */
		for (int index = 0; index < 120; index++) {
			const uint8_t edits[] = {(uint8_t)('4' + kind), (uint8_t)index,
				(uint8_t)(index / 3), (uint8_t)(index * 7), (uint8_t)(index * 5)};

			visit(context, edits, sizeof(edits));
		}
	}
}
