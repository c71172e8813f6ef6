/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/manifest.h"
#include "tests/scratch.h"

#define HASH  "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"
#define LOWER "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* A manifest but for one line that a test gives; the image has 5 bytes. */
#define HEAD                                                                                       \
	"{ \"system\": \"linux\", \"version\": \"6.12\", \"file\": \"x.img\", \"size\": 5,\n"      \
	"\"sha256\": \"" HASH "\", \"boot\": [\"run a\"], \"start\": \"auto\", \"writes_card\": "  \
	"false"

static struct scratch scratch;

static void set_up(void)
{
	scratch_init(&scratch);
	scratch_write(&scratch, "x.img", "image", 5);
}

static void tear_down(void)
{
	scratch_fini(&scratch);
}

static int open_text(struct manifest **manifest, const char *name, const char *text)
{
	return manifest_open(manifest, scratch_write(&scratch, name, text, strlen(text)));
}

START_TEST(everything_that_is_written_is_taken)
{
	static const char text[] =
		"{ \"system\": \"linux\", \"version\": \"6.12\", \"file\": \"x.img\", \"size\": 5,"
		"\"sha256\": \"" HASH "\", \"boards\": [\"a\", \"b\"],"
		"\"build\": { \"compiler\": \"gcc 12\", \"optimisation\": \"-O2\", \"debug\": true,"
		"\"config_sha256\": \"" HASH "\" },"
		"\"payloads\": [{ \"file\": \"/Image\", \"address\": \"${kernel_addr_r}\","
		"\"size\": 4096, \"crc32\": \"DEADbeef\" }],"
		"\"boot\": [\"load mmc 0:1 ${kernel_addr_r} /Image\", \"booti\"],"
		"\"first_banner\": \"Linux version\", \"loader_banner\": \"U-Boot 20\","
		"\"prompt\": \"# \", \"start\": \"/bin/agent\", \"uart\": { \"baud\": 1500000 },"
		"\"writes_card\": true, \"first_boot\": { \"reboots\": 1, \"timeout\": 60 },"
		"\"ready\": { \"command\": \"state\", \"output\": [\"running\", \"degraded\"] },"
		"\"shutdown\": { \"command\": \"off\", \"halted\": \"down\", \"timeout\": 9 },"
		"\"start_timeout\": 90,"
		"\"protection\": \"process\", \"address_space\": \"virtual\", \"tick\": \"250 Hz\","
		"\"agent_sha256\": \"" HASH "\","
		"\"login\": { \"user\": \"root\", \"password\": \"\" } }";
	struct manifest *manifest;
	char image[512];

	ck_assert_msg(open_text(&manifest, "m.json", text) == 0, "%s", manifest_error(manifest));
	ck_assert_str_eq(manifest->system, "linux");
	ck_assert_str_eq(manifest->version, "6.12");
	ck_assert_str_eq(manifest->file, "x.img");
	snprintf(image, sizeof(image), "%s/x.img", scratch.dir);
	ck_assert_str_eq(manifest->image_path, image);
	ck_assert_uint_eq(manifest->size, 5);
	ck_assert_str_eq(manifest->sha256, LOWER);
	ck_assert_uint_eq(manifest->board_count, 2);
	ck_assert_str_eq(manifest->boards[1], "b");
	ck_assert_str_eq(manifest->build.compiler, "gcc 12");
	ck_assert_str_eq(manifest->build.optimisation, "-O2");
	ck_assert(manifest->build.debug);
	ck_assert_str_eq(manifest->build.config_sha256, LOWER);
	ck_assert_uint_eq(manifest->payload_count, 1);
	ck_assert_str_eq(manifest->payloads[0].file, "/Image");
	ck_assert_str_eq(manifest->payloads[0].address, "${kernel_addr_r}");
	ck_assert_uint_eq(manifest->payloads[0].size, 4096);
	ck_assert_uint_eq(manifest->payloads[0].crc32, 0xdeadbeef);
	ck_assert_uint_eq(manifest->boot_count, 2);
	ck_assert_str_eq(manifest->boot[1], "booti");
	ck_assert_str_eq(manifest->first_banner, "Linux version");
	ck_assert_str_eq(manifest->loader_banner, "U-Boot 20");
	ck_assert_str_eq(manifest->prompt, "# ");
	ck_assert_str_eq(manifest->start, "/bin/agent");
	ck_assert(!manifest->start_is_auto);
	ck_assert_uint_eq(manifest->uart.baud, 1500000);
	ck_assert(manifest->writes_card);
	ck_assert_uint_eq(manifest->first_boot.reboots, 1);
	ck_assert_uint_eq(manifest->first_boot.timeout_s, 60);
	ck_assert(manifest->has_first_boot);
	ck_assert_str_eq(manifest->ready.command, "state");
	ck_assert_uint_eq(manifest->ready.output_count, 2);
	ck_assert_str_eq(manifest->ready.output[1], "degraded");
	ck_assert_str_eq(manifest->shutdown.command, "off");
	ck_assert_str_eq(manifest->shutdown.halted, "down");
	ck_assert_uint_eq(manifest->shutdown.timeout_s, 9);
	ck_assert_ptr_null(manifest->slot);
	ck_assert_uint_eq(manifest->start_timeout_s, 90);
	ck_assert_str_eq(manifest->protection, "process");
	ck_assert_str_eq(manifest->address_space, "virtual");
	ck_assert_str_eq(manifest->tick, "250 Hz");
	ck_assert_str_eq(manifest->agent_sha256, LOWER);
	ck_assert_str_eq(manifest->login.user, "root");
	ck_assert_str_eq(manifest->login.password, "");
	ck_assert_str_eq(manifest->text, text);
	manifest_close(manifest);
}
END_TEST

