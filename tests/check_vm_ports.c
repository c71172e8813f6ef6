/* SPDX-License-Identifier: Apache-2.0 */
/* Real ttyUSB ports that may not be used, and a relay that is pulled under a job. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/case_table.h"
#include "tests/vm_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define POWER	     VM_RIG_SAMEBOARD " power vpanel %s --lab=lab.json"
#define STUDENT	     "SAMEBOARD_STATE=/tmp/student setpriv --reuid=1000 --regid=1000 "

static void expect_error(struct vm_rig *vm, const char *wanted)
{
	ck_assert_msg(strstr(vm->err, wanted) != NULL, "\"%s\" is not in: %s", wanted, vm->err);
}

START_TEST(a_port_is_found_by_identity_or_refused_with_a_reason)
{
	struct vm_rig vm;

	vm_rig_start(&vm, 16);
	vm_rig_write_lab(&vm, VM_RIG_CARD, "");
	vm_rig_plug_port(&vm, "console", "uart", "CONSOLE1");
	vm_rig_await_ports(&vm, "CONSOLE1");
	vm_rig_expect(&vm, 3, POWER, "on");
	expect_error(&vm, "no port fits usb 0403:6001 serial RELAY1");
	expect_error(&vm, "/dev/ttyUSB0 (0403:6001 CONSOLE1 ");
	vm_rig_plug_port(&vm, "relay", "relay", "RELAY1");
	vm_rig_await_ports(&vm, "RELAY1");
	vm_rig_expect(&vm, 0, POWER, "on");
	ck_assert(lab_rig_has_power(&vm.lab));
	vm_rig_expect(&vm, 0, POWER, "off");
	/* Each gets the other's number. */
	vm_rig_unplug_port(&vm, "console");
	vm_rig_unplug_port(&vm, "relay");
	vm_rig_expect(&vm, 0, "while ls /dev/ttyUSB*; do sleep 0.1; done");
	vm_rig_plug_port(&vm, "relay", "relay", "RELAY1");
	vm_rig_await_ports(&vm, "RELAY1");
	vm_rig_plug_port(&vm, "console", "uart", "CONSOLE1");
	vm_rig_await_ports(&vm, "CONSOLE1");
	vm_rig_expect(&vm, 0, POWER, "on");
	ck_assert(lab_rig_has_power(&vm.lab));
	vm_rig_expect(&vm, 0, POWER, "off");
	/* Who is in no group, and who is in the one that was named. */
	vm_rig_expect(&vm, 3, STUDENT "--clear-groups " POWER, "on");
	expect_error(&vm, "permission denied");
	expect_error(&vm, "dialout");
	expect_error(&vm, "60-sameboard.rules");
	vm_rig_expect(&vm, 0, STUDENT "--groups=20 " POWER, "status");
	/* Two with one identity. */
	vm_rig_plug_port(&vm, "twin", NULL, "RELAY1");
	vm_rig_expect(&vm, 0, "until [ -e /dev/ttyUSB2 ]; do sleep 0.1; done; udevadm settle");
	vm_rig_expect(&vm, 3, POWER, "on");
	expect_error(&vm, "two ports fit usb 0403:6001 serial RELAY1: /dev/ttyUSB");
	expect_error(&vm, "add what tells them apart");
	ck_assert(!lab_rig_has_power(&vm.lab));
	vm_rig_stop(&vm);
}
END_TEST

START_TEST(a_relay_that_is_pulled_under_a_job_is_the_labs_failure)
{
	struct vm_rig vm;

	vm_rig_start(&vm, 64);
	vm_rig_write_lab(&vm, VM_RIG_CARD, ", \"appear_ms\": 120000");
	vm_rig_plug_port(&vm, "relay", "relay", "RELAY1");
	vm_rig_plug_port(&vm, "console", "uart", "CONSOLE1");
	vm_rig_await_ports(&vm, "RELAY1 CONSOLE1");
	vm_rig_begin(&vm, VM_RIG_SAMEBOARD " run suite.json --lab=lab.json --db=/tmp/runs.db "
					   "--images=/src/build/images");
	vm_rig_await_word(&vm, "power on");
	vm_rig_unplug_port(&vm, "relay");
	ck_assert_msg(vm_rig_end(&vm) == 3, "%d: %s", vm.exit_code, vm.err);
	expect_error(&vm, "the adapter is gone");
	/* It comes back, and the board to rest. */
	vm_rig_plug_port(&vm, "relay", "relay", "RELAY1");
	vm_rig_await_ports(&vm, "RELAY1");
	vm_rig_expect(&vm, 0, POWER, "off");
	ck_assert(!lab_rig_has_power(&vm.lab));
	vm_rig_stop(&vm);
}
END_TEST

int main(void)
{
	const struct case_row rows[] = {
		{"identity", a_port_is_found_by_identity_or_refused_with_a_reason, 900},
		{"relay", a_relay_that_is_pulled_under_a_job_is_the_labs_failure, 900},
	};

	return case_table_run("vm_ports", rows, COUNT(rows));
}
