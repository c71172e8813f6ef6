/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard lab init */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli.h"
#include "harness/lab_init.h"
#include "harness/log.h"

/* Never over a file that is there. */
static int write_file(const char *path, const char *text)
{
	size_t size = strlen(text);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int error;

	if (fd < 0) {
		log_error("cannot write %s: %s", path, strerror(errno));
		return errno == EEXIST ? CLI_USAGE : CLI_LAB;
	}
	error = write(fd, text, size) == (ssize_t)size ? 0 : errno;
	if (close(fd) != 0 && error == 0)
		error = errno;
	if (error == 0)
		return CLI_PASS;
	log_error("cannot write %s: %s", path, strerror(error));
	return CLI_LAB;
}

int command_lab(struct cli *cli)
{
	const char *path = cli->lab ? cli->lab : "lab.json";
	struct lab_init *found;
	char *text;
	int exit_code;

	if (strcmp(cli->arguments[0], "init") != 0) {
		log_error("lab: unknown \"%s\"; expected init", cli->arguments[0]);
		return CLI_USAGE;
	}
	found = malloc(sizeof(*found));
	if (!found) {
		log_error("out of memory");
		return CLI_LAB;
	}
	lab_init_find(found);
	text = lab_init_write(found);
	if (!text) {
		log_error("out of memory");
		exit_code = CLI_LAB;
	} else if (strcmp(path, "-") == 0) {
		log_result("%s", text);
		exit_code = CLI_PASS;
	} else {
		exit_code = write_file(path, text);
		if (exit_code == CLI_PASS)
			log_result("%s: %zu serial ports, %zu muxes, %s; check it, then `sameboard "
				   "doctor board1`\n",
				path, found->port_count, found->mux_count,
				found->cards[0] ? "removable disks" : "no removable disk");
	}
	free(text);
	free(found);
	return exit_code;
}
