/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/lab.h"
#include "tests/scratch.h"

static const char whole[] =
	"{ \"boards\": {\n"
	"  \"panel1\": { \"model\": \"lichee-rv-86-panel\",\n"
	"    \"console\": { \"driver\": \"serial\",\n"
	"      \"match\": { \"usb\": \"0403:6001\", \"serial\": \"A5\" }, \"baud\": 115200 },\n"
	"    \"power\": { \"driver\": \"lcus\", \"channel\": 2,\n"
	"      \"match\": { \"path\": \"usb-0:3:1.0\" }, \"off_ms\": 2500, \"silent\": true },\n"
	"    \"sdmux\": { \"driver\": \"usbsdmux\", \"device\": \"id-0001\",\n"
	"      \"card\": \"/dev/disk/by-id/usb-card\", \"card_bytes\": 8000000000 },\n"
	"    \"loader\": { \"prompt\": \"D1> \", \"interrupt_hex\": \"031B\" },\n"
	"    \"rest\": \"on\" },\n"
	"  \"virtual\": { \"model\": \"vboard\",\n"
	"    \"console\": { \"driver\": \"pty\", \"path\": \"vb/uart\", \"max_baud\": 1500000 },\n"
	"    \"power\": { \"driver\": \"lcus\", \"channel\": 1, \"off_ms\": 500,\n"
	"      \"port\": { \"driver\": \"pty\", \"path\": \"vb/relay\" } },\n"
	"    \"sdmux\": { \"driver\": \"usbsdmux\", \"command\": \"bin/vboard-sdmux\",\n"
	"      \"device\": \"/run/vb\", \"card\": \"vb/card\" } },\n"
	"  \"bare\": { \"model\": \"m\",\n"
	"    \"console\": { \"driver\": \"serial\", \"path\": \"/dev/ttyS0\" },\n"
	"    \"power\": { \"driver\": \"lcus\", \"port\": { \"driver\": \"serial\",\n"
	"      \"path\": \"/dev/ttyS1\", \"baud\": 19200 } } } } }\n";

START_TEST(boards_are_read_into_the_configuration_of_their_drivers)
{
	struct lab *lab;
	const struct lab_board *board;

	ck_assert_msg(lab_parse(&lab, "/etc/bench/lab.json", whole, sizeof(whole) - 1) == 0, "%s",
		lab_error(lab));
	ck_assert_uint_eq(lab->board_count, 3);
	board = lab_find_board(lab, "panel1");
	ck_assert_str_eq(board->name, "panel1");
	ck_assert_str_eq(board->model, "lichee-rv-86-panel");
	ck_assert_str_eq(board->console.driver, "serial");
	ck_assert_ptr_null(board->console.path);
	ck_assert_str_eq(board->console.usb, "0403:6001");
	ck_assert_str_eq(board->console.usb_serial, "A5");
	ck_assert_uint_eq(board->console.baud, 115200);
	ck_assert_uint_eq(board->latency_ms, 16);
	ck_assert_str_eq(board->power.driver, "lcus");
	ck_assert_uint_eq(board->power.channel, 2);
	ck_assert_str_eq(board->power.port.driver, "serial");
	ck_assert_str_eq(board->power.port.usb_path, "usb-0:3:1.0");
	ck_assert_ptr_null(board->power.port.usb);
	ck_assert_uint_eq(board->power.port.baud, 0);
	ck_assert_uint_eq(board->power.off_ms, 2500);
	ck_assert(board->power.silent);
	ck_assert(board->has_sdmux);
	ck_assert_ptr_null(board->sdmux.command);
	ck_assert_str_eq(board->sdmux.device, "/dev/usb-sd-mux/id-0001");
	ck_assert_str_eq(board->card.device, "/dev/disk/by-id/usb-card");
	ck_assert_uint_eq(board->card.size_bytes, 8000000000u);
	ck_assert(!board->card.fixed_disk_allowed);
	ck_assert_str_eq(board->loader.prompt, "D1> ");
	ck_assert_uint_eq(board->loader.interrupt_size, 2);
	ck_assert_uint_eq(board->loader.interrupt[0], 0x03);
	ck_assert_uint_eq(board->loader.interrupt[1], 0x1b);
	ck_assert_int_eq(board->rest, LAB_REST_ON);

	board = lab_find_board(lab, "virtual");
	ck_assert_str_eq(board->console.path, "/etc/bench/vb/uart");
	ck_assert_uint_eq(board->latency_ms, 1);
	ck_assert_uint_eq(board->max_baud, 1500000);
	ck_assert_str_eq(board->power.port.driver, "pty");
	ck_assert_str_eq(board->power.port.path, "/etc/bench/vb/relay");
	ck_assert_str_eq(board->sdmux.command, "/etc/bench/bin/vboard-sdmux");
	ck_assert_str_eq(board->sdmux.device, "/run/vb");
	ck_assert_str_eq(board->card.device, "/etc/bench/vb/card");
	ck_assert_str_eq(board->loader.prompt, "=> ");
	ck_assert_uint_eq(board->loader.interrupt_size, 1);
	ck_assert_uint_eq(board->loader.interrupt[0], ' ');
	ck_assert_int_eq(board->rest, LAB_REST_OFF);

	board = lab_find_board(lab, "bare");
	ck_assert(!board->has_sdmux);
	ck_assert_uint_eq(board->power.channel, 1);
	ck_assert_uint_eq(board->power.off_ms, 2000);
	ck_assert_uint_eq(board->power.port.baud, 19200);
	lab_close(lab);
}
END_TEST

