/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness/cli.h"
#include "harness/daemon.h"
#include "harness/paths.h"

/* Held as long as the process lives, so it can't be left behind. */
static int take_lock(struct daemon *daemon, const char *path, int *lock)
{
	char name[PATH_MAX];

	if ((size_t)snprintf(name, sizeof(name), "%s.lock", path) >= sizeof(name))
		return daemon_fail(daemon, CLI_USAGE, "%s: the path is too long", path);
	paths_make_parents(name);
	*lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0660);
	if (*lock < 0)
		return daemon_fail(daemon, CLI_LAB, "%s: %s", name, strerror(errno));
	if (flock(*lock, LOCK_EX | LOCK_NB) != 0)
		return daemon_fail(daemon, CLI_LAB, "another sameboardd uses %s", path);
	return 0;
}

static int listen_unix(struct daemon *daemon)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = daemon->config.socket;
	mode_t mask;
	int rc;

	if (strlen(path) >= sizeof(address.sun_path))
		return daemon_fail(daemon, CLI_USAGE, "%s: a socket's path has at most %zu bytes",
			path, sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	daemon->unix_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlink(path); /* whoever made it does not hold the lock */
	mask = umask(0117);
	rc = bind(daemon->unix_socket, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	daemon->is_bound = rc == 0;
	if (rc != 0 || listen(daemon->unix_socket, 64) != 0)
		return daemon_fail(
			daemon, CLI_LAB, "cannot listen on %s: %s", path, strerror(errno));
	return 0;
}

static unsigned get_port(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
		return 0;
	if (address.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
	return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

static int listen_tcp(struct daemon *daemon)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	char host[128];
	const char *port = strrchr(daemon->config.listen, ':');
	int on = 1, fd;

	if (!port || (size_t)(port - daemon->config.listen) >= sizeof(host))
		return daemon_fail(daemon, CLI_USAGE,
			"--listen: \"%s\" is no address and port like 127.0.0.1:8080",
			daemon->config.listen);
	snprintf(host, sizeof(host), "%.*s", (int)(port - daemon->config.listen),
		daemon->config.listen);
	if (host[0] == '[') { /* [::1]:8080 */
		memmove(host, host + 1, strlen(host));
		host[strcspn(host, "]")] = '\0';
	}
	if (getaddrinfo(host[0] ? host : "127.0.0.1", port + 1, &hints, &found) != 0)
		return daemon_fail(daemon, CLI_USAGE,
			"--listen: \"%s\" is no address and port like 127.0.0.1:8080",
			daemon->config.listen);
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	daemon->tcp_socket = fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 64) != 0)
		on = 0;
	freeaddrinfo(found);
	if (!on)
		return daemon_fail(daemon, CLI_LAB, "cannot listen on %s: %s",
			daemon->config.listen, strerror(errno));
	daemon->port = get_port(fd);
	return 0;
}

int daemon_socket_open(struct daemon *daemon)
{
	int rc = take_lock(daemon, daemon->config.socket, &daemon->locks[0]);

	if (rc == 0)
		rc = take_lock(daemon, daemon->db_path, &daemon->locks[1]);
	if (rc == 0)
		rc = listen_unix(daemon);
	if (rc == 0 && daemon->config.listen)
		rc = listen_tcp(daemon);
	return rc;
}

void daemon_socket_close(struct daemon *daemon)
{
	if (daemon->is_bound)
		unlink(daemon->config.socket);
	if (daemon->unix_socket >= 0)
		close(daemon->unix_socket);
	if (daemon->tcp_socket >= 0)
		close(daemon->tcp_socket);
	for (size_t i = 0; i < 2; i++)
		if (daemon->locks[i] >= 0)
			close(daemon->locks[i]);
}
