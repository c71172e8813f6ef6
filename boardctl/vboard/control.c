/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "boardctl/vboard/log.h"

#define CONTROL_ANSWER_MAX 4352

static void control_power(struct control *control, const char *value, char *answer)
{
	const struct board *board = control->board;

	(void)value;
	if (!board->has_power)
		strcpy(answer, "ok off");
	else if (board->qemu.pid)
		sprintf(answer, "ok on %d", (int)board->qemu.pid);
	else
		strcpy(answer, "ok on none");
}

static void control_mux(struct control *control, const char *value, char *answer)
{
	struct board *board = control->board;
	enum mux_mode mode;
	int result = 0;

	if (value && !mux_parse_mode(value, &mode)) {
		strcpy(answer, "error the mux knows host, dut and off");
		return;
	}
	if (value)
		result = board_set_mux(board, mode);
	if (result < 0)
		sprintf(answer, "error cannot switch the mux: %s", strerror(-result));
	else
		sprintf(answer, "ok %s", mux_get_name(board->mux.mode));
}

static void control_card(struct control *control, const char *value, char *answer)
{
	(void)value;
	snprintf(answer, CONTROL_ANSWER_MAX, "ok %s", control->board->mux.card);
}

static int control_lane(const struct line_lane *lane, const char *name, char *answer, size_t size)
{
	return snprintf(answer, size,
		" %s_bytes=%llu %s_garbled=%llu %s_dropped=%llu %s_flipped_bits=%llu", name,
		(unsigned long long)lane->counts.bytes, name,
		(unsigned long long)lane->counts.garbled, name,
		(unsigned long long)lane->counts.dropped, name,
		(unsigned long long)lane->fault.flipped_bits);
}

static void control_stats(struct control *control, const char *value, char *answer)
{
	const struct board *board = control->board;
	size_t used = (size_t)snprintf(answer, CONTROL_ANSWER_MAX,
		"ok power_ons=%u host_listens=%d host_baud=%u guest_baud=%u", board->power_ons,
		board->uart.is_listened, board->uart.host_baud, board->uart.device_baud);

	(void)value;
	used += (size_t)control_lane(
		&board->uart.to_host, "to_host", answer + used, CONTROL_ANSWER_MAX - used);
	control_lane(&board->uart.to_device, "to_guest", answer + used, CONTROL_ANSWER_MAX - used);
}

static void control_quit(struct control *control, const char *value, char *answer)
{
	(void)value;
	strcpy(answer, "ok");
	loop_end(control->loop);
}

static const struct {
	const char *name;
	bool takes_value;
	void (*run)(struct control *control, const char *value, char *answer);
} control_commands[] = {
	{"power", false, control_power},
	{"mux", true, control_mux},
	{"card", false, control_card},
	{"stats", false, control_stats},
	{"quit", false, control_quit},
};

static void control_run(struct control *control, char *line, char *answer)
{
	char *value = strchr(line, ' ');

	if (value)
		*value++ = '\0';
	for (unsigned i = 0; i < sizeof(control_commands) / sizeof(control_commands[0]); i++) {
		if (strcmp(line, control_commands[i].name) != 0)
			continue;
		if (value && !control_commands[i].takes_value)
			break;
		control_commands[i].run(control, value, answer);
		return;
	}
	strcpy(answer, "error the commands are power, mux [MODE], card, stats and quit");
}

static void control_drop(struct control_client *client)
{
	close(client->watch.fd);
	client->watch.fd = -1;
}

static bool control_answer(struct control_client *client, char *line)
{
	char answer[CONTROL_ANSWER_MAX + 1];
	size_t length;

	control_run(client->control, line, answer);
	length = strlen(answer);
	answer[length++] = '\n';
	return send(client->watch.fd, answer, length, MSG_NOSIGNAL) == (ssize_t)length;
}

static void control_client_ready(void *context, short revents)
{
	struct control_client *client = context;
	char *end;
	ssize_t count = recv(client->watch.fd, client->text + client->used,
		sizeof(client->text) - client->used, MSG_DONTWAIT);

	(void)revents;
	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (count <= 0) {
		control_drop(client);
		return;
	}
	client->used += (size_t)count;
	while ((end = memchr(client->text, '\n', client->used))) {
		*end++ = '\0';
		if (!control_answer(client, client->text)) {
			control_drop(client);
			return;
		}
		client->used -= (size_t)(end - client->text);
		memmove(client->text, end, client->used);
	}
	if (client->used == sizeof(client->text))
		control_drop(client);
}

static void control_accept(void *context, short revents)
{
	struct control *control = context;
	int fd = accept4(control->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)revents;
	if (fd < 0)
		return;
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		if (control->clients[i].watch.fd >= 0)
			continue;
		control->clients[i].watch.fd = fd;
		control->clients[i].used = 0;
		return;
	}
	log_event("control: more than %d clients", CONTROL_CLIENTS_MAX);
	close(fd);
}

int control_open(struct control *control, struct loop *loop, struct board *board, int dir_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(control, 0, sizeof(*control));
	control->loop = loop;
	control->board = board;
	control->watch = (struct loop_watch){-1, POLLIN, control_accept, control};
	loop_add_watch(loop, &control->watch);
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct control_client *client = &control->clients[i];
		client->control = control;
		client->watch = (struct loop_watch){-1, POLLIN, control_client_ready, client};
		loop_add_watch(loop, &client->watch);
	}
	control->watch.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (control->watch.fd < 0)
		return -errno;
	/* A socket's name has 107 bytes at most, a directory's may have more. */
	snprintf(
		address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/vboard.sock", dir_fd);
	unlinkat(dir_fd, "vboard.sock", 0);
	if (bind(control->watch.fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(control->watch.fd, CONTROL_CLIENTS_MAX) < 0)
		return -errno;
	return 0;
}

void control_close(struct control *control)
{
	if (!control->loop)
		return;
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (control->clients[i].watch.fd >= 0)
			control_drop(&control->clients[i]);
	if (control->watch.fd >= 0)
		close(control->watch.fd);
	control->watch.fd = -1;
}
