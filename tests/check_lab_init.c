/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/lab.h"
#include "harness/lab_init.h"

static struct lab_init found;

static void add_port(const char *path, int vendor, int product, const char *serial, const char *at)
{
	struct portmatch_candidate *port = &found.ports[found.port_count++];

	snprintf(port->path, sizeof(port->path), "%s", path);
	snprintf(port->serial, sizeof(port->serial), "%s", serial);
	snprintf(port->usb_path, sizeof(port->usb_path), "%s", at);
	port->is_usb = at[0] != '\0';
	port->vendor = vendor;
	port->product = product;
}

/* What was written can be read, and has one board. */
static struct lab *parse(const struct lab_board **board)
{
	char *text = lab_init_write(&found);
	struct lab *lab;

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(lab_parse(&lab, "lab.json", text, strlen(text)) == 0, "%s in\n%s",
		lab_error(lab), text);
	ck_assert_uint_eq(lab->board_count, 1);
	*board = &lab->boards[0];
	free(text);
	return lab;
}

START_TEST(an_empty_machine_gets_a_file_to_fill_in)
{
	const struct lab_board *board;
	struct lab *lab;

	memset(&found, 0, sizeof(found));
	lab = parse(&board);
	ck_assert_str_eq(board->console.path, "/dev/ttyS0");
	ck_assert_str_eq(board->power.driver, "command");
	ck_assert(!board->has_sdmux);
	lab_close(lab);
}
END_TEST

START_TEST(console_relay_mux_and_card_are_named_by_what_stays)
{
	const struct lab_board *board;
	struct lab *lab;

	memset(&found, 0, sizeof(found));
	add_port("/dev/ttyS0", 0, 0, "", "");
	add_port("/dev/ttyUSB0", 0x1a86, 0x7523, "", "pci-0000:00:14.0-usb-0:3:1.0");
	add_port("/dev/ttyUSB1", 0x0403, 0x6001, "A5", "pci-0000:00:14.0-usb-0:4:1.0");
	strcpy(found.muxes[found.mux_count++], "id-0042");
	strcpy(found.cards, "/dev/disk/by-id/usb-X-0:0 (8000 bytes)");
	strcpy(found.first_card, "/dev/disk/by-id/usb-X-0:0");
	lab = parse(&board);
	ck_assert_str_eq(board->console.usb, "0403:6001");
	ck_assert_str_eq(board->console.usb_serial, "A5");
	ck_assert_str_eq(board->power.driver, "lcus");
	ck_assert_str_eq(board->power.port.usb_path, "pci-0000:00:14.0-usb-0:3:1.0");
	ck_assert_str_eq(board->sdmux.device, "/dev/usb-sd-mux/id-0042");
	ck_assert_str_eq(board->card.device, "/dev/disk/by-id/usb-X-0:0");
	lab_close(lab);
}
END_TEST

START_TEST(two_adapters_alike_are_told_apart_by_where_they_are)
{
	const struct lab_board *board;
	struct lab *lab;

	memset(&found, 0, sizeof(found));
	add_port("/dev/ttyUSB0", 0x1a86, 0x7523, "0001", "pci-0000:00:14.0-usb-0:3:1.0");
	add_port("/dev/ttyUSB1", 0x1a86, 0x7523, "0001", "pci-0000:00:14.0-usb-0:4:1.0");
	lab = parse(&board);
	ck_assert_ptr_null(board->console.usb);
	ck_assert_str_eq(board->console.usb_path, "pci-0000:00:14.0-usb-0:3:1.0");
	ck_assert_str_eq(board->power.port.usb_path, "pci-0000:00:14.0-usb-0:4:1.0");
	lab_close(lab);
	found.has_hid_relay = true;
	lab = parse(&board);
	ck_assert_str_eq(board->power.driver, "dcthid");
	lab_close(lab);
}
END_TEST

START_TEST(words_of_adapters_do_not_break_the_file)
{
	const struct lab_board *board;
	struct lab *lab;

	memset(&found, 0, sizeof(found));
	add_port("/dev/ttyUSB0", 0x0403, 0x6001, "a\"b\\c\n*/ //\x80", "usb-0:1:1.0");
	strcpy(found.cards, "x\n\"y\" */");
	lab = parse(&board);
	ck_assert_str_eq(board->console.usb_serial, "a\"b\\c*/ //");
	lab_close(lab);
}
END_TEST

START_TEST(looking_around_harms_nobody)
{
	const struct lab_board *board;
	struct lab *lab;

	lab_init_find(&found);
	lab = parse(&board);
	lab_close(lab);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab_init");
	TCase *tcase = tcase_create("init");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, an_empty_machine_gets_a_file_to_fill_in);
	tcase_add_test(tcase, console_relay_mux_and_card_are_named_by_what_stays);
	tcase_add_test(tcase, two_adapters_alike_are_told_apart_by_where_they_are);
	tcase_add_test(tcase, words_of_adapters_do_not_break_the_file);
	tcase_add_test(tcase, looking_around_harms_nobody);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
