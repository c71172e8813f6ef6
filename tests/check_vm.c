/* SPDX-License-Identifier: Apache-2.0 */
/* A lab in a virtual machine: whole jobs over real ttyUSB ports and a real card reader. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/case_table.h"
#include "tests/json_fields.h"
#include "tests/vm_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define RUN                                                                                        \
	VM_RIG_SAMEBOARD                                                                           \
	" run suite.json --lab=lab.json --db=/tmp/runs.db --images=/src/build/images"

/* The relay comes first, so that the numbers are not those of the lab file's order. */
static void plug_in(struct vm_rig *vm)
{
	vm_rig_write_lab(vm, VM_RIG_CARD, ", \"appear_ms\": 120000");
	vm_rig_plug_port(vm, "relay", "relay", "RELAY1");
	vm_rig_await_ports(vm, "RELAY1");
	vm_rig_plug_port(vm, "console", "uart", "CONSOLE1");
	vm_rig_await_ports(vm, "CONSOLE1");
	vm_rig_expect(vm, 0,
		"readlink /dev/serial/by-id/*_RELAY1-* && readlink /dev/serial/by-id/*_CONSOLE1-*");
	ck_assert_str_eq(vm->out, "../../ttyUSB0\n../../ttyUSB1\n");
}

/* The run that ended, as it was stored. */
static cJSON *show(struct vm_rig *vm)
{
	cJSON *json;

	vm_rig_expect(vm, 0, VM_RIG_SAMEBOARD " show LAST --json --db=/tmp/runs.db");
	json = cJSON_Parse(vm->out);
	ck_assert_ptr_nonnull(json);
	return json;
}

START_TEST(vm_lab_runs_a_full_job)
{
	struct vm_rig vm;
	cJSON *json;

	vm_rig_start(&vm, 64);
	plug_in(&vm);
	/* Our udev rules: who may open a port, and that an FTDI adapter does not wait. */
	vm_rig_expect(&vm, 0, "stat -c '%%a %%G' /dev/ttyUSB0 /dev/ttyUSB1");
	ck_assert_str_eq(vm.out, "660 dialout\n660 dialout\n");
	vm_rig_expect(&vm, 0, "cat /sys/bus/usb-serial/devices/*/latency_timer");
	ck_assert_str_eq(vm.out, "1\n1\n");
	vm_rig_expect(&vm, 0, RUN);
	json = show(&vm);
	ck_assert_str_eq(text_of(json, "verdict"), "pass");
	ck_assert_ptr_null(strstr(vm.out, "came back"));
	cJSON_Delete(json);
	ck_assert(!lab_rig_has_power(&vm.lab));
	ck_assert(!vm.has_card);
	vm_rig_stop(&vm);
}
END_TEST

START_TEST(a_console_that_is_pulled_and_comes_back_costs_no_run)
{
	struct vm_rig vm;
	cJSON *json;

	vm_rig_start(&vm, 64);
	plug_in(&vm);
	vm_rig_begin(&vm, RUN);
	/* The board measures, and says nothing for some twenty seconds. */
	vm_rig_await_word(&vm, "clock.audit, ");
	vm_rig_unplug_port(&vm, "console");
	vm_rig_plug_port(&vm, "console", "uart", "CONSOLE1");
	ck_assert_msg(vm_rig_end(&vm) == 0, "%d: %s", vm.exit_code, vm.err);
	json = show(&vm);
	ck_assert_str_eq(text_of(json, "verdict"), "pass");
	ck_assert_ptr_nonnull(strstr(vm.out, "the port went away and came back 1 times"));
	cJSON_Delete(json);
	ck_assert(!lab_rig_has_power(&vm.lab));
	vm_rig_stop(&vm);
}
END_TEST

int main(void)
{
	const struct case_row rows[] = {
		{"job", vm_lab_runs_a_full_job, 900},
		{"console", a_console_that_is_pulled_and_comes_back_costs_no_run, 900},
	};

	return case_table_run("vm", rows, COUNT(rows));
}
