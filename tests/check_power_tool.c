/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power by other programs, and by DCT's HID relays. The programs are scripts on
 * a PATH of the test's own, which check what they are given; hidapi is replaced
 * by relays that answer as the device's protocol says.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <hidapi/hidapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boardctl/power.h"
#include "boardctl/sdmux.h"
#include "tests/scratch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct scratch scratch;

static void set_up(void)
{
	char path[512];

	scratch_init(&scratch);
	snprintf(path, sizeof(path), "%s:%s", scratch.dir, getenv("PATH"));
	ck_assert_int_eq(setenv("PATH", path, 1), 0);
	ck_assert_int_eq(setenv("STATE", scratch_path(&scratch, "state"), 1), 0);
	unsetenv("FAULT");
}

static void tear_down(void)
{
	scratch_fini(&scratch);
}

static void write_tool(const char *name, const char *body)
{
	char text[2048];

	snprintf(text, sizeof(text), "#!/bin/sh\nset -u\n%s\n", body);
	scratch_write(&scratch, name, text, strlen(text));
	ck_assert_int_eq(chmod(scratch_path(&scratch, name), 0755), 0);
}

/* ---------------------------------------------------------------- programs */

/* uhubctl as its manual and source print; with $FAULT what goes wrong. */
static const char uhubctl[] =
	"[ \"$1 $2 $3 $4\" = '-l 1-1.4 -p 2' ] || { echo \"asked $*\"; exit 90; }\n"
	"case ${FAULT-} in\n"
	"permission) echo 'No compatible devices detected! Permission denied.'; exit 1 ;;\n"
	"none) echo 'No compatible devices detected!'; exit 1 ;;\n"
	"wrong) echo 'usage: something else'; exit 0 ;;\n"
	"half) printf 'Current status for hub 1-1.4 [0424:9514]\\n  Port 2: 01'; exit 0 ;;\n"
	"late) exec sleep 20 ;;\n"
	"esac\n"
	"show() { echo 'Current status for hub 1-1.4 [0424:9514, USB 2.00, 5 ports, ppps]'\n"
	"  echo \"  Port 2: $1\"; }\n"
	"word() { [ \"$(cat \"$STATE\" 2>/dev/null)\" = on ] && echo '0100 power' || echo '0000 off'; }\n"
	"case $# in\n"
	"4) show \"$(word)\" ;;\n"
	"6) [ \"$5\" = -a ] || exit 91; show \"$(word)\"\n"
	"  case $6 in on|off) [ -n \"${STUCK-}\" ] || echo \"$6\" >\"$STATE\" ;; *) exit 92 ;; esac\n"
	"  echo 'Sent power request'; show \"$(word)\" ;;\n"
	"*) exit 93 ;;\n"
	"esac";

static const char command[] =
	"[ \"$1\" = 'panel; touch hacked' ] || { echo \"device $1\"; exit 90; }\n"
	"case ${FAULT-} in\n"
	"permission) echo 'open: Permission denied' >&2; exit 1 ;;\n"
	"none) exit 7 ;;\n"
	"wrong) echo ON; exit 0 ;;\n"
	"half) printf o; exit 0 ;;\n"
	"late) exec sleep 20 ;;\n"
	"esac\n"
	"case $2 in\n"
	"on|off) [ -n \"${STUCK-}\" ] || echo \"$2\" >\"$STATE\" ;;\n"
	"get) cat \"$STATE\" 2>/dev/null || echo off ;;\n"
	"*) exit 92 ;;\n"
	"esac";

static const struct {
	const char *name, *body;
	struct power_config config;
} tools[] = {
	{"uhubctl", uhubctl, {.driver = "uhubctl", .device = "1-1.4", .channel = 2}},
	{"switch", command,
		{.driver = "command", .command = "switch", .device = "panel; touch hacked"}},
};

static struct power_config make_config(size_t i)
{
	struct power_config config = tools[i].config;

	write_tool(tools[i].name, tools[i].body);
	config.answer_ms = 10000;
	config.off_ms = 1;
	return config;
}

START_TEST(a_program_switches_and_tells)
{
	struct power_config config = make_config((size_t)_i);
	struct power *power;
	bool on = true;

	ck_assert_msg(power_open(&power, &config) == 0, "%s", power_error(power));
	for (int wanted = 1; wanted >= 0; wanted--) {
		ck_assert_msg(power_set(power, wanted) == 0, "%s", power_error(power));
		ck_assert_int_eq(power_get(power, &on), 0);
		ck_assert_int_eq(on, wanted);
	}
	setenv("STUCK", "1", 1);
	ck_assert_int_eq(power_set(power, true), -EIO);
	ck_assert_ptr_nonnull(strstr(power_error(power), "still reports OFF"));
	power_close(power);
	unsetenv("STUCK");
	ck_assert_int_ne(access("hacked", F_OK), 0);
}
END_TEST

