/* SPDX-License-Identifier: Apache-2.0 */
/* Whole jobs over a lab's network: real ser2net and PDUDaemon in front of the virtual panel. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/case_table.h"
#include "tests/json_fields.h"
#include "tests/lab_rig.h"
#include "tests/server_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WAKE	     "{ \"bench\": \"wake.idle\", \"n\": 200 }"

/* The bytes of the LCUS relay that vboard has. */
#define RELAY_ON  "\\\\240\\\\001\\\\001\\\\242"
#define RELAY_OFF "\\\\240\\\\001\\\\000\\\\241"

/* A power switch of one's own: what it was told last, and the relay's bytes. */
static const char script[] = "#!/bin/sh\n"
			     "set -eu\n"
			     "cd \"$(dirname \"$0\")\"\n"
			     "exec <>board/relay && stty 9600 raw -echo\n"
			     "case $1:$2 in\n"
			     "panel:on) printf '\\240\\001\\001\\242' >&0 ;;\n"
			     "panel:off) printf '\\240\\001\\000\\241' >&0 ;;\n"
			     "panel:get) cat told 2>/dev/null || echo off; exit ;;\n"
			     "*) echo \"what is $*?\" >&2; exit 64 ;;\n"
			     "esac\n"
			     "echo \"$2\" >told\n";

static void use_pdudaemon(struct lab_rig *rig, struct server_rig *pdu, char *power, size_t size)
{
	char relay[300], on[512], off[512];

	snprintf(relay, sizeof(relay), "%s", scratch_path(&rig->scratch, "board/relay"));
	snprintf(on, sizeof(on),
		"exec <>%s && stty 9600 raw -echo && printf '" RELAY_ON "' >&0 # %%s", relay);
	snprintf(off, sizeof(off),
		"exec <>%s && stty 9600 raw -echo && printf '" RELAY_OFF "' >&0 # %%s", relay);
	server_rig_start_pdudaemon(pdu, &rig->scratch, on, off);
	snprintf(power, size,
		"\"driver\": \"pdudaemon\", \"url\": \"http://%s\", \"device\": \"rack\", "
		"\"channel\": 3, \"answer_ms\": 20000, \"off_ms\": 500",
		pdu->address);
}

static void use_command(struct lab_rig *rig, char *power, size_t size)
{
	const char *path = scratch_write(&rig->scratch, "switch", script, sizeof(script) - 1);

	ck_assert_int_eq(chmod(path, 0755), 0);
	snprintf(power, size,
		"\"driver\": \"command\", \"command\": \"./switch\", \"device\": \"panel\", "
		"\"answer_ms\": 20000, \"off_ms\": 500");
}

static const struct {
	const char *driver, *protocol;
	bool has_pdudaemon;
} rows[] = {
	{"rfc2217", "telnet(rfc2217),tcp", true},
	{"tcp", "tcp", false},
};

START_TEST(test_a_job_runs_over_ser2net_and_pdudaemon)
{
	struct lab_rig rigs[COUNT(rows)];
	struct server_rig uarts[COUNT(rows)], pdus[COUNT(rows)] = {{0}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char console[256], power[512], path[300];

		lab_rig_start(&rigs[i], NULL, 64);
		snprintf(path, sizeof(path), "%s", scratch_path(&rigs[i].scratch, "board/uart"));
		server_rig_start_ser2net(&uarts[i], &rigs[i].scratch, path, rows[i].protocol);
		snprintf(console, sizeof(console), "\"driver\": \"%s\", \"address\": \"%s\"",
			rows[i].driver, uarts[i].address);
		if (rows[i].has_pdudaemon)
			use_pdudaemon(&rigs[i], &pdus[i], power, sizeof(power));
		else
			use_command(&rigs[i], power, sizeof(power));
		lab_rig_use_wires(&rigs[i], console, power);
		lab_rig_begin(&rigs[i],
			(const char *[]){"run",
				lab_rig_write_suite(&rigs[i], "\"baremetal\"", WAKE, 1), NULL});
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		int exit_code = lab_rig_end(&rigs[i]);
		cJSON *show = lab_rig_show(&rigs[i]);

		ck_assert_msg(exit_code == 0, "%s: %d, %s: %s", rows[i].driver, exit_code,
			text_of(show, "reason"), rigs[i].err);
		ck_assert(!lab_rig_has_power(&rigs[i]));
		ck_assert_str_eq(text_of(show, "verdict"), "pass");
		cJSON_Delete(show);
		server_rig_stop(&uarts[i]);
		server_rig_stop(&pdus[i]);
		lab_rig_stop(&rigs[i]);
	}
}
END_TEST

int main(void)
{
	const struct case_row cases[] = {
		{"net", test_a_job_runs_over_ser2net_and_pdudaemon, 300},
	};

	return case_table_run("run_net", cases, COUNT(cases));
}
