/* SPDX-License-Identifier: Apache-2.0 */
/* sameboardd: options, then the daemon's loop. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness/cli.h"
#include "harness/client.h"
#include "harness/daemon.h"
#include "harness/log.h"
#include "harness/paths.h"

static const char usage[] =
	"usage: sameboardd [OPTION...]\n\n"
	"Owns the boards of a lab and works on the jobs of `sameboard submit` and `run`.\n\n"
	"Options:\n"
	"  --lab=FILE        lab file (default $SAMEBOARD_LAB, ./lab.json,\n"
	"                    ~/.config/sameboard/lab.json)\n"
	"  --db=FILE         database (default $SAMEBOARD_DB,\n"
	"                    ~/.local/state/sameboard/sameboard.db)\n"
	"  --images=DIR      images and their manifests (default $SAMEBOARD_IMAGES,\n"
	"                    `images` beside the program)\n"
	"  --socket=PATH     where clients come (default $SAMEBOARD_SOCKET,\n"
	"                    $XDG_RUNTIME_DIR/sameboard.sock)\n"
	"  --listen=ADDRESS:PORT  TCP too, e.g. 127.0.0.1:8080; reading is open to all\n"
	"  --token-file=FILE what a change over TCP needs: `Authorization: Bearer TOKEN`\n"
	"  --help            print this help\n"
	"  --version         print the version\n\n"
	"Prints \"ready\" and its sockets once it listens.  SIGTERM ends it: running jobs\n"
	"end in the rest state, waiting ones wait for the next start.\n";

static const char *first_of(const char *given, const char *variable, const char *fallback)
{
	const char *set = getenv(variable);

	return given ? given : set && *set ? set : fallback;
}

/* 0, or an exit code + 1 where the program ends here. */
static int parse(struct daemon_config *config, int argc, char **argv)
{
	static const struct option options[] = {
		{"lab", required_argument, NULL, 'l'},
		{"db", required_argument, NULL, 'd'},
		{"images", required_argument, NULL, 'i'},
		{"socket", required_argument, NULL, 'S'},
		{"listen", required_argument, NULL, 'L'},
		{"token-file", required_argument, NULL, 'T'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	const char **const values[] = {['l'] = &config->lab,
		['d'] = &config->db,
		['i'] = &config->images,
		['S'] = &config->socket,
		['L'] = &config->listen,
		['T'] = &config->token_file};
	int letter;

	while ((letter = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (letter == 'h' || letter == 'V')
			log_result(
				"%s", letter == 'h' ? usage : "sameboardd " SAMEBOARD_VERSION "\n");
		if (letter == 'h' || letter == 'V')
			return CLI_PASS + 1;
		if (letter == '?')
			return CLI_USAGE + 1;
		*values[letter] = optarg;
	}
	if (optind < argc) {
		log_error("\"%s\" is no option; see `sameboardd --help`", argv[optind]);
		return CLI_USAGE + 1;
	}
	return 0;
}

/* For systemd (Type=notify): sd_notify(3) without its library. */
static void notify_ready(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	int fd;

	if (!path || strlen(path) >= sizeof(address.sun_path))
		return;
	strcpy(address.sun_path, path);
	if (address.sun_path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, "READY=1", 7, MSG_NOSIGNAL, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))) < 0)
		log_error("systemd was not told: %m");
	close(fd);
}

static void say_ready(const struct daemon *daemon)
{
	log_result("ready %s", daemon->config.socket);
	if (daemon->port)
		log_result(" port %u", daemon->port);
	log_result("\n");
	log_flush();
	notify_ready();
}

int main(int argc, char **argv)
{
	static char db[PATH_MAX], path[PATH_MAX], images[PATH_MAX];
	struct daemon_config config = {0};
	struct daemon daemon;
	int rc = parse(&config, argc, argv);

	if (rc != 0)
		return log_flush() != 0 ? CLI_LAB : rc - 1;
	if (paths_state_file("sameboard.db", db, sizeof(db)) != 0 ||
		client_find_socket(config.socket, path, sizeof(path)) != 0) {
		log_error("the path of the state folder is too long");
		return CLI_USAGE;
	}
	paths_beside_program("images", images, sizeof(images));
	config.db = first_of(config.db, "SAMEBOARD_DB", db);
	config.images = first_of(config.images, "SAMEBOARD_IMAGES", images);
	config.socket = path;
	rc = daemon_open(&daemon, &config);
	if (rc == 0) {
		say_ready(&daemon);
		rc = daemon_run(&daemon);
	}
	if (rc != 0)
		log_error("%s", daemon.error);
	daemon_close(&daemon);
	return rc;
}