START_TEST(a_board_is_found_by_name_or_the_error_says_what_there_is)
{
	static const char one[] = "{\"boards\": {\"only\": {\"model\": \"m\",\"console\": "
				  "{\"driver\": \"pty\", \"path\": \"a\"}, \"power\": {\"driver\": "
				  "\"lcus\", \"port\": {\"driver\": \"pty\", \"path\": \"b\"}}}}}";
	struct lab *lab;

	ck_assert_int_eq(lab_parse(&lab, "lab.json", whole, sizeof(whole) - 1), 0);
	ck_assert_ptr_null(lab_find_board(lab, "panel2"));
	ck_assert_str_eq(
		lab_error(lab), "lab.json: there is no board \"panel2\"; did you mean \"panel1\"?");
	ck_assert_ptr_null(lab_find_board(lab, "xyz"));
	ck_assert_str_eq(lab_error(lab),
		"lab.json: there is no board \"xyz\"; expected \"panel1\", "
		"\"virtual\" or \"bare\"");
	ck_assert_ptr_null(lab_find_board(lab, NULL));
	ck_assert_str_eq(lab_error(lab), "lab.json: no board is named, and there are 3; expected "
					 "\"panel1\", \"virtual\" or \"bare\"");
	lab_close(lab);
	ck_assert_int_eq(lab_parse(&lab, "lab.json", one, sizeof(one) - 1), 0);
	ck_assert_str_eq(lab_find_board(lab, NULL)->name, "only");
	lab_close(lab);
	lab_close(NULL);
}
END_TEST

