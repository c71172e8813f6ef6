/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/access.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boardctl/sha256.h"

int access_read_token(struct access *access, const char *path, char *error, size_t error_size)
{
	char text[ACCESS_TOKEN_MAX + 2];
	struct stat info;
	ssize_t got = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	access->token[0] = '\0';
	if (fd < 0 || fstat(fd, &info) != 0 || (got = read(fd, text, sizeof(text) - 1)) < 0) {
		snprintf(error, error_size, "token file %s: %s", path, strerror(errno));
		got = -errno;
	} else if (info.st_mode & 077) {
		snprintf(error, error_size,
			"token file %s can be read by others; `chmod 600 %s` first", path, path);
		got = -EPERM;
	}
	if (fd >= 0)
		close(fd);
	if (got < 0)
		return (int)got;
	text[got] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	for (const char *c = text; *c; c++)
		if (!isgraph((unsigned char)*c))
			text[0] = '\0';
	if (strlen(text) < ACCESS_TOKEN_MIN || strlen(text) > ACCESS_TOKEN_MAX) {
		snprintf(error, error_size,
			"token file %s: its first line must be %d to %d printable characters, "
			"e.g. of `openssl rand -hex 32`",
			path, ACCESS_TOKEN_MIN, ACCESS_TOKEN_MAX);
		return -EINVAL;
	}
	strcpy(access->token, text);
	return 0;
}

/* Over hashes of one length, so that the time says nothing of either text. */
static bool is_equal(const char *a, const char *b)
{
	char hash_a[SHA256_HEX_SIZE], hash_b[SHA256_HEX_SIZE];
	unsigned char difference = 0;

	if (sha256_buffer(a, strlen(a), hash_a) != 0 || sha256_buffer(b, strlen(b), hash_b) != 0)
		return false;
	for (size_t i = 0; i < sizeof(hash_a); i++)
		difference |= (unsigned char)(hash_a[i] ^ hash_b[i]);
	return difference == 0;
}

/* The name of "name:port" or "[address]:port"; false if it is neither. */
static bool split_host(const char *host, char *name, size_t size)
{
	size_t length = host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":");
	const char *rest = host + length;

	if (host[0] == '[') {
		if (*rest != ']')
			return false;
		host++;
		length--;
		rest++;
	}
	if (length == 0 || length >= size || (*rest && *rest != ':'))
		return false;
	if (*rest && (rest[1] == '\0' || rest[1 + strspn(rest + 1, "0123456789")]))
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	return true;
}

static bool is_ours(const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];
	char name[256], machine[256] = "";

	if (!split_host(host, name, sizeof(name)))
		return false;
	if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1 ||
		strcasecmp(name, "localhost") == 0)
		return true;
	return gethostname(machine, sizeof(machine) - 1) == 0 && machine[0] &&
	       strcasecmp(name, machine) == 0;
}

unsigned access_check(
	const struct access *access, const struct access_request *request, const char **why)
{
	static const char scheme[] = "Bearer ";
	const char *given = request->authorization;

	*why = "requests in the name of another site are refused";
	if (request->origin && (!request->is_tcp || !request->host ||
				       strncmp(request->origin, "http://", 7) != 0 ||
				       strcasecmp(request->origin + 7, request->host) != 0))
		return 403;
	if (!request->is_tcp)
		return 0;
	*why = "the Host of a request must be an address, localhost or this machine's name";
	if (!request->host || !is_ours(request->host))
		return 403;
	if (!request->is_change)
		return 0;
	*why = "changes over TCP are refused: the daemon was started without --token-file";
	if (!access->token[0])
		return 403;
	*why = "changes over TCP need the header `Authorization: Bearer TOKEN`, which sameboard "
	       "sends where SAMEBOARD_TOKEN_FILE names the token's file";
	if (!given || strncasecmp(given, scheme, sizeof(scheme) - 1) != 0)
		return 401;
	*why = "this is not the token";
	return is_equal(given + sizeof(scheme) - 1, access->token) ? 0 : 401;
}
