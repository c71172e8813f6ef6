/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/log.h"
#include "harness/paths.h"
#include "harness/word.h"

const struct cli_command cli_commands[] = {
	{"run", "SUITE", "measure the systems of a suite on a board and compare them",
		"lbdiworsSCBtuykjqh", 1, 1, command_run},
	{"submit", "SUITE", "give the daemon a job and leave", "borsSCBjqh", 1, 1, command_submit},
	{"watch", "JOB", "follow a job of the daemon to its end", "Sjqh", 1, 1, command_watch},
	{"cancel", "JOB", "end a job; its board comes to rest", "Sjh", 1, 1, command_cancel},
	{"queue", "", "list what waits and what runs", "Sjh", 0, 0, command_queue},
	{"plan", "SUITE", "show what `run` would do, and how long it takes", "orsjh", 1, 1,
		command_plan},
	{"list", "", "list the runs that are stored, newest first", "donjh", 0, 0, command_list},
	{"show", "RUN", "show one run: facts, windows, gates with evidence", "dcjh", 1, 1,
		command_show},
	{"compare", "[RUN...]", "put systems side by side (default: the last job)", "dJBuyjh", 0,
		CLI_ARGUMENTS_MAX, command_compare},
	{"baseline", "[NAME [RUN...]]",
		"name runs to hold others against (default: the last job's), or list them", "dJjh",
		0, CLI_ARGUMENTS_MAX, command_baseline},
	{"report", "[RUN...]",
		"make a report of runs as HTML, Markdown, LaTeX, CSV or JSON (default: the last job)",
		"dJBpIHmxvOgjh", 0, CLI_ARGUMENTS_MAX, command_report},
	{"import", "[FILE]", "take results that others have measured, or list them", "dNTajh", 0, 1,
		command_import},
	{"history", "BENCH/STAT", "one row over all runs: its steps, and whether the newest fits",
		"dboGnjh", 1, 1, command_history},
	{"bisect", "GOOD BAD SUITE", "find the commit that made a system slower, by git bisect",
		"lbdioBPjqh", 3, 3, command_bisect},
	{"export", "RUN FILE", "write a run with all its evidence into one file", "djh", 2, 2,
		command_export},
	{"verify", "FILE", "judge a file of evidence again, without lab and database", "jh", 1, 1,
		command_verify},
	{"gates", "", "explain every validity gate", "jh", 0, 0, command_gates},
	{"boards", "[BOARD]", "list the boards of the lab file, who holds them, and their health",
		"ldEjh", 0, 1, command_boards},
	{"lab", "init", "write a lab file (--lab, lab.json) from what is plugged in", "lh", 1, 1,
		command_lab},
	{"power", "BOARD on|off|cycle|status", "switch a board's power", "ljqh", 2, 2,
		command_power},
	{"sd", "BOARD host|dut|off|status|write [IMAGE]",
		"move a board's card, or write an image to it", "lXKejqh", 2, 3, command_sd},
	{"console", "BOARD", "talk to a board, or watch it while a job runs", "lWqh", 1, 1,
		command_console},
	{"doctor", "BOARD", "prove each wire of a board, and say what to do", "lijqh", 1, 1,
		command_doctor},
	{"wire", "decode [FILE]", "explain a captured line: frames, text, damage, times", "dRjh", 1,
		2, command_wire},
	{"log", "classify FILE", "say how far a captured boot came, and what went wrong", "MUjh", 2,
		2, command_log},
	{NULL, NULL, NULL, NULL, 0, 0, NULL},
};

/* For programs: not in the list of commands. */
const struct cli_command cli_internal_commands[] = {
	{"work", "JOB", "work on a job of the queue (started by sameboardd)", "ldiFh", 1, 1,
		command_work},
	{"recover", "BOARD", "bring a board to rest after its job died (started by sameboardd)",
		"ldFh", 1, 1, command_recover},
	{NULL, NULL, NULL, NULL, 0, 0, NULL},
};