/* Board b with these parts; NULL: the part that is right. */
static const struct {
	const char *console, *power, *more, *error;
} bad[] = {
	{"{}", NULL, "",
		"f:2: boards.b.console: key \"driver\" is missing; expected it in a console"},
	{"{\"driver\": \"tty\"}", NULL, "",
		"f:2: boards.b.console.driver: \"tty\" is unknown; expected \"serial\", "
		"\"pty\", \"tcp\" or \"rfc2217\""},
	{"{\"driver\": \"pty\"}", NULL, "",
		"f:2: boards.b.console: the port is not named; expected \"path\""},
	{"{\"driver\": \"serial\"}", NULL, "",
		"f:2: boards.b.console: the port is not named; expected \"match\" or \"path\""},
	{"{\"driver\": \"serial\",\n\"match\": {}}", NULL, "",
		"f:3: boards.b.console.match: is empty; expected \"usb\", \"serial\" or \"path\" in "
		"it"},
	{"{\"driver\": \"pty\",\n\"match\": {\"serial\": \"1\"}}", NULL, "",
		"f:3: boards.b.console.match: a pty has no USB identity; expected \"path\""},
	{"{\"driver\": \"serial\", \"match\": {\n\"usb\": \"403:6001\"}}", NULL, "",
		"f:3: boards.b.console.match.usb: \"403:6001\" is no USB id; expected "
		"VENDOR:PRODUCT in hex, like \"0403:6001\""},
	{"{\"driver\": \"serial\", \"match\": {\"usb\": \"0403:60g1\"}}", NULL, "",
		"f:2: boards.b.console.match.usb: \"0403:60g1\" is no USB id; expected "
		"VENDOR:PRODUCT in hex, like \"0403:6001\""},
	{"{\"driver\": \"pty\", \"path\": \"u\", \"baud\": 0}", NULL, "",
		"f:2: boards.b.console.baud: 0 is out of range; expected an integer from 300 to "
		"4000000 baud"},
	{"{\"driver\": \"pty\", \"path\": \"u\", \"bauds\": 9600}", NULL, "",
		"f:2: boards.b.console.bauds: unknown key; did you mean \"baud\"?"},
	{NULL, "{\"driver\": \"lcus\"}", "",
		"f:3: boards.b.power: the relay's port is not named; expected \"port\" or "
		"\"match\""},
	{NULL, "{\"driver\": \"relay\"}", "",
		"f:3: boards.b.power.driver: \"relay\" is unknown; expected \"lcus\", \"dcthid\", "
		"\"uhubctl\", \"tasmota\", \"shelly1\", \"shelly2\", \"pdudaemon\" or "
		"\"command\""},
	{NULL,
		"{\"driver\": \"lcus\", \"match\": {\"serial\": \"1\"}, \"port\": {\"driver\": "
		"\"pty\", \"path\": \"r\"}}",
		"",
		"f:3: boards.b.power.match: the relay's port is named twice; expected \"port\" or "
		"\"match\", not both"},
	{NULL, "{\"driver\": \"lcus\", \"channel\": 9}", "",
		"f:3: boards.b.power.channel: 9 is out of range; expected 1 to 8 of the lcus "
		"driver"},
	{"{\"driver\": \"tcp\"}", NULL, "",
		"f:2: boards.b.console: the port is not named; expected \"address\""},
	{"{\"driver\": \"rfc2217\", \"path\": \"u\"}", NULL, "",
		"f:2: boards.b.console.path: the rfc2217 driver does not take it; expected none"},
	{"{\"driver\": \"pty\", \"address\": \"a:1\"}", NULL, "",
		"f:2: boards.b.console.address: the pty driver does not take it; expected none"},
	{"{\"driver\": \"tcp\", \"address\": \"here\"}", NULL, "",
		"f:2: boards.b.console.address: \"here\" is no address; expected HOST:PORT, like "
		"\"ser2net.lab:2001\""},
	{"{\"driver\": \"tcp\", \"address\": \"a:1\",\n\"match\": {\"serial\": \"1\"}}", NULL, "",
		"f:3: boards.b.console.match: a tcp port is no USB adapter; expected \"address\""},
	{"{\"driver\": \"tcp\", \"address\": \"a:1\", \"max_baud\": 1500000}", NULL, "",
		"f:2: boards.b.console.max_baud: a tcp port has the one rate of its server; expected "
		"the driver \"rfc2217\" with it"},
	{NULL, "{\"driver\": \"tasmota\"}", "",
		"f:3: boards.b.power: the tasmota driver needs \"url\"; expected it here"},
	{NULL, "{\"driver\": \"tasmota\", \"url\": \"plug.lab\"}", "",
		"f:3: boards.b.power.url: is no url of a device; expected one like "
		"\"http://plug.lab\""},
	{NULL, "{\"driver\": \"shelly2\", \"url\": \"http://a:s3cret@plug.lab\"}", "",
		"f:3: boards.b.power.url: has a user or a password in it; expected \"user\" and "
		"\"password_file\" or \"password_env\""},
	{NULL,
		"{\"driver\": \"tasmota\", \"url\": \"http://p\",\n\"port\": {\"driver\": "
		"\"pty\", \"path\": \"r\"}}",
		"", "f:4: boards.b.power.port: the tasmota driver does not take it; expected none"},
	{NULL, "{\"driver\": \"lcus\", \"url\": \"http://p\"}", "",
		"f:3: boards.b.power.url: the lcus driver does not take it; expected none"},
	{NULL, "{\"driver\": \"pdudaemon\", \"url\": \"http://p:16421\"}", "",
		"f:3: boards.b.power: the pdudaemon driver needs \"device\"; expected it here"},
	{NULL,
		"{\"driver\": \"shelly1\", \"url\": \"http://p\", \"password_env\": \"A\", "
		"\"password_file\": \"f\"}",
		"",
		"f:3: boards.b.power.password_env: the password is named twice; expected "
		"\"password_file\" or \"password_env\", not both"},
	{NULL, NULL, ", \"sdmux\": {\"driver\": \"sdwire\", \"card\": \"c\"}",
		"f:4: boards.b.sdmux: the sdwire driver needs \"device\"; expected it here"},
	{NULL, NULL, ", \"sdmux\": {\"driver\": \"command\", \"card\": \"c\"}",
		"f:4: boards.b.sdmux: the command driver needs \"command\"; expected it here"},
	{NULL, "{\"driver\": \"lcus\", \"off_ms\": 5}", "",
		"f:3: boards.b.power.off_ms: 5 is out of range; expected an integer from 100 to "
		"600000 ms"},
	{NULL, "{\"driver\": \"lcus\", \"port\": {\"driver\": \"pty\", \"path\": \"u\"}}", "",
		"f:3: boards.b.power: the relay has the console's port; expected another one"},
	{NULL, NULL, ", \"sdmux\": {\"driver\": \"usbsdmux\", \"device\": \"d\"}",
		"f:4: boards.b.sdmux: key \"card\" is missing; expected it in an SD mux"},
	{NULL, NULL, ", \"loader\": {\"interrupt_hex\": \"2\"}",
		"f:4: boards.b.loader.interrupt_hex: \"2\" is no key; expected 1 to 8 bytes in hex, "
		"like \"20\" for a space"},
	{NULL, NULL, ", \"loader\": {\"interrupt_hex\": \"\\\\x03\"}",
		"f:4: boards.b.loader.interrupt_hex: \"\\x03\" is no key; expected 1 to 8 bytes in "
		"hex, like \"20\" for a space"},
	{NULL, NULL, ", \"loader\": {\"interrupt_hex\": \"202020202020202020\"}",
		"f:4: boards.b.loader.interrupt_hex: \"202020202020202020\" is no key; expected 1 "
		"to 8 bytes in hex, like \"20\" for a space"},
	{NULL, NULL, ", \"rest\": \"standby\"",
		"f:4: boards.b.rest: \"standby\" is unknown; expected \"off\" or \"on\""},
	{NULL, NULL, ", \"rset\": \"off\"",
		"f:4: boards.b.rset: unknown key; did you mean \"rest\"?"},
	/* A second board on the wires of the first. */
	{NULL, NULL,
		"},\n\"c\": {\"model\": \"m\", \"console\": {\"driver\": \"serial\", \"path\": "
		"\"u\"}, \"power\": {\"driver\": \"lcus\", \"port\": {\"driver\": \"pty\", "
		"\"path\": \"r2\"}}",
		"f:5: boards.c.console: the same port as of board b in line 1; expected another "
		"one"},
	{NULL, NULL,
		"},\n\"c\": {\"model\": \"m\", \"console\": {\"driver\": \"pty\", \"path\": "
		"\"u2\"}, \"power\": {\"driver\": \"lcus\", \"port\": {\"driver\": \"pty\", "
		"\"path\": \"r\"}}",
		"f:5: boards.c.power: the same relay channel as of board b in line 1; expected "
		"another one"},
	{NULL, NULL,
		"},\n\"b c\": {\"model\": \"m\", \"console\": {\"driver\": \"pty\", \"path\": "
		"\"u2\"}, \"power\": {\"driver\": \"lcus\", \"channel\": 2, \"port\": "
		"{\"driver\": \"pty\", \"path\": \"r\"}}",
		"f:5: boards.b c: \"b c\" is no name of a board; expected 1 to 63 letters, digits, "
		"'.', '_' or '-', a letter or digit first"},
	{NULL, NULL, "},\n\"b\": {\"model\": \"m\"",
		"f:5: boards.b: duplicate key, first in line 1; expected each key once"},
};