START_TEST(what_a_program_does_wrong_is_told)
{
	static const struct {
		const char *fault;
		int error;
		const char *says;
	} rows[] = {
		{"permission", -EACCES, "plugdev"},
		{"none", -EIO, "ended with"},
		{"wrong", -EPROTO, "was expected"},
		{"half", -EPROTO, "was expected"},
		{"late", -ETIMEDOUT, "was killed"},
	};
	struct power_config config = make_config((size_t)_i);
	struct power *power;

	for (size_t k = 0; k < COUNT(rows); k++) {
		int ret;

		setenv("FAULT", rows[k].fault, 1);
		config.answer_ms = strcmp(rows[k].fault, "late") == 0 ? 100 : 10000;
		ret = power_open(&power, &config);
		ck_assert_msg(ret == rows[k].error, "%s, %s: %d, %s", tools[_i].name, rows[k].fault,
			ret, power_error(power));
		ck_assert_msg(strstr(power_error(power), rows[k].says), "%s", power_error(power));
		power_close(power);
	}
	unsetenv("FAULT");
	/* Gone in the middle. */
	config.answer_ms = 10000;
	ck_assert_int_eq(power_open(&power, &config), 0);
	ck_assert_int_eq(unlink(scratch_path(&scratch, tools[_i].name)), 0);
	ck_assert_int_eq(power_set(power, false), -ENOENT);
	ck_assert_ptr_nonnull(strstr(power_error(power), "no such program"));
	power_close(power);
}
END_TEST

START_TEST(a_program_that_cannot_tell_is_believed)
{
	struct power_config config = make_config(1);
	struct power *power;
	bool on;

	config.silent = true;
	ck_assert_int_eq(power_open(&power, &config), 0);
	ck_assert_int_eq(power_set(power, true), 0);
	ck_assert_int_eq(power_get(power, &on), -ENOTSUP);
	ck_assert(on);
	power_close(power);
}
END_TEST

/* ------------------------------------------------------------------- muxes */

static const char sd_mux_ctrl[] =
	"[ $# = 3 ] && [ \"$1 $2\" = '-e sd-wire_01-84' ] || { echo \"asked $*\"; exit 90; }\n"
	"[ -z \"${FAULT-}\" ] || { echo \"$FAULT\"; exit 0; }\n"
	"case $3 in\n"
	"--dut) echo DUT >\"$STATE\" ;;\n"
	"--ts) echo TS >\"$STATE\" ;;\n"
	"--status) echo \"SD connected to: $(cat \"$STATE\")\" ;;\n"
	"*) exit 91 ;;\n"
	"esac";

static const char sdwire[] =
	"[ $# = 4 ] && [ \"$1 $2 $3\" = 'switch -s bdgrd_sdwirec_1' ] || { echo \"asked $*\"; exit 90; }\n"
	"case $4 in dut) echo DUT >\"$STATE\" ;; host) echo TS >\"$STATE\" ;; *) exit 91 ;; esac";

static const char any_mux[] = "case $# in 1) ;; *) exit 90 ;; esac\n"
			      "case $1 in\n"
			      "get) case $(cat \"$STATE\") in DUT) echo dut ;; TS) echo host ;; *) "
			      "echo off ;; esac ;;\n"
			      "dut) echo DUT >\"$STATE\" ;;\n"
			      "host) echo TS >\"$STATE\" ;;\n"
			      "off) echo off >\"$STATE\" ;;\n"
			      "*) exit 91 ;;\n"
			      "esac";

static const struct {
	const char *name, *body;
	struct sdmux_config config;
	bool tells, has_off;
} muxes[] = {
	{"sd-mux-ctrl", sd_mux_ctrl, {.driver = "sd-mux-ctrl", .device = "sd-wire_01-84"}, true,
		false},
	{"sdwire", sdwire, {.driver = "sdwire", .device = "bdgrd_sdwirec_1"}, false, false},
	{"my-mux", any_mux, {.driver = "command", .command = "my-mux"}, true, true},
};