START_TEST(what_is_not_written_has_its_default)
{
	struct manifest *manifest;

	ck_assert_msg(
		open_text(&manifest, "m.json", HEAD " }") == 0, "%s", manifest_error(manifest));
	ck_assert(manifest->start_is_auto);
	ck_assert_uint_eq(manifest->board_count, 0);
	ck_assert_uint_eq(manifest->payload_count, 0);
	ck_assert_uint_eq(manifest->uart.baud, 115200);
	ck_assert_uint_eq(manifest->first_boot.reboots, 0);
	ck_assert_uint_eq(manifest->first_boot.timeout_s, 300);
	ck_assert(!manifest->has_first_boot);
	ck_assert_ptr_null(manifest->ready.command);
	ck_assert_ptr_null(manifest->shutdown.command);
	ck_assert_uint_eq(manifest->shutdown.timeout_s, 60);
	ck_assert_uint_eq(manifest->start_timeout_s, 120);
	ck_assert_ptr_null(manifest->prompt);
	ck_assert_ptr_null(manifest->first_banner);
	ck_assert_ptr_null(manifest->login.user);
	ck_assert_ptr_null(manifest->agent_sha256);
	ck_assert_str_eq(manifest->tick, "");
	manifest_close(manifest);
	manifest_close(NULL);
}
END_TEST

#define WITHOUT(line)                                                                              \
	"{ \"system\": \"linux\", \"version\": \"1\", \"file\": \"x.img\", \"boot\": [\"a\"],\n"   \
	"\"writes_card\": false, " line " }"

