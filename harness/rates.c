/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/rates.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/sha256.h"
#include "harness/paths.h"

#define BAD_FOR_S (24 * 3600)

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* By identity: numbers of ports change. */
static int name_port(const struct link_config *port, char name[17])
{
	char identity[PATH_MAX], hex[SHA256_HEX_SIZE];

	snprintf(identity, sizeof(identity), "%s|%s|%s|%s", or_empty(port->path),
		or_empty(port->usb), or_empty(port->usb_serial), or_empty(port->usb_path));
	if (sha256_buffer(identity, strlen(identity), hex) != 0)
		return -ENOMEM;
	snprintf(name, 17, "%.16s", hex);
	return 0;
}

enum rates_state rates_get(const struct link_config *port, uint32_t baud, int64_t now_s)
{
	enum rates_state state = RATES_UNKNOWN;
	char path[PATH_MAX], line[128], wanted[17], name[17], word[8];
	long long when_s;
	unsigned rate;
	FILE *file;

	if (name_port(port, wanted) != 0 || paths_state_file("rates", path, sizeof(path)) != 0)
		return RATES_UNKNOWN;
	file = fopen(path, "re");
	if (!file)
		return RATES_UNKNOWN;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%16s %u %7s %lld", name, &rate, word, &when_s) != 4 ||
			rate != baud || strcmp(name, wanted) != 0)
			continue;
		if (strcmp(word, "good") == 0)
			state = RATES_GOOD;
		else
			state = now_s - when_s < BAD_FOR_S ? RATES_BAD : RATES_UNKNOWN;
	}
	fclose(file);
	return state;
}

int rates_set(const struct link_config *port, uint32_t baud, bool is_good, int64_t now_s)
{
	char path[PATH_MAX], name[17], line[128];
	int result = name_port(port, name);
	int fd, size;

	if (result == 0)
		result = paths_state_file("rates", path, sizeof(path));
	if (result != 0)
		return result;
	paths_make_parents(path);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	/* One write: lines of several boards do not mix. */
	size = snprintf(line, sizeof(line), "%s %u %s %lld\n", name, baud, is_good ? "good" : "bad",
		(long long)now_s);
	result = write(fd, line, (size_t)size) == size ? 0 : -EIO;
	close(fd);
	return result;
}
