/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli_options.h"
#include "harness/log.h"
#include "harness/paths.h"

const struct cli_command cli_commands[] = {
	{"run", "SUITE", "measure the systems of a suite on a board and compare them",
		"lab board db images image os repeat seed socket client baseline retry junit summary bisect json quiet",
		1, 1, command_run},
	{"submit", "SUITE", "give the daemon a job and leave",
		"board os repeat seed socket client baseline json quiet", 1, 1, command_submit},
	{"watch", "JOB", "follow a job of the daemon to its end", "socket json quiet", 1, 1,
		command_watch},
	{"cancel", "JOB", "end a job; its board comes to rest", "socket json", 1, 1,
		command_cancel},
	{"queue", "", "list what waits and what runs", "socket json", 0, 0, command_queue},
	{"plan", "SUITE", "show what `run` would do, and how long it takes",
		"images os repeat seed json", 1, 1, command_plan},
	{"list", "", "list the runs that are stored, newest first", "db os limit json", 0, 0,
		command_list},
	{"show", "RUN", "show one run: facts, windows, gates with evidence", "db console json", 1,
		1, command_show},
	{"compare", "[RUN...]", "put systems side by side (default: the last job)",
		"db job baseline junit summary json", 0, CLI_ARGUMENTS_MAX, command_compare},
	{"baseline", "[NAME [RUN...]]",
		"name runs to hold others against (default: the last job's), or list them",
		"db job json", 0, CLI_ARGUMENTS_MAX, command_baseline},
	{"report", "[RUN...]",
		"make a report of runs as HTML, Markdown, LaTeX, CSV or JSON (default: the last job)",
		"db job baseline reference import html md tex csv output figures json", 0,
		CLI_ARGUMENTS_MAX, command_report},
	{"import", "[FILE]", "take results that others have measured, or list them",
		"db name citation unit json", 0, 1, command_import},
	{"history", "BENCH/STAT", "one row over all runs: its steps, and whether the newest fits",
		"db board os suite limit json", 1, 1, command_history},
	{"bisect", "GOOD BAD SUITE", "find the commit that made a system slower, by git bisect",
		"lab board db images os baseline build json quiet", 3, 3, command_bisect},
	{"export", "RUN FILE", "write a run with all its evidence into one file", "db json", 2, 2,
		command_export},
	{"verify", "FILE", "judge a file of evidence again, without lab and database", "json", 1, 1,
		command_verify},
	{"gates", "", "explain every validity gate", "json", 0, 0, command_gates},
	{"boards", "[BOARD]", "list the boards of the lab file, who holds them, and their health",
		"lab db release json", 0, 1, command_boards},
	{"lab", "init", "write a lab file (--lab, lab.json) from what is plugged in", "lab", 1, 1,
		command_lab},
	{"power", "BOARD on|off|cycle|status", "switch a board's power", "lab json quiet", 2, 2,
		command_power},
	{"sd", "BOARD host|dut|off|status|write [IMAGE]",
		"move a board's card, or write an image to it", "lab sha256 bmap force json quiet",
		2, 3, command_sd},
	{"console", "BOARD", "talk to a board, or watch it while a job runs", "lab raw quiet", 1, 1,
		command_console},
	{"doctor", "BOARD", "prove each wire of a board, and say what to do",
		"lab images json quiet", 1, 1, command_doctor},
	{"wire", "decode [FILE]", "explain a captured line: frames, text, damage, times",
		"db run json", 1, 2, command_wire},
	{"log", "classify FILE", "say how far a captured boot came, and what went wrong",
		"expect-medium rules json", 2, 2, command_log},
	{NULL, NULL, NULL, NULL, 0, 0, NULL},
};

/* For programs: not in the list of commands. */
const struct cli_command cli_internal_commands[] = {
	{"work", "JOB", "work on a job of the queue (started by sameboardd)",
		"lab db images report", 1, 1, command_work},
	{"recover", "BOARD", "bring a board to rest after its job died (started by sameboardd)",
		"lab db report", 1, 1, command_recover},
	{NULL, NULL, NULL, NULL, 0, 0, NULL},
};

/* ------------------------------------------------------------------- help */

static void print_option(const struct cli_option *option)
{
	char left[40];

	snprintf(left, sizeof(left), "--%s%s%s", option->name, option->argument ? "=" : "",
		option->argument ? option->argument : "");
	log_result("  %-16s %s\n", left, option->help);
}

static void print_options(const char *names)
{
	log_result("\nOptions:\n");
	for (const struct cli_option *option = cli_options; option->name; option++)
		if (cli_option_is_of(option, names))
			print_option(option);
}

static int print_help(const struct cli_command *command)
{
	if (command) {
		log_result("usage: sameboard %s [OPTION...]%s%s\n\n%s\n", command->name,
			command->arguments[0] ? " " : "", command->arguments, command->summary);
		print_options(command->options);
		return CLI_PASS;
	}
	log_result("usage: sameboard COMMAND [OPTION...] [ARGUMENT...]\n\n"
		   "What does each operating system really cost on the same board?\n\nCommands:\n");
	for (command = cli_commands; command->name; command++)
		log_result("  %-9s %s\n", command->name, command->summary);
	print_options("");
	log_result("  %-16s %s\n", "--version", "print the version");
	log_result("\n`sameboard COMMAND --help` shows the options of a command.\n"
		   "Exit codes: 0 passed; 1 a regression, a failed gate, panic, hang or no agent;\n"
		   "2 wrong usage or configuration; 3 the lab failed.\n");
	return CLI_PASS;
}

