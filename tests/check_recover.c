/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left when processes are killed in the middle of a pull: the window is
 * fetched first, then the board comes to rest, and no lock and no open run
 * stays behind.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Of the first window's pull, some 12 KB: far from its beginning and its end. */
#define MIDDLE_BYTES 3000

enum victim {
	VICTIM_WORKER, /* the daemon recovers */
	VICTIM_DAEMON, /* the worker brings the board to rest itself */
	VICTIM_BOTH,   /* the next daemon recovers */
	VICTIM_CLIENT, /* `run` without a daemon: the next command recovers */
	VICTIMS,
};

static const struct {
	const char *name;
	bool is_pulled; /* the window is saved by recovery */
} victims[VICTIMS] = {
	[VICTIM_WORKER] = {"worker", true},
	[VICTIM_DAEMON] = {"daemon", false},
	[VICTIM_BOTH] = {"daemon and worker", true},
	[VICTIM_CLIENT] = {"client", true},
};

struct scene {
	enum victim victim;
	struct daemon_rig rig;
	int job, second; /* the latter waits behind it */
	int events;	 /* its stream */
	char seen[65536];
	size_t seen_size;
	unsigned long long bytes; /* when the window began; 0: it has not */
	bool is_killed;
	bool is_saved; /* its window was pulled by recovery */
};

/* -------------------------------------------------------------------- begin */

static void begin(struct scene *scene, enum victim victim)
{
	struct lab_rig *lab = &scene->rig.lab;
	const char *suite;
	char path[64];

	*scene = (struct scene){.victim = victim, .events = -1};
	if (victim == VICTIM_CLIENT) {
		lab_rig_start(lab, NULL, 64);
		suite = lab_rig_write_suite(lab, "\"baremetal\"", "{ \"bench\": \"floor\" }", 1);
		lab_rig_begin(lab, (const char *[]){"run", suite, NULL});
		return;
	}
	daemon_rig_start(&scene->rig, NULL);
	suite = lab_rig_write_suite(lab, "\"baremetal\"", "{ \"bench\": \"floor\" }", 1);
	scene->job = daemon_rig_submit(&scene->rig, suite);
	if (victim == VICTIM_DAEMON)
		scene->second = daemon_rig_submit(&scene->rig, suite);
	snprintf(path, sizeof(path), "/v1/jobs/%d/events", scene->job);
	scene->events = daemon_rig_open_stream(&scene->rig, path, "");
}

static void look(struct scene *scene)
{
	FILE *file;

	if (scene->events >= 0) {
		ssize_t got = recv(scene->events, scene->seen + scene->seen_size,
			sizeof(scene->seen) - 1 - scene->seen_size, MSG_DONTWAIT);

		scene->seen_size += got > 0 ? (size_t)got : 0;
		return;
	}
	file = fopen(scratch_path(&scene->rig.lab.scratch, "err"), "r");
	scene->seen_size = file ? fread(scene->seen, 1, sizeof(scene->seen) - 1, file) : 0;
	scene->seen[scene->seen_size] = '\0';
	if (file)
		fclose(file);
}

static void kill_victim(struct scene *scene)
{
	pid_t worker = scene->victim == VICTIM_CLIENT ? 0 : daemon_rig_get_worker(&scene->rig);

	ck_assert(lab_rig_has_power(&scene->rig.lab));
	if (scene->victim == VICTIM_DAEMON || scene->victim == VICTIM_BOTH)
		daemon_rig_kill(&scene->rig, SIGKILL);
	if (scene->victim == VICTIM_WORKER || scene->victim == VICTIM_BOTH)
		ck_assert_int_eq(kill(worker, SIGKILL), 0);
	if (scene->victim == VICTIM_CLIENT) {
		ck_assert_int_eq(kill(scene->rig.lab.client, SIGKILL), 0);
		ck_assert_int_eq(lab_rig_end(&scene->rig.lab), 128 + SIGKILL);
	}
	scene->is_killed = true;
}

/* Kills in the middle of the pull of window 1; true once that was done. */
static bool step(struct scene *scene)
{
	if (scene->is_killed)
		return true;
	if (!scene->bytes) {
		look(scene);
		ck_assert_msg(!strstr(scene->seen, "event: end"), "%s", scene->seen);
		if (strstr(scene->seen, "window 1,"))
			scene->bytes = lab_rig_count_bytes(&scene->rig.lab);
		return false;
	}
	if (lab_rig_count_bytes(&scene->rig.lab) > scene->bytes + MIDDLE_BYTES)
		kill_victim(scene);
	return scene->is_killed;
}

/* ------------------------------------------------------------------ recovery */