START_TEST(every_mistake_in_a_lab_is_named)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[2048];
		struct lab *lab;
		int result;

		snprintf(text, sizeof(text),
			"{\"boards\": {\"b\": {\"model\": \"m\",\n\"console\": %s,\n\"power\": "
			"%s\n%s}}}",
			bad[i].console ? bad[i].console : "{\"driver\": \"pty\", \"path\": \"u\"}",
			bad[i].power ? bad[i].power
				     : "{\"driver\": \"lcus\", \"port\": {\"driver\": \"pty\", "
				       "\"path\": \"r\"}}",
			bad[i].more);
		result = lab_parse(&lab, "f", text, strlen(text));
		ck_assert_str_eq(lab_error(lab), bad[i].error);
		ck_assert_int_eq(result, -EINVAL);
		lab_close(lab);
	}
}
END_TEST

START_TEST(a_lab_without_boards_is_refused)
{
	struct lab *lab;

	ck_assert_int_eq(lab_parse(&lab, "f", "{}", 2), -EINVAL);
	ck_assert_str_eq(lab_error(lab), "f:1: key \"boards\" is missing; expected it in a lab");
	lab_close(lab);
	ck_assert_int_eq(lab_parse(&lab, "f", "{\"boards\": {}}", 14), -EINVAL);
	ck_assert_str_eq(lab_error(lab), "f:1: boards: is empty; expected 1 to 64 keys");
	lab_close(lab);
}
END_TEST