static void check_state(const char *wanted)
{
	FILE *file = fopen(scratch_path(&scratch, "state"), "r");
	char text[16] = "";

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	ck_assert_str_eq(text, wanted);
}

START_TEST(each_mux_has_its_own_words)
{
	enum sdmux_position position;
	struct sdmux *mux;

	write_tool(muxes[_i].name, muxes[_i].body);
	ck_assert_int_eq(sdmux_open(&mux, &muxes[_i].config), 0);
	ck_assert_msg(sdmux_set(mux, SDMUX_POSITION_HOST) == 0, "%s", sdmux_error(mux));
	check_state("TS");
	ck_assert_int_eq(sdmux_get(mux, &position), muxes[_i].tells ? 0 : -ENOTSUP);
	if (muxes[_i].tells)
		ck_assert_int_eq(position, SDMUX_POSITION_HOST);
	ck_assert_msg(sdmux_set(mux, SDMUX_POSITION_OFF) == 0, "%s", sdmux_error(mux));
	check_state(muxes[_i].has_off ? "off" : "DUT");
	ck_assert_int_eq(sdmux_set(mux, SDMUX_POSITION_DUT), 0);
	check_state("DUT");
	sdmux_close(mux);
}
END_TEST

START_TEST(an_answer_that_is_no_position_is_told)
{
	static const char *const answers[] = {
		"SD connected to: T", "SD connected to:", "Unable to open ftdi device"};
	enum sdmux_position position;
	struct sdmux *mux;

	write_tool(muxes[0].name, muxes[0].body);
	ck_assert_int_eq(sdmux_open(&mux, &muxes[0].config), 0);
	for (size_t i = 0; i < COUNT(answers); i++) {
		setenv("FAULT", answers[i], 1);
		ck_assert_int_eq(sdmux_get(mux, &position), -EPROTO);
		ck_assert_ptr_nonnull(strstr(sdmux_error(mux), answers[i]));
	}
	sdmux_close(mux);
	unsetenv("FAULT");
}
END_TEST

/* --------------------------------------------------------------------- HID */

/* Two relays of USBRelay2 and a hobby device that shares their numbers. */
struct hid_device_ {
	const char *path, *id;
	unsigned char mask;
	bool is_open;
};

static struct {
	struct hid_device_ devices[3];
	size_t count;
	bool is_gone, is_stuck, leaves_number_out, is_half, is_locked;
} usb;

static void plug(const char *first, const char *second)
{
	memset(&usb, 0, sizeof(usb));
	usb.devices[0] = (struct hid_device_){.path = "/dev/hidraw90", .id = NULL};
	usb.devices[1] = (struct hid_device_){.path = "/dev/hidraw91", .id = first};
	usb.devices[2] = (struct hid_device_){.path = "/dev/hidraw92", .id = second};
	usb.count = second ? 3 : first ? 2 : 1;
}

struct hid_device_info *hid_enumerate(unsigned short vendor, unsigned short product)
{
	static struct hid_device_info list[3];
	static wchar_t relay[] = L"USBRelay2", hobby[] = L"LED matrix";

	ck_assert_uint_eq(vendor, 0x16c0);
	ck_assert_uint_eq(product, 0x05df);
	memset(list, 0, sizeof(list));
	for (size_t i = 0; i < usb.count; i++) {
		list[i].path = (char *)(uintptr_t)usb.devices[i].path;
		list[i].product_string = usb.devices[i].id ? relay : hobby;
		list[i].next = i + 1 < usb.count ? &list[i + 1] : NULL;
	}
	return list;
}

void hid_free_enumeration(struct hid_device_info *list)
{
	ck_assert_ptr_nonnull(list);
}

hid_device *hid_open_path(const char *path)
{
	for (size_t i = 0; i < usb.count; i++)
		if (strcmp(usb.devices[i].path, path) == 0 && !usb.is_locked) {
			ck_assert_msg(usb.devices[i].id != NULL, "a strange device was opened");
			usb.devices[i].is_open = true;
			return &usb.devices[i];
		}
	return NULL;
}

void hid_close(hid_device *device)
{
	ck_assert(device->is_open);
	device->is_open = false;
}

int hid_get_feature_report(hid_device *device, unsigned char *data, size_t size)
{
	unsigned char report[9] = {0};

	ck_assert_uint_eq(size, 9);
	ck_assert_uint_eq(data[0], 0);
	if (usb.is_gone)
		return -1;
	memcpy(report + 1, device->id, 5);
	report[8] = device->mask;
	if (usb.leaves_number_out)
		memcpy(data, report + 1, 8);
	else
		memcpy(data, report, 9);
	return usb.is_half ? 4 : usb.leaves_number_out ? 8 : 9;
}

