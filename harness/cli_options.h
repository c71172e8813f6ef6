/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of all commands, in the order in which help shows them.  A new one
 * is a row here, a member of struct cli, and its name in the lists of the commands
 * that take it.
 */
#ifndef SAMEBOARD_HARNESS_CLI_OPTIONS_H
#define SAMEBOARD_HARNESS_CLI_OPTIONS_H

#include "harness/cli.h"

enum cli_option_kind {
	OPTION_TEXT,
	OPTION_FLAG,
	OPTION_NUMBER, /* from 1 to max */
	OPTION_FORMAT, /* of a report: one of them at most */
	OPTION_CALL,
	OPTION_HELP, /* of every command */
};

struct cli_option {
	const char *name;
	const char *argument; /* NULL: it takes none */
	const char *help;
	enum cli_option_kind kind;
	union {
		size_t offset; /* in struct cli, of text, flag and number */
		enum cli_format format;
		int (*take)(struct cli *cli, const char *value);
	};
	uint64_t max;
};

extern const struct cli_option cli_options[]; /* ends with a NULL name */
#define CLI_OPTIONS_MAX 64

/* Whether it is in a list of names with a space between them. */
bool cli_option_is_of(const struct cli_option *option, const char *names);

/* 0, or -EINVAL with the reason logged.  The value is kept, not copied. */
int cli_option_take(const struct cli_option *option, struct cli *cli, const char *value);

#endif
