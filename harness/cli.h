/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: one table of commands, one of options; help is printed
 * from them, and a test holds man page and README against them.
 */
#ifndef SAMEBOARD_HARNESS_CLI_H
#define SAMEBOARD_HARNESS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/job.h"

/* Exit codes of the program. */
#define CLI_PASS  0
#define CLI_FAIL  1 /* a regression or a failed gate; panic, hang, no agent */
#define CLI_USAGE 2 /* wrong usage or configuration */
#define CLI_LAB	  3 /* relay, mux, card, adapter, disk, board */
#define CLI_BUSY  4 /* of `recover` alone: another process has the board */

#define CLI_SKIP 125 /* of `run --bisect`: the lab failed, ask again elsewhere */

#define CLI_SYSTEMS_MAX	  16
#define CLI_IMAGES_MAX	  8
#define CLI_ARGUMENTS_MAX 64

enum cli_format {
	CLI_FORMAT_NONE,
	CLI_FORMAT_HTML,
	CLI_FORMAT_MARKDOWN,
	CLI_FORMAT_LATEX,
	CLI_FORMAT_CSV,
	CLI_FORMAT_JSON,
};

struct cli {
	const char *lab;    /* NULL: where lab_open() looks */
	const char *board;  /* NULL: the only one of the lab */
	const char *db;	    /* never NULL after cli_parse() */
	const char *images; /* never NULL after cli_parse() */
	const char *systems[CLI_SYSTEMS_MAX];
	size_t system_count;
	unsigned repeat;	     /* 0: not given */
	unsigned limit;		     /* 0: not given */
	uint64_t seed;		     /* 1 if not given */
	const char *job;	     /* NULL: not given */
	const char *baseline;	     /* NULL: not given */
	const char *run;	     /* NULL: not given */
	const char *expect_medium;   /* NULL: not given */
	const char *rules;	     /* of the watcher, NULL: only the built-in ones */
	const char *socket;	     /* of the daemon; NULL: where client_open() looks */
	const char *client;	     /* name to queue under, NULL: the user's */
	enum cli_format format;	     /* of a report */
	const char *output;	     /* file instead of standard output, NULL: not given */
	const char *figures;	     /* folder for pictures, NULL: not given */
	const char *import;	     /* set of imported results, NULL: not given */
	const char *name, *citation; /* of what is imported, NULL: not given */
	const char *unit;	     /* of what is imported, NULL: as its format has it */
	unsigned report_fd;	     /* a worker's line to its daemon, 0: none */
	const char *sha256, *bmap;   /* of an image, NULL: not given */
	bool json, quiet, console, release, reference, raw, force, retry, bisect;
	const char *junit, *summary;		/* files for a CI system, NULL: not given */
	const char *suite;			/* of a history, NULL: any */
	const char *build;			/* command of a bisection, NULL: not given */
	struct job_image image[CLI_IMAGES_MAX]; /* of --image */
	size_t image_count;
	bool db_is_given, images_is_given; /* by option or environment */
	const char *arguments[CLI_ARGUMENTS_MAX];
	size_t argument_count;
	char command_line[512]; /* as typed, without the program's name */
	char db_path[512], images_path[512], systems_text[512], image_text[CLI_IMAGES_MAX][512];
};

struct cli_command {
	const char *name;
	const char *arguments; /* "SUITE", "[RUN...]" */
	const char *summary;
	const char *options; /* names of those it takes beside help, a space between them */
	size_t min_arguments, max_arguments;
	int (*execute)(struct cli *cli); /* an exit code */
};

/* Both end with a NULL name; the second are started by sameboardd. */
extern const struct cli_command cli_commands[], cli_internal_commands[];

/* Runs the program: parse, dispatch.  The exit code. */
int cli_main(int argc, char **argv);

/* The commands. */
int command_run(struct cli *cli);
int command_plan(struct cli *cli);
int command_list(struct cli *cli);
int command_show(struct cli *cli);
int command_compare(struct cli *cli);
int command_baseline(struct cli *cli);
int command_report(struct cli *cli);
int command_import(struct cli *cli);
int command_history(struct cli *cli);
int command_bisect(struct cli *cli);
int command_export(struct cli *cli);
int command_verify(struct cli *cli);
int command_gates(struct cli *cli);
int command_boards(struct cli *cli);
int command_power(struct cli *cli);
int command_sd(struct cli *cli);
int command_console(struct cli *cli);
int command_lab(struct cli *cli);
int command_doctor(struct cli *cli);
int command_wire(struct cli *cli);
int command_log(struct cli *cli);
int command_submit(struct cli *cli);
int command_watch(struct cli *cli);
int command_cancel(struct cli *cli);
int command_queue(struct cli *cli);
int command_work(struct cli *cli);
int command_recover(struct cli *cli);

/* "a,b" of --os into what plan and job take; NULL and 0 when not given. */
const char *const *cli_systems(const struct cli *cli, size_t *count);

/* Prints JSON with a newline and frees it; CLI_LAB without memory. */
struct cJSON;
int cli_print_json(struct cJSON *json);

#endif