static const struct {
	const char *text, *error;
} bad[] = {
	{"{}", ":1: key \"system\" is missing; expected it in an image manifest"},
	{WITHOUT("\"size\": 5, \"sha256\": \"" HASH "\""),
		":1: key \"start\" is missing; expected it in an image manifest"},
	{WITHOUT("\"size\": 5, \"sha256\": \"12\", \"start\": \"auto\""),
		":2: sha256: \"12\" is no SHA-256; expected 64 hex digits"},
	{WITHOUT("\"size\": 0, \"sha256\": \"" HASH "\", \"start\": \"auto\""),
		":2: size: 0 is out of range; expected an integer from 1 to 1125899906842624 bytes"},
	{WITHOUT("\"size\": 5, \"sha256\": \"" HASH "\", \"start\": \"a\\nb\""),
		":2: start: holds a control character; expected \"auto\" or one line"},
	{WITHOUT("\"size\": 5, \"sha256\": \"" HASH "\", \"start\": \"agent\""),
		":2: start: is a shell line, but the shell's prompt is not given; expected "
		"\"prompt\", or \"auto\" here"},
	{WITHOUT("\"size\": 6, \"sha256\": \"" HASH "\", \"start\": \"auto\""),
		":2: size: image DIR/x.img has 5 bytes; expected 6 (was it cut? make images)"},
	{HEAD ",\n\"sistem\": 1}", ":3: sistem: unknown key; did you mean \"system\"?"},
	{HEAD ",\n\"build\": {\"config_sha256\": \"x\"}}",
		":3: build.config_sha256: \"x\" is no SHA-256; expected 64 hex digits"},
	{HEAD ",\n\"agent_sha256\": \"" HASH "0\"}",
		":3: agent_sha256: \"" HASH "0\" is no SHA-256; expected 64 hex digits"},
	{HEAD ",\n\"payloads\": [{\"file\": \"a\", \"address\": \"0; reset\", \"size\": 1, "
	      "\"crc32\": \"00000000\"}]}",
		":3: payloads[0].address: \"0; reset\" is no address; expected one like "
		"\"${kernel_addr_r}\" or \"0x80200000\""},
	{HEAD ",\n\"payloads\": [{\"file\": \"a\", \"address\": \"0\", \"size\": 1, \"crc32\": "
	      "\"0x123456\"}]}",
		":3: payloads[0].crc32: \"0x123456\" is no CRC-32; expected 8 hex digits"},
	{HEAD ",\n\"payloads\": [{\"file\": \"a\", \"address\": \"0\", \"size\": 1}]}",
		":3: payloads[0]: key \"crc32\" is missing; expected it in a payload"},
	{HEAD ",\n\"login\": {\"password\": \"x\"}}",
		":3: login: key \"user\" is missing; expected it in a login"},
	{HEAD ",\n\"uart\": {\"baud\": 12}}",
		":3: uart.baud: 12 is out of range; expected an integer from 300 to 4000000 baud"},
	{HEAD ",\n\"ready\": {\"command\": \"a\", \"output\": [\"b\"]}}",
		":3: ready.command: is a shell line, but the shell's prompt is not given; expected "
		"\"prompt\" beside \"ready\""},
	{HEAD ",\n\"prompt\": \"# \", \"shutdown\": {\"command\": \"a\\u0007\", \"halted\": "
	      "\"b\"}}",
		":3: shutdown.command: holds a control character; expected one line"},
	{"{ \"system\": \"l\", \"version\": \"1\", \"file\": \"x.img\", \"boot\": [\"a\"], \"size\": 5, "
	 "\"sha256\": \"" HASH "\", \"start\": \"auto\",\n\"writes_card\": true, \"slot\": \"l\" }",
		":2: writes_card: is true for slot \"l\" of a card that other systems boot from; "
		"expected false, or a card of its own"},
	{HEAD ",\n\"first_boot\": {\"timeout\": 0}}",
		":3: first_boot.timeout: 0 is out of range; expected an integer from 1 to 3600 s"},
	{"{ \"system\": \"../linux\", \"version\": \"1\", \"file\": \"x.img\", \"boot\": [\"a\"], "
	 "\"size\": 5, \"sha256\": \"" HASH "\", \"start\": \"auto\", \"writes_card\": true }",
		":1: system: \"../linux\" is no name of a system; expected 1 to 63 letters, digits, "
		"'.', '_' or '-', a letter or digit first"},
	{"{ \"system\": \"l\", \"version\": \"1\", \"file\": \"x.img\", \"boot\": [\"a\", "
	 "\"b\\r\"], \"size\": 5, \"sha256\": \"" HASH "\", \"start\": \"auto\", \"writes_card\": "
	 "true }",
		":1: boot: command 2 holds a control character; expected one line each"},
	{"{ \"system\": \"l\", \"version\": \"1\", \"file\": \".\", \"boot\": [\"a\"], \"size\": 5, "
	 "\"sha256\": \"" HASH "\", \"start\": \"auto\", \"writes_card\": true }",
		":1: file: image DIR/. is no regular file; expected one"},
};

/* DIR in a text stands for the folder. */
static void expand(const char *text, char *expanded, size_t size)
{
	const char *at = strstr(text, "DIR/");

	snprintf(expanded, size, "%s/m.json%.*s%s%s", scratch.dir,
		at ? (int)(at - text) : (int)strlen(text), text, at ? scratch.dir : "",
		at ? at + 3 : "");
}