static const struct option_row {
	int letter; /* in the commands' lists; the short option where it is given below */
	const char *name;
	const char *argument;
	const char *help;
} option_rows[] = {
	{'l', "lab", "FILE",
		"lab file (default $SAMEBOARD_LAB, ./lab.json, ~/.config/sameboard/lab.json)"},
	{'b', "board", "NAME",
		"board of the lab file (default: the only one); of run, local is this machine"},
	{'d', "db", "FILE",
		"database (default $SAMEBOARD_DB, ~/.local/state/sameboard/sameboard.db)"},
	{'i', "images", "DIR",
		"images and their manifests (default $SAMEBOARD_IMAGES, `images` beside the program)"},
	{'o', "os", "LIST",
		"systems, separated by commas (default: those of the suite; of `list`: one, or all)"},
	{'r', "repeat", "N", "boots of each system (default: as the suite says)"},
	{'s', "seed", "N", "decides the order of systems (default 1)"},
	{'n', "limit", "N", "at most so many rows (default 20)"},
	{'J', "job", "JOB", "all runs of this job: an id, LAST or LAST~N"},
	{'B', "baseline", "NAME", "judge against these runs, or by the EXACT rule against one run"},
	{'c', "console", NULL, "print what the board said on its line, byte by byte"},
	{'R', "run", "RUN", "the stored line of this run instead of a file: an id, LAST or LAST~N"},
	{'M', "expect-medium", "WORD",
		"where firmware should read from: sd (default), emmc, nand, spi, usb, network, any"},
	{'U', "rules", "FILE", "the watcher's rules, tried before the built-in ones"},
	{'S', "socket", "PATH",
		"the daemon's (default $SAMEBOARD_SOCKET, sameboard.sock in $XDG_RUNTIME_DIR or the state folder)"},
	{'C', "client", "NAME", "queue under this name (default $SAMEBOARD_CLIENT)"},
	{'F', "report", "FD", "a socket of the daemon for progress and console"},
	{'E', "release", NULL, "end the board's quarantine"},
	{'X', "sha256", "HEX", "SHA-256 that IMAGE must have; required for an URL"},
	{'K', "bmap", "FILE", "block map of IMAGE: only its blocks are written"},
	{'e', "force", NULL, "write what does not look like an image of a card, too"},
	{'W', "raw", NULL, "print frames too, as they are on the line"},
	{'p', "reference", NULL, "the published figures that come with sameboard"},
	{'I', "import", "NAME", "results that were imported under this name"},
	{'H', "html", NULL, "one HTML file with its figures (default)"},
	{'m', "md", NULL, "Markdown"},
	{'x', "tex", NULL, "LaTeX tables"},
	{'v', "csv", NULL, "the rows alone, as CSV"},
	{'O', "output", "FILE", "write to this file (-o) instead of standard output"},
	{'g', "figures", "DIR", "write each figure as PDF and PNG into this folder"},
	{'N', "name", "NAME", "keep the results under this name (default: the file's)"},
	{'T', "citation", "TEXT", "who measured it and where it stands"},
	{'a', "unit", "UNIT", "of a histogram's values: ns, us or ms (default us)"},
	{'G', "suite", "NAME", "runs of this suite alone"},
	{'P', "build", "COMMAND", "builds the image of a commit (default: make)"},
	{'w', "image", "OS=FILE@SHA256", "this image of a system, and no other; may be repeated"},
	{'t', "retry", NULL, "measure suspects again, 5 boots, and fail where they show again"},
	{'u', "junit", "FILE", "write JUnit XML for a CI system"},
	{'y', "summary", "FILE", "write Markdown for a merge request"},
	{'k', "bisect", NULL, "end with 125 where the lab failed, for `git bisect run`"},
	{'j', "json", NULL, "print JSON"},
	{'q', "quiet", NULL, "no progress on stderr"},
	{'h', "help", NULL, "print this help"},
	{'V', "version", NULL, "print the version"},
};
#define LONG_OPTION 0x100 /* so that -o is not --os */
#define OPTION_ROWS (sizeof(option_rows) / sizeof(option_rows[0]))

/* ------------------------------------------------------------------- help */

