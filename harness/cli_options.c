/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli_options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/log.h"
#include "harness/word.h"

/* --------------------------------------------------------- values of their own */

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

static int take_systems(struct cli *cli, const char *list)
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
static int take_image(struct cli *cli, const char *value)
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

static int take_seed(struct cli *cli, const char *value)
{
	return parse_number("seed", value, UINT64_MAX / 2, &cli->seed);
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

/* ------------------------------------------------------------------- the table */

#define TEXT(member) .kind = OPTION_TEXT, .offset = offsetof(struct cli, member)
#define FLAG(member) .kind = OPTION_FLAG, .offset = offsetof(struct cli, member)
#define NUMBER(member, top)                                                                        \
	.kind = OPTION_NUMBER, .offset = offsetof(struct cli, member), .max = top
#define FORMAT(word)   .kind = OPTION_FORMAT, .format = CLI_FORMAT_##word
#define CALL(function) .kind = OPTION_CALL, .take = function

const struct cli_option cli_options[] = {
	{"lab", "FILE",
		"lab file (default $SAMEBOARD_LAB, ./lab.json, ~/.config/sameboard/lab.json)",
		TEXT(lab)},
	{"board", "NAME",
		"board of the lab file (default: the only one); of run, local is this machine",
		TEXT(board)},
	{"db", "FILE", "database (default $SAMEBOARD_DB, ~/.local/state/sameboard/sameboard.db)",
		TEXT(db)},
	{"images", "DIR",
		"images and their manifests (default $SAMEBOARD_IMAGES, `images` beside the program)",
		TEXT(images)},
	{"os", "LIST",
		"systems, separated by commas (default: those of the suite; of `list`: one, or all)",
		CALL(take_systems)},
	{"repeat", "N", "boots of each system (default: as the suite says)", NUMBER(repeat, 1000)},
	{"seed", "N", "decides the order of systems (default 1)", CALL(take_seed)},
	{"limit", "N", "at most so many rows (default 20)", NUMBER(limit, 1000000)},
	{"job", "JOB", "all runs of this job: an id, LAST or LAST~N", TEXT(job)},
	{"baseline", "NAME", "judge against these runs, or by the EXACT rule against one run",
		TEXT(baseline)},
	{"console", NULL, "print what the board said on its line, byte by byte", FLAG(console)},
	{"run", "RUN", "the stored line of this run instead of a file: an id, LAST or LAST~N",
		TEXT(run)},
	{"expect-medium", "WORD",
		"where firmware should read from: sd (default), emmc, nand, spi, usb, network, any",
		TEXT(expect_medium)},
	{"rules", "FILE", "the watcher's rules, tried before the built-in ones", TEXT(rules)},
	{"socket", "PATH",
		"the daemon's (default $SAMEBOARD_SOCKET, sameboard.sock in $XDG_RUNTIME_DIR or the state folder)",
		TEXT(socket)},
	{"client", "NAME", "queue under this name (default $SAMEBOARD_CLIENT)", TEXT(client)},
	{"report", "FD", "a socket of the daemon for progress and console",
		NUMBER(report_fd, 65535)},
	{"release", NULL, "end the board's quarantine", FLAG(release)},
	{"sha256", "HEX", "SHA-256 that IMAGE must have; required for an URL", TEXT(sha256)},
	{"bmap", "FILE", "block map of IMAGE: only its blocks are written", TEXT(bmap)},
	{"force", NULL, "write what does not look like an image of a card, too", FLAG(force)},
	{"raw", NULL, "print frames too, as they are on the line", FLAG(raw)},
	{"reference", NULL, "the published figures that come with sameboard", FLAG(reference)},
	{"import", "NAME", "results that were imported under this name", TEXT(import)},
	{"html", NULL, "one HTML file with its figures (default)", FORMAT(HTML)},
	{"md", NULL, "Markdown", FORMAT(MARKDOWN)},
	{"tex", NULL, "LaTeX tables", FORMAT(LATEX)},
	{"csv", NULL, "the rows alone, as CSV", FORMAT(CSV)},
	{"output", "FILE", "write to this file (-o) instead of standard output", TEXT(output)},
	{"figures", "DIR", "write each figure as PDF and PNG into this folder", TEXT(figures)},
	{"name", "NAME", "keep the results under this name (default: the file's)", TEXT(name)},
	{"citation", "TEXT", "who measured it and where it stands", TEXT(citation)},
	{"unit", "UNIT", "of a histogram's values: ns, us or ms (default us)", TEXT(unit)},
	{"suite", "NAME", "runs of this suite alone", TEXT(suite)},
	{"build", "COMMAND", "builds the image of a commit (default: make)", TEXT(build)},
	{"image", "OS=FILE@SHA256", "this image of a system, and no other; may be repeated",
		CALL(take_image)},
	{"retry", NULL, "measure suspects again, 5 boots, and fail where they show again",
		FLAG(retry)},
	{"junit", "FILE", "write JUnit XML for a CI system", TEXT(junit)},
	{"summary", "FILE", "write Markdown for a merge request", TEXT(summary)},
	{"bisect", NULL, "end with 125 where the lab failed, for `git bisect run`", FLAG(bisect)},
	{"json", NULL, "print JSON", FLAG(json)},
	{"quiet", NULL, "no progress on stderr", FLAG(quiet)},
	{"help", NULL, "print this help", .kind = OPTION_HELP},
	{.name = NULL},
};

bool cli_option_is_of(const struct cli_option *option, const char *names)
{
	size_t length = strlen(option->name);

	if (option->kind == OPTION_HELP)
		return true;
	for (const char *at = names; (at = strstr(at, option->name)); at += length)
		if ((at == names || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

static void *find_member(struct cli *cli, const struct cli_option *option)
{
	return (char *)cli + option->offset;
}

int cli_option_take(const struct cli_option *option, struct cli *cli, const char *value)
{
	uint64_t number;

	if (value && !*value) {
		log_error("--%s: no value", option->name);
		return -EINVAL;
	}
	switch (option->kind) {
	case OPTION_TEXT:
		*(const char **)find_member(cli, option) = value;
		return 0;
	case OPTION_FLAG:
		*(bool *)find_member(cli, option) = true;
		return 0;
	case OPTION_NUMBER:
		if (parse_number(option->name, value, option->max, &number) != 0)
			return -EINVAL;
		*(unsigned *)find_member(cli, option) = (unsigned)number;
		return 0;
	case OPTION_FORMAT:
		return take_format(cli, option->format);
	case OPTION_CALL:
		return option->take(cli, value);
	case OPTION_HELP:
		break;
	}
	return -EINVAL;
}