/* ------------------------------------------------------------------- parse */

static void set_defaults(struct cli *cli)
{
	if (!cli->images)
		cli->images = getenv("SAMEBOARD_IMAGES");
	cli->images_is_given = cli->images && *cli->images;
	if (!cli->images_is_given) {
		paths_beside_program("images", cli->images_path, sizeof(cli->images_path));
		cli->images = cli->images_path;
	}
	if (!cli->db)
		cli->db = getenv("SAMEBOARD_DB");
	cli->db_is_given = cli->db && *cli->db;
	if (cli->db_is_given)
		return;
	if (paths_state_file("sameboard.db", cli->db_path, sizeof(cli->db_path)) != 0)
		cli->db_path[0] = '\0'; /* opening it fails and says so */
	cli->db = cli->db_path;
}

static void keep_command_line(struct cli *cli, int argc, char **argv)
{
	size_t used = 0;

	for (int i = 1; i < argc && used + 1 < sizeof(cli->command_line); i++)
		used += (size_t)snprintf(cli->command_line + used, sizeof(cli->command_line) - used,
			"%s%s", i > 1 ? " " : "", argv[i]);
}

static int complain(const struct cli_command *command, const char *what, const char *word)
{
	log_error("%s: %s %s; see `sameboard %s --help`", command->name, what, word, command->name);
	return CLI_USAGE + 1;
}

/* 0, or an exit code + 1 where the program ends here. */
static int parse_options(struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
	struct option options[CLI_OPTIONS_MAX] = {0};
	const struct cli_option *rows[CLI_OPTIONS_MAX];
	int count = 0, output = -1, chosen, rc;

	for (const struct cli_option *row = cli_options; row->name; row++) {
		if (!cli_option_is_of(row, command->options))
			continue;
		if (strcmp(row->name, "output") == 0)
			output = count;
		rows[count] = row;
		options[count++] = (struct option){
			row->name, row->argument ? required_argument : no_argument, NULL, 0};
	}
	opterr = 0;
	optind = 2;
	while ((rc = getopt_long(argc, argv, output >= 0 ? ":ho:" : ":h", options, &chosen)) !=
		-1) {
		if (rc == ':' || rc == '?')
			return complain(command, rc == ':' ? "no value for" : "unknown option",
				argv[optind - 1]);
		if (rc == 'o')
			chosen = output;
		if (rc == 'h' || rows[chosen]->kind == OPTION_HELP)
			return print_help(command) + 1;
		if (cli_option_take(rows[chosen], cli, optarg) != 0)
			return CLI_USAGE + 1;
	}
	return 0;
}

/* The same. */
static int parse_arguments(
	struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
	for (; optind < argc; optind++) {
		if (cli->argument_count == CLI_ARGUMENTS_MAX) {
			log_error("%s: more than %d arguments", command->name, CLI_ARGUMENTS_MAX);
			return CLI_USAGE + 1;
		}
		cli->arguments[cli->argument_count++] = argv[optind];
	}
	if (cli->argument_count < command->min_arguments ||
		cli->argument_count > command->max_arguments) {
		log_error("usage: sameboard %s [OPTION...]%s%s", command->name,
			command->arguments[0] ? " " : "", command->arguments);
		return CLI_USAGE + 1;
	}
	return 0;
}

static const struct cli_command *find_command(const struct cli_command *command, const char *name)
{
	for (; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

int cli_main(int argc, char **argv)
{
	const struct cli_command *command;
	struct cli cli = {.seed = 1};
	int rc;

	if (argc < 2) {
		log_error("no command; see `sameboard --help`");
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		strcmp(argv[1], "help") == 0)
		return print_help(NULL);
	if (strcmp(argv[1], "--version") == 0) {
		log_result("sameboard %s\n", SAMEBOARD_VERSION);
		return CLI_PASS;
	}
	command = find_command(cli_commands, argv[1]);
	if (!command)
		command = find_command(cli_internal_commands, argv[1]);
	if (!command) {
		log_error("unknown command \"%s\"; see `sameboard --help`", argv[1]);
		return CLI_USAGE;
	}
	keep_command_line(&cli, argc, argv);
	rc = parse_options(&cli, command, argc, argv);
	if (rc == 0)
		rc = parse_arguments(&cli, command, argc, argv);
	if (rc != 0)
		return rc - 1;
	set_defaults(&cli);
	log_set_quiet(cli.quiet);
	rc = command->execute(&cli);
	if (log_flush() == -EIO) {
		log_error("cannot write to standard output: %s", strerror(errno));
		return rc > CLI_LAB ? rc : CLI_LAB;
	}
	return rc;
}

const char *const *cli_systems(const struct cli *cli, size_t *count)
{
	*count = cli->system_count;
	return cli->system_count ? cli->systems : NULL;
}

int cli_print_json(cJSON *json)
{
	char *text = cJSON_Print(json);

	cJSON_Delete(json);
	if (!text) {
		log_error("out of memory");
		return CLI_LAB;
	}
	log_result("%s\n", text);
	cJSON_free(text);
	return CLI_PASS;
}