START_TEST(two_boards_may_share_a_relay_by_its_channels)
{
	static const char text[] =
		"{\"boards\": {\"a\": {\"model\": \"m\", \"console\": {\"driver\": \"pty\", "
		"\"path\": \"u1\"}, \"power\": {\"driver\": \"lcus\", \"channel\": 1, \"port\": "
		"{\"driver\": \"pty\", \"path\": \"r\"}}}, \"b\": {\"model\": \"m\", "
		"\"console\": {\"driver\": \"pty\", \"path\": \"u2\"}, \"power\": {\"driver\": "
		"\"lcus\", \"channel\": 2, \"port\": {\"driver\": \"pty\", \"path\": "
		"\"r\"}}}}}";
	struct lab *lab;

	ck_assert_msg(lab_parse(&lab, "f", text, sizeof(text) - 1) == 0, "%s", lab_error(lab));
	ck_assert_uint_eq(lab->board_count, 2);
	ck_assert_uint_eq(lab->boards[1].power.channel, 2);
	lab_close(lab);
}
END_TEST

START_TEST(the_lab_file_is_found_where_the_header_says)
{
	struct scratch scratch;
	struct lab *lab;
	char expected[512], config[128];

	scratch_init(&scratch);
	ck_assert_int_eq(chdir(scratch.dir), 0);
	unsetenv("SAMEBOARD_LAB");
	snprintf(config, sizeof(config), "%s/config", scratch.dir);
	setenv("XDG_CONFIG_HOME", config, 1);
	ck_assert_int_eq(lab_open(&lab, NULL), -ENOENT);
	snprintf(expected, sizeof(expected),
		"there is no lab file: $SAMEBOARD_LAB is not set, and neither ./lab.json nor "
		"%s/sameboard/lab.json exists; write one, or name it by --lab FILE",
		config);
	ck_assert_str_eq(lab_error(lab), expected);
	lab_close(lab);

	ck_assert_int_eq(mkdir("config", 0755), 0);
	ck_assert_int_eq(mkdir("config/sameboard", 0755), 0);
	scratch_write(&scratch, "config/sameboard/lab.json", whole, sizeof(whole) - 1);
	ck_assert_msg(lab_open(&lab, NULL) == 0, "%s", lab_error(lab));
	ck_assert_str_eq(lab->path, scratch.path);
	lab_close(lab);
	scratch_write(&scratch, "lab.json", whole, sizeof(whole) - 1);
	ck_assert_int_eq(lab_open(&lab, NULL), 0);
	ck_assert_str_eq(lab->path, "lab.json");
	lab_close(lab);
	setenv("SAMEBOARD_LAB", "gone.json", 1);
	ck_assert_int_eq(lab_open(&lab, NULL), -ENOENT);
	ck_assert_str_eq(lab_error(lab), "gone.json: cannot be read: No such file or directory");
	lab_close(lab);
	ck_assert_int_eq(lab_open(&lab, "lab.json"), 0);
	lab_close(lab);
	scratch_fini(&scratch);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab");
	TCase *tcase = tcase_create("lab");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, boards_are_read_into_the_configuration_of_their_drivers);
	tcase_add_test(tcase, a_board_is_found_by_name_or_the_error_says_what_there_is);
	tcase_add_test(tcase, every_mistake_in_a_lab_is_named);
	tcase_add_test(tcase, a_lab_without_boards_is_refused);
	tcase_add_test(tcase, two_boards_may_share_a_relay_by_its_channels);
	tcase_add_test(tcase, the_lab_file_is_found_where_the_header_says);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