START_TEST(every_mistake_in_a_manifest_is_named)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct manifest *manifest;
		char expected[1024];
		int result = open_text(&manifest, "m.json", bad[i].text);

		expand(bad[i].error, expected, sizeof(expected));
		ck_assert_str_eq(manifest_error(manifest), expected);
		ck_assert_int_eq(result, -EINVAL);
		manifest_close(manifest);
	}
}
END_TEST

START_TEST(an_image_that_is_not_there_is_named)
{
	struct manifest *manifest;
	char expected[1024];

	ck_assert_int_eq(remove(scratch_path(&scratch, "x.img")), 0);
	ck_assert_int_eq(open_text(&manifest, "m.json", HEAD " }"), -ENOENT);
	expand(":1: file: image DIR/x.img cannot be read: No such file or directory; expected it "
	       "there (make images)",
		expected, sizeof(expected));
	ck_assert_str_eq(manifest_error(manifest), expected);
	manifest_close(manifest);
}
END_TEST

static void expect_not_found(const char *dir, const char *system, int code, const char *expected)
{
	struct manifest *manifest;

	ck_assert_int_eq(manifest_find(&manifest, dir, system), code);
	ck_assert_str_eq(manifest_error(manifest), expected);
	manifest_close(manifest);
}

START_TEST(a_manifest_is_found_by_system_or_the_error_says_what_there_is)
{
	static const char bare[] = "{ \"system\": \"baremetal\" }";
	struct manifest *manifest;
	char expected[1024];

	snprintf(expected, sizeof(expected),
		"%s: there is no image of system \"linux\", nor of any other (make images)",
		scratch.dir);
	expect_not_found(scratch.dir, "linux", -ENOENT, expected);
	expect_not_found("/nonexistent", "linux", -ENOENT,
		"/nonexistent: there is no folder of images; expected one (make images)");

	scratch_write(&scratch, "six.json", HEAD " }", strlen(HEAD " }"));
	scratch_write(&scratch, "b.json", bare, strlen(bare));
	ck_assert_msg(manifest_find(&manifest, scratch.dir, "linux") == 0, "%s",
		manifest_error(manifest));
	ck_assert_str_eq(manifest->path, scratch_path(&scratch, "six.json"));
	manifest_close(manifest);
	snprintf(expected, sizeof(expected),
		"%s: there is no image of system \"linx\"; did you mean \"linux\"?", scratch.dir);
	expect_not_found(scratch.dir, "linx", -ENOENT, expected);
	snprintf(expected, sizeof(expected),
		"%s: there is no image of system \"nuttx\"; expected \"baremetal\" or \"linux\"",
		scratch.dir);
	expect_not_found(scratch.dir, "nuttx", -ENOENT, expected);

	/* One that cannot be read may be the one that was meant. */
	scratch_write(&scratch, "z.json", "{", 1);
	snprintf(expected, sizeof(expected),
		"%s: there is no image of system \"nuttx\"; expected \"baremetal\" or \"linux\"; "
		"%s/z.json:1: the file ends here; expected a key in double quotes",
		scratch.dir, scratch.dir);
	expect_not_found(scratch.dir, "nuttx", -ENOENT, expected);
	scratch_write(&scratch, "z.json", "{}", 2);
	snprintf(expected, sizeof(expected),
		"%s: there is no image of system \"nuttx\"; expected \"baremetal\" or \"linux\"; "
		"%s/z.json: key \"system\" is missing; expected an image manifest",
		scratch.dir, scratch.dir);
	expect_not_found(scratch.dir, "nuttx", -ENOENT, expected);

	scratch_write(&scratch, "copy.json", HEAD " }", strlen(HEAD " }"));
	snprintf(expected, sizeof(expected),
		"%s/copy.json and %s/six.json are both of system \"linux\"; expected one manifest "
		"a system",
		scratch.dir, scratch.dir);
	expect_not_found(scratch.dir, "linux", -EEXIST, expected);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("manifest");
	TCase *tcase = tcase_create("manifest");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, everything_that_is_written_is_taken);
	tcase_add_test(tcase, what_is_not_written_has_its_default);
	tcase_add_test(tcase, every_mistake_in_a_manifest_is_named);
	tcase_add_test(tcase, an_image_that_is_not_there_is_named);
	tcase_add_test(tcase, a_manifest_is_found_by_system_or_the_error_says_what_there_is);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