static void print_options(const char *letters)
{
	log_result("\nOptions:\n");
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		const struct option_row *row = &option_rows[i];
		char left[40];

		if (letters && !strchr(letters, row->letter))
			continue;
		snprintf(left, sizeof(left), "--%s%s%s", row->name, row->argument ? "=" : "",
			row->argument ? row->argument : "");
		log_result("  %-16s %s\n", left, row->help);
	}
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
	print_options("hV");
	log_result("\n`sameboard COMMAND --help` shows the options of a command.\n"
		   "Exit codes: 0 passed; 1 a regression, a failed gate, panic, hang or no agent;\n"
		   "2 wrong usage or configuration; 3 the lab failed.\n");
	return CLI_PASS;
}

/* ------------------------------------------------------------------- parse */

static int parse_number(const char *name, const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || *number == 0 || *number > max) {
		log_error("--%s: \"%s\" is no number from 1 to %llu", name, text,
			(unsigned long long)max);
		return -EINVAL;
	}
	return 0;
}

static int parse_systems(struct cli *cli, const char *list)
{
	char *rest = cli->systems_text;
	char *word;

	if ((size_t)snprintf(rest, sizeof(cli->systems_text), "%s", list) >=
		sizeof(cli->systems_text)) {
		log_error("--os: the list is too long");
		return -EINVAL;
	}
	cli->system_count = 0;
	while ((word = strsep(&rest, ","))) {
		if (!*word || cli->system_count == CLI_SYSTEMS_MAX) {
			log_error("--os: \"%s\" is no list of 1 to %d systems like linux,baremetal",
				list, CLI_SYSTEMS_MAX);
			return -EINVAL;
		}
		for (size_t i = 0; i < cli->system_count; i++)
			if (strcmp(cli->systems[i], word) == 0) {
				log_error("--os: \"%s\" is named twice", word);
				return -EINVAL;
			}
		cli->systems[cli->system_count++] = word;
	}
	return 0;
}

/* "linux=out/linux.img@SHA256": the hash is asked for, so that it is the image that was meant. */
static int parse_image(struct cli *cli, const char *value)
{
	char *text = cli->image_text[cli->image_count], *equals, *at;

	if (cli->image_count == CLI_IMAGES_MAX) {
		log_error("--image: more than %d", CLI_IMAGES_MAX);
		return -EINVAL;
	}
	snprintf(text, sizeof(cli->image_text[0]), "%s", value);
	equals = strchr(text, '=');
	at = strrchr(text, '@');
	if (strlen(value) >= sizeof(cli->image_text[0]) || !equals || equals == text || !at ||
		at < equals + 2 || !word_is_hex(at + 1, 64)) {
		log_error("--image: \"%.200s\" is not OS=FILE@SHA256, with 64 hexadecimal digits",
			value);
		return -EINVAL;
	}
	*equals = *at = '\0';
	cli->image[cli->image_count++] =
		(struct job_image){.system = text, .path = equals + 1, .sha256 = at + 1};
	return 0;
}

static int take_format(struct cli *cli, enum cli_format format)
{
	if (cli->format == CLI_FORMAT_NONE || cli->format == format) {
		cli->format = format;
		return 0;
	}
	log_error("a report has one format: of --html, --md, --tex, --csv and --json one");
	return -EINVAL;
}

