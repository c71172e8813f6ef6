/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/secret.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boardctl/fail.h"

#define SECRET_MAX 128

static int read_file(const char *path, char *secret, size_t size, char *error, size_t error_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat now;
	ssize_t got;

	if (fd < 0 || fstat(fd, &now)) {
		int ret = -errno;

		if (fd >= 0)
			close(fd);
		return fail_format(error, error_size, ret, "cannot read the password in %s: %s",
			path, strerror(-ret));
	}
	if (now.st_mode & S_IROTH) {
		close(fd);
		return fail_format(error, error_size, -EACCES,
			"everyone may read the password in %s; `chmod 600` it", path);
	}
	got = read(fd, secret, size - 1);
	close(fd);
	secret[got > 0 ? got : 0] = '\0';
	return 0;
}

int secret_read(const char *file, const char *variable, char *secret, size_t size, char *error,
	size_t error_size)
{
	const char *value;
	int ret;

	secret[0] = '\0';
	if (file) {
		ret = read_file(file, secret, size, error, error_size);
		if (ret)
			return ret;
	} else {
		value = getenv(variable);
		if (!value)
			return fail_format(error, error_size, -ENOENT,
				"the password is not there: $%s is not set", variable);
		if (strlen(value) >= size)
			return fail_format(error, error_size, -ENAMETOOLONG,
				"the password in $%s is longer than %zu bytes", variable, size - 1);
		snprintf(secret, size, "%s", value);
	}
	secret[strcspn(secret, "\r\n")] = '\0';
	if (secret[0])
		return 0;
	return fail_format(error, error_size, -ENOENT, "the password in %s%s is empty",
		file ? "" : "$", file ? file : variable);
}

void secret_escape(const char *text, char *out)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (isalnum(c) || strchr("-_.~", c))
			*out++ = (char)c;
		else
			out += sprintf(out, "%%%02X", c);
	}
	*out = '\0';
}

static void blank(char *text, const char *secret)
{
	size_t size = strlen(secret);

	while (size && (text = strstr(text, secret))) {
		memset(text, '*', size);
		text += size;
	}
}

void secret_blank(char *text, const char *secret)
{
	char escaped[3 * SECRET_MAX + 1];

	if (!secret[0] || strlen(secret) > SECRET_MAX)
		return;
	secret_escape(secret, escaped);
	blank(text, secret);
	blank(text, escaped);
	secret_forget(escaped, sizeof(escaped));
}

void secret_forget(char *secret, size_t size)
{
	explicit_bzero(secret, size);
}