/* Each in its own way; afterwards the board must be at rest. */
static void recover(struct scene *scene)
{
	struct daemon_rig *rig = &scene->rig;

	switch (scene->victim) {
	case VICTIM_DAEMON:
	case VICTIM_BOTH:
		daemon_rig_begin(rig);
		break;
	case VICTIM_CLIENT:
		ck_assert_msg(
			lab_rig_run(&rig->lab, (const char *[]){"recover", "vpanel", NULL}) == 0,
			"%s", rig->lab.err);
		break;
	case VICTIM_WORKER:
	case VICTIMS:
		break;
	}
	if (scene->job) {
		cJSON *job = daemon_rig_await(rig, scene->job, "done");

		ck_assert_int_eq(cJSON_GetNumberValue(cJSON_GetObjectItem(job, "exit_code")), 3);
		ck_assert_ptr_nonnull(
			strstr(cJSON_GetStringValue(cJSON_GetObjectItem(job, "error")),
				scene->victim == VICTIM_WORKER ? "signal 9" : "daemon died"));
		cJSON_Delete(job);
	}
}

static void check_run(struct scene *scene)
{
	struct lab_rig *lab = &scene->rig.lab;
	const char *reason, *verdict;
	int windows;
	cJSON *show;

	ck_assert_msg(lab_rig_run(lab, (const char *[]){"show", "1", "--json", NULL}) == 0, "%s",
		lab->err);
	show = lab_rig_json(lab);
	verdict = cJSON_GetStringValue(cJSON_GetObjectItem(show, "verdict"));
	reason = cJSON_GetStringValue(cJSON_GetObjectItem(show, "reason"));
	windows = cJSON_GetArraySize(cJSON_GetObjectItem(show, "windows"));
	ck_assert_msg(strcmp(verdict, "interrupted") == 0, "%s: %s: %s",
		victims[scene->victim].name, verdict, reason);
	if (victims[scene->victim].is_pulled) {
		const char *pulled = strstr(reason, "; window ");

		/* On a busy machine the kill may come after the pull that was aimed at. */
		ck_assert_msg(pulled || strstr(reason, "the agent answered"), "%s: %s",
			victims[scene->victim].name, reason);
		ck_assert_int_ge(windows, 1);
		if (pulled) {
			ck_assert_msg(
				strstr(pulled, "was pulled and stored") != NULL, "%s", reason);
			ck_assert_int_eq(atoi(pulled + strlen("; window ")), windows);
			/* Nobody listened, and nobody says that it was silent. */
			ck_assert_ptr_nonnull(lab_rig_find_gate(show, "silence", "unknown"));
			scene->is_saved = true;
		}
	} else {
		ck_assert_msg(strstr(reason, "signal 15") != NULL, "%s", reason);
	}
	cJSON_Delete(show);
}

/* The one that waited is begun, and ends in the rest state when it is not wanted. */
static void check_second(struct scene *scene)
{
	char number[16];

	cJSON_Delete(daemon_rig_await(&scene->rig, scene->second, "running"));
	snprintf(number, sizeof(number), "%d", scene->second);
	ck_assert_int_eq(lab_rig_run(&scene->rig.lab, (const char *[]){"cancel", number, NULL}), 0);
	cJSON_Delete(daemon_rig_await(&scene->rig, scene->second, "cancelled"));
}

static void check_at_rest(struct scene *scene)
{
	struct lab_rig *lab = &scene->rig.lab;
	const char *holder;
	cJSON *boards;

	ck_assert_msg(!lab_rig_has_power(lab), "%s: still powered", victims[scene->victim].name);
	ck_assert_int_eq(lab_rig_run(lab, (const char *[]){"boards", "--json", NULL}), 0);
	boards = lab_rig_json(lab);
	holder = cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(boards, 0), "holder"));
	ck_assert_msg(
		!holder[0], "%s: the lock is held by %s", victims[scene->victim].name, holder);
	cJSON_Delete(boards);
	lab_rig_check_db(lab);
}

START_TEST(what_was_measured_is_saved_and_the_board_comes_to_rest)
{
	struct scene *scenes = calloc(VICTIMS, sizeof(*scenes));
	unsigned killed, saved = 0;

	for (int i = 0; i < VICTIMS; i++)
		begin(&scenes[i], (enum victim)i);
	do {
		killed = 0;
		for (int i = 0; i < VICTIMS; i++)
			killed += step(&scenes[i]);
		usleep(2000);
	} while (killed < VICTIMS);
	for (int i = 0; i < VICTIMS; i++) {
		struct scene *scene = &scenes[i];

		recover(scene);
		if (scene->second)
			check_second(scene);
		check_run(scene);
		check_at_rest(scene);
		saved += scene->is_saved;
		if (scene->events >= 0)
			close(scene->events);
		if (scene->job)
			daemon_rig_stop(&scene->rig);
		else
			lab_rig_stop(&scene->rig.lab);
	}
	free(scenes);
	ck_assert_uint_gt(saved, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recover");
	SRunner *runner = srunner_create(suite);
	TCase *tcase = tcase_create("recover");
	int failed;

	tcase_add_test(tcase, what_was_measured_is_saved_and_the_board_comes_to_rest);
	tcase_set_timeout(tcase, 180);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
