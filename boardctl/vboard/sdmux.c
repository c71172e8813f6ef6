/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vboard-sdmux: the virtual panel's SD mux, with the command line of usbsdmux:
 *   vboard-sdmux DIR get|dut|host|off|info
 * DIR stands where the mux's device would. Exit codes: 0, 1 (no such board, or it refused), 2.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char *const sdmux_modes[] = {"dut", "host", "off"};

static int sdmux_connect(const char *dir)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* A socket's name has 107 bytes at most, a directory's may have more. */
	snprintf(
		address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/vboard.sock", dir_fd);
	if (dir_fd < 0 || fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		fprintf(stderr, "vboard-sdmux: no virtual board at %s: %s\n", dir, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	if (dir_fd >= 0)
		close(dir_fd);
	return fd;
}

/* Send one command and read its answer line; false when the board is gone or refuses. */
static bool sdmux_ask(int fd, const char *command, char *answer, size_t size)
{
	size_t used = 0;
	char line[64];
	int length = snprintf(line, sizeof(line), "%s\n", command);

	if (send(fd, line, (size_t)length, MSG_NOSIGNAL) != length)
		return false;
	while (used < size - 1) {
		ssize_t count = recv(fd, answer + used, size - 1 - used, 0);
		if (count <= 0)
			break;
		used += (size_t)count;
		if (answer[used - 1] == '\n')
			break;
	}
	if (used == 0) {
		fputs("vboard-sdmux: the board is gone\n", stderr);
		return false;
	}
	answer[used - 1] = '\0';
	if (strncmp(answer, "ok ", 3) == 0) {
		memmove(answer, answer + 3, strlen(answer + 3) + 1);
		return true;
	}
	fprintf(stderr, "vboard-sdmux: %s\n", answer);
	return false;
}

static bool sdmux_run(int fd, const char *command)
{
	char answer[4200], switching[16];

	for (unsigned i = 0; i < sizeof(sdmux_modes) / sizeof(sdmux_modes[0]); i++) {
		if (strcmp(command, sdmux_modes[i]) != 0)
			continue;
		snprintf(switching, sizeof(switching), "mux %s", command);
		return sdmux_ask(fd, switching, answer, sizeof(answer));
	}
	if (!sdmux_ask(fd, "mux", answer, sizeof(answer)))
		return false;
	if (strcmp(command, "get") == 0) {
		puts(answer);
		return true;
	}
	printf("mode: %s\n", answer);
	if (!sdmux_ask(fd, "card", answer, sizeof(answer)))
		return false;
	printf("card: %s\n", answer);
	return true;
}

static bool sdmux_knows(const char *command)
{
	for (unsigned i = 0; i < sizeof(sdmux_modes) / sizeof(sdmux_modes[0]); i++)
		if (strcmp(command, sdmux_modes[i]) == 0)
			return true;
	return strcmp(command, "get") == 0 || strcmp(command, "info") == 0;
}

static int sdmux_usage(FILE *stream)
{
	fputs("usage: vboard-sdmux DIR get|dut|host|off|info\n"
	      "Switch the SD card of the virtual board at DIR, as usbsdmux does.\n",
		stream);
	return stream == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
	bool has_worked;
	int fd;

	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return sdmux_usage(stdout);
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("vboard-sdmux " SAMEBOARD_VERSION);
		return 0;
	}
	if (argc != 3 || !sdmux_knows(argv[2]))
		return sdmux_usage(stderr);
	fd = sdmux_connect(argv[1]);
	if (fd < 0)
		return 1;
	has_worked = sdmux_run(fd, argv[2]);
	close(fd);
	return has_worked ? 0 : 1;
}
