/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/daemon_rig.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/vboard_rig.h"

/* ------------------------------------------------------------------- daemon */

static void run_daemon(struct daemon_rig *rig, int ready)
{
	char program[PATH_MAX], state[300], token[300], err[300];

	rig_find_program("sameboardd", program, sizeof(program));
	snprintf(state, sizeof(state), "%s", scratch_path(&rig->lab.scratch, "state"));
	snprintf(token, sizeof(token), "%s", scratch_path(&rig->lab.scratch, "token"));
	snprintf(err, sizeof(err), "%s", scratch_path(&rig->lab.scratch, "daemon.err"));
	dup2(ready, 1);
	dup2(open(err, O_WRONLY | O_CREAT | O_APPEND, 0644), 2);
	setenv("SAMEBOARD_STATE", state, 1);
	setenv("SAMEBOARD_SUITES", "harness/suites", 1);
	unsetenv("SAMEBOARD_SOCKET");
	execl(program, program, "--lab", rig->lab.lab, "--db", rig->lab.db, "--images",
		rig->lab.images, "--listen", "127.0.0.1:0", "--token-file", token, NULL);
	_exit(127);
}

void daemon_rig_begin(struct daemon_rig *rig)
{
	char line[512] = "";
	int ends[2];
	size_t size = 0;
	ssize_t got;
	pid_t parent = getpid();

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	rig->pid = fork();
	ck_assert_int_ge(rig->pid, 0);
	if (rig->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(127);
		run_daemon(rig, ends[1]);
	}
	close(ends[1]);
	while (size + 1 < sizeof(line) && !strchr(line, '\n') &&
		(got = read(ends[0], line + size, sizeof(line) - 1 - size)) > 0)
		size += (size_t)got;
	close(ends[0]);
	ck_assert_msg(sscanf(line, "ready %255s port %u", rig->socket, &rig->port) == 2,
		"the daemon said \"%s\"", line);
}

void daemon_rig_prepare(struct daemon_rig *rig)
{
	const char *token;

	/* A job without the daemon may have made it. */
	ck_assert(mkdir(scratch_path(&rig->lab.scratch, "state"), 0700) == 0 || errno == EEXIST);
	token = scratch_write(
		&rig->lab.scratch, "token", DAEMON_RIG_TOKEN "\n", strlen(DAEMON_RIG_TOKEN) + 1);
	ck_assert_int_eq(chmod(token, 0600), 0);
}

void daemon_rig_start(struct daemon_rig *rig, const char *faults)
{
	lab_rig_start(&rig->lab, faults, 64);
	daemon_rig_prepare(rig);
	daemon_rig_begin(rig);
}

void daemon_rig_start_unplugged(struct daemon_rig *rig)
{
	lab_rig_start_unplugged(&rig->lab);
	daemon_rig_prepare(rig);
	daemon_rig_begin(rig);
}

int daemon_rig_kill(struct daemon_rig *rig, int signal)
{
	int status;

	ck_assert_int_eq(kill(rig->pid, signal), 0);
	ck_assert_int_eq(waitpid(rig->pid, &status, 0), rig->pid);
	rig->pid = 0;
	return status;
}

void daemon_rig_stop(struct daemon_rig *rig)
{
	int status = daemon_rig_kill(rig, SIGTERM);

	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the daemon ended with %#x",
		(unsigned)status);
	ck_assert_int_ne(access(rig->socket, F_OK), 0);
	lab_rig_stop(&rig->lab);
}

/* --------------------------------------------------------------------- HTTP */

int daemon_rig_connect(struct daemon_rig *rig, bool over_tcp)
{
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	struct sockaddr_in remote = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)rig->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(over_tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc;

	ck_assert_int_ge(fd, 0);
	snprintf(local.sun_path, sizeof(local.sun_path), "%.107s", rig->socket);
	rc = over_tcp ? connect(fd, (struct sockaddr *)&remote, sizeof(remote))
		      : connect(fd, (struct sockaddr *)&local, sizeof(local));
	ck_assert_msg(rc == 0, "connect: %s", strerror(errno));
	return fd;
}

/* Whether the headers are whole and so much of a body as they announce. */
static bool is_whole(const char *answer, size_t size)
{
	const char *body = strstr(answer, "\r\n\r\n");
	const char *length = strcasestr(answer, "Content-Length:");

	return body && length && length < body &&
	       size >= (size_t)(body - answer) + 4 + strtoul(length + 15, NULL, 10);
}