static int take_option(struct cli *cli, int letter, const char *value)
{
	uint64_t number;

	switch (letter) {
	case 'l':
		cli->lab = value;
		return 0;
	case 'b':
		cli->board = value;
		return 0;
	case 'd':
		cli->db = value;
		cli->db_is_given = true;
		return 0;
	case 'i':
		cli->images = value;
		cli->images_is_given = true;
		return 0;
	case 'o':
		return parse_systems(cli, value);
	case 'r':
		if (parse_number("repeat", value, 1000, &number) != 0)
			return -EINVAL;
		cli->repeat = (unsigned)number;
		return 0;
	case 'n':
		if (parse_number("limit", value, 1000000, &number) != 0)
			return -EINVAL;
		cli->limit = (unsigned)number;
		return 0;
	case 's':
		return parse_number("seed", value, UINT64_MAX / 2, &cli->seed);
	case 'J':
		cli->job = value;
		return 0;
	case 'B':
		cli->baseline = value;
		return 0;
	case 'R':
		cli->run = value;
		return 0;
	case 'M':
		cli->expect_medium = value;
		return 0;
	case 'U':
		cli->rules = value;
		return 0;
	case 'S':
		cli->socket = value;
		return 0;
	case 'C':
		cli->client = value;
		return 0;
	case 'F':
		if (parse_number("report", value, 65535, &number) != 0)
			return -EINVAL;
		cli->report_fd = (int)number;
		return 0;
	case 'G':
		cli->suite = value;
		return 0;
	case 'P':
		cli->build = value;
		return 0;
	case 'w':
		return parse_image(cli, value);
	case 't':
		cli->retry = true;
		return 0;
	case 'u':
		cli->junit = value;
		return 0;
	case 'y':
		cli->summary = value;
		return 0;
	case 'k':
		cli->bisect = true;
		return 0;
	case 'p':
		cli->reference = true;
		return 0;
	case 'I':
		cli->import = value;
		return 0;
	case 'H':
		return take_format(cli, CLI_FORMAT_HTML);
	case 'm':
		return take_format(cli, CLI_FORMAT_MARKDOWN);
	case 'x':
		return take_format(cli, CLI_FORMAT_LATEX);
	case 'v':
		return take_format(cli, CLI_FORMAT_CSV);
	case 'O':
		cli->output = value;
		return 0;
	case 'g':
		cli->figures = value;
		return 0;
	case 'N':
		cli->name = value;
		return 0;
	case 'T':
		cli->citation = value;
		return 0;
	case 'a':
		cli->unit = value;
		return 0;
	case 'E':
		cli->release = true;
		return 0;
	case 'j':
		cli->json = true;
		return 0;
	case 'X':
		cli->sha256 = value;
		return 0;
	case 'K':
		cli->bmap = value;
		return 0;
	case 'e':
		cli->force = true;
		return 0;
	case 'W':
		cli->raw = true;
		return 0;
	case 'c':
		cli->console = true;
		return 0;
	case 'q':
		cli->quiet = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static void set_defaults(struct cli *cli)
{
	*cli = (struct cli){.seed = 1};
	cli->images = getenv("SAMEBOARD_IMAGES");
	cli->images_is_given = cli->images && *cli->images;
	if (!cli->images_is_given) {
		paths_beside_program("images", cli->images_path, sizeof(cli->images_path));
		cli->images = cli->images_path;
	}
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

/* 0, or an exit code + 1 where the program ends here. */
static int parse_options(struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
	struct option options[OPTION_ROWS + 1] = {0};
	size_t count = 0;
	int letter;

	for (size_t i = 0; i < OPTION_ROWS; i++)
		if (strchr(command->options, option_rows[i].letter))
			options[count++] = (struct option){option_rows[i].name,
				option_rows[i].argument ? required_argument : no_argument, NULL,
				LONG_OPTION | option_rows[i].letter};
	opterr = 0;
	optind = 2;
	while ((letter = getopt_long(argc, argv, strchr(command->options, 'O') ? ":ho:" : ":h",
			options, NULL)) != -1) {
		letter = letter == 'o' ? 'O' : letter & ~LONG_OPTION;
		if (letter == 'h')
			return print_help(command) + 1;
		if (letter == ':' || letter == '?') {
			log_error("%s: %s %s; see `sameboard %s --help`", command->name,
				letter == ':' ? "no value for" : "unknown option", argv[optind - 1],
				command->name);
			return CLI_USAGE + 1;
		}
		if (take_option(cli, letter, optarg) != 0)
			return CLI_USAGE + 1;
	}
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
	struct cli cli;
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
	set_defaults(&cli);
	keep_command_line(&cli, argc, argv);
	rc = parse_options(&cli, command, argc, argv);
	if (rc != 0)
		return rc - 1;
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