int hid_send_feature_report(hid_device *device, const unsigned char *data, size_t size)
{
	ck_assert_uint_eq(size, 9);
	ck_assert_uint_eq(data[0], 0);
	if (usb.is_gone)
		return -1;
	ck_assert(data[1] == 0xff || data[1] == 0xfd);
	ck_assert(data[2] >= 1 && data[2] <= 2);
	if (!usb.is_stuck && data[1] == 0xff)
		device->mask |= (unsigned char)(1u << (data[2] - 1));
	else if (!usb.is_stuck)
		device->mask &= (unsigned char)~(1u << (data[2] - 1));
	return 9;
}

static const struct power_config dct = {.driver = "dcthid", .device = "BITFT", .off_ms = 1};

START_TEST(a_hid_relay_is_found_by_its_id_and_switched)
{
	struct power_config config = dct;
	struct power *power;
	bool on = false;

	plug("AFTER", "BITFT");
	usb.leaves_number_out = _i;
	config.channel = 2;
	ck_assert_msg(power_open(&power, &config) == 0, "%s", power_error(power));
	ck_assert_int_eq(power_set(power, true), 0);
	ck_assert_uint_eq(usb.devices[2].mask, 2);
	ck_assert_uint_eq(usb.devices[1].mask, 0);
	ck_assert_int_eq(power_get(power, &on), 0);
	ck_assert(on);
	ck_assert_int_eq(power_set(power, false), 0);
	ck_assert_uint_eq(usb.devices[2].mask, 0);
	usb.is_stuck = true;
	ck_assert_int_eq(power_set(power, true), -EIO);
	usb.is_gone = true;
	ck_assert_int_eq(power_set(power, false), -ENODEV);
	ck_assert_ptr_nonnull(strstr(power_error(power), "BITFT"));
	power_close(power);
	for (size_t i = 0; i < 3; i++)
		ck_assert(!usb.devices[i].is_open);
}
END_TEST

START_TEST(hid_relays_that_do_not_fit_are_told)
{
	struct power_config config = dct;
	struct power *power;

	plug("BITFT", "BITFT");
	ck_assert_int_eq(power_open(&power, &config), -ENOTUNIQ);
	ck_assert_ptr_nonnull(strstr(power_error(power), "same id"));
	power_close(power);
	plug("AFTER", NULL);
	ck_assert_int_eq(power_open(&power, &config), -ENOENT);
	ck_assert_ptr_nonnull(strstr(power_error(power), "present: AFTER"));
	power_close(power);
	config.device = NULL;
	ck_assert_int_eq(power_open(&power, &config), 0);
	power_close(power);
	config.channel = 3;
	ck_assert_int_eq(power_open(&power, &config), -EINVAL);
	ck_assert_ptr_nonnull(strstr(power_error(power), "2 channels"));
	power_close(power);
	config.channel = 0;
	usb.is_half = true;
	ck_assert_int_lt(power_open(&power, &config), 0);
	power_close(power);
	plug("AFTER", "BITFT");
	ck_assert_int_eq(power_open(&power, &config), -ENOTUNIQ);
	ck_assert_ptr_nonnull(strstr(power_error(power), "\"device\""));
	power_close(power);
	plug("BITFT", NULL);
	usb.is_locked = true;
	ck_assert_int_eq(power_open(&power, &config), -ENODEV);
	power_close(power);
	plug(NULL, NULL);
	ck_assert_int_eq(power_open(&power, &config), -ENOENT);
	ck_assert_ptr_nonnull(strstr(power_error(power), "present: none"));
	power_close(power);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("power_tool");
	TCase *tcase = tcase_create("tools");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_program_switches_and_tells, 0, (int)COUNT(tools));
	tcase_add_loop_test(tcase, what_a_program_does_wrong_is_told, 0, (int)COUNT(tools));
	tcase_add_test(tcase, a_program_that_cannot_tell_is_believed);
	tcase_add_loop_test(tcase, each_mux_has_its_own_words, 0, (int)COUNT(muxes));
	tcase_add_test(tcase, an_answer_that_is_no_position_is_told);
	tcase_add_loop_test(tcase, a_hid_relay_is_found_by_its_id_and_switched, 0, 2);
	tcase_add_test(tcase, hid_relays_that_do_not_fit_are_told);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