int daemon_rig_send(
	struct daemon_rig *rig, bool over_tcp, const char *bytes, size_t size, char **answer)
{
	int fd = daemon_rig_connect(rig, over_tcp);
	size_t room = 1 << 20, used = 0;
	int status = 0;
	ssize_t got;

	*answer = calloc(1, room);
	ck_assert_ptr_nonnull(*answer);
	while (size > 0 && (got = send(fd, bytes, size, MSG_NOSIGNAL)) > 0) {
		bytes += got;
		size -= (size_t)got;
	}
	while (used + 1 < room && !is_whole(*answer, used) &&
		(got = recv(fd, *answer + used, room - 1 - used, 0)) > 0)
		used += (size_t)got;
	close(fd);
	sscanf(*answer, "HTTP/1.1 %d", &status);
	return status;
}

int daemon_rig_ask(struct daemon_rig *rig, const char *method, const char *path, const char *body,
	cJSON **json)
{
	char *request = NULL, *answer;
	const char *content;
	int status, size = asprintf(&request,
			    "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
			    method, path, body ? strlen(body) : 0, body ? body : "");

	ck_assert_int_gt(size, 0);
	status = daemon_rig_send(rig, false, request, (size_t)size, &answer);
	content = strstr(answer, "\r\n\r\n");
	*json = cJSON_Parse(content ? content + 4 : "");
	ck_assert_msg(*json != NULL, "%s %s: no JSON in \"%s\"", method, path, answer);
	free(request);
	free(answer);
	return status;
}

int daemon_rig_submit(struct daemon_rig *rig, const char *suite)
{
	int job = 0;
	cJSON *json;

	ck_assert_msg(
		lab_rig_run(&rig->lab, (const char *[]){"submit", suite, "--json", NULL}) == 0,
		"%s", rig->lab.err);
	json = lab_rig_json(&rig->lab);
	job = (int)cJSON_GetNumberValue(cJSON_GetObjectItem(json, "job"));
	cJSON_Delete(json);
	ck_assert_int_gt(job, 0);
	return job;
}

cJSON *daemon_rig_await(struct daemon_rig *rig, int job, const char *state)
{
	char path[64];

	snprintf(path, sizeof(path), "/v1/jobs/%d", job);
	for (;;) {
		cJSON *json;
		const char *now;

		ck_assert_int_eq(daemon_rig_ask(rig, "GET", path, NULL, &json), 200);
		now = cJSON_GetStringValue(cJSON_GetObjectItem(json, "state"));
		if (strcmp(now, state) == 0)
			return json;
		ck_assert_msg(strcmp(now, "done") != 0 && strcmp(now, "cancelled") != 0,
			"job %d is %s instead of %s", job, now, state);
		cJSON_Delete(json);
		usleep(50000);
	}
}

void daemon_rig_read_until(int fd, const char *text, char *seen, size_t size)
{
	size_t used = strlen(seen);

	while (!strstr(seen, text)) {
		ssize_t got = recv(fd, seen + used, size - 1 - used, 0);

		ck_assert_msg(got > 0, "the stream ended before \"%s\": %s", text, seen);
		for (ssize_t i = 0; i < got; i++)
			if (seen[used + (size_t)i] == '\0')
				seen[used + (size_t)i] = '0'; /* frames on a console */
		used += (size_t)got;
		seen[used] = '\0';
	}
}

int daemon_rig_open_stream(struct daemon_rig *rig, const char *path, const char *headers)
{
	char request[512];
	int fd = daemon_rig_connect(rig, false);
	int size = snprintf(request, sizeof(request),
		"GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, headers);

	ck_assert_int_eq(send(fd, request, (size_t)size, MSG_NOSIGNAL), size);
	return fd;
}

pid_t daemon_rig_get_worker(struct daemon_rig *rig)
{
	const char *holder;
	cJSON *json;
	int pid = 0;

	ck_assert_int_eq(daemon_rig_ask(rig, "GET", "/v1/boards", NULL, &json), 200);
	holder = cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(json, 0), "holder"));
	sscanf(holder, "pid %d", &pid);
	cJSON_Delete(json);
	return (pid_t)pid;
}
