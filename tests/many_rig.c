/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/many_rig.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "boardctl/monotonic.h"
#include "boardctl/sha256.h"

#define SYSTEM "baremetal"

/* A text file of the rig's folder that is printed into. */
static FILE *begin_file(struct many_rig *rig, const char *name, char *path, size_t size)
{
	FILE *file;

	snprintf(path, size, "%s", scratch_path(&rig->daemon.lab.scratch, name));
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	return file;
}

/* The whole text, the caller's. */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_gt(getdelim(&text, &size, '\0', file), 0);
	fclose(file);
	return text;
}

static void write_lab(struct many_rig *rig)
{
	FILE *file = begin_file(rig, "lab.json", rig->daemon.lab.lab, sizeof(rig->daemon.lab.lab));

	fputs("{ \"boards\": {\n", file);
	for (unsigned i = 0; i < rig->config.peer.boards; i++)
		fprintf(file,
			"  \"board%u\": { \"model\": \"virtual-86-panel\",\n"
			"    \"console\": { \"driver\": \"pty\", \"path\": \"uart.%u\" },\n"
			"    \"power\": { \"driver\": \"lcus\", \"channel\": 1, \"off_ms\": 200,\n"
			"      \"answer_ms\": 5000,\n"
			"      \"port\": { \"driver\": \"pty\", \"path\": \"relay.%u\" } } }%s\n",
			i, i, i, i + 1 < rig->config.peer.boards ? "," : "");
	fputs("} }\n", file);
	ck_assert_int_eq(fclose(file), 0);
}

/*
 * The image's manifest, from what was typed when it was recorded.  There is no
 * card, and so no image to write: the recording stands for it.
 */
static void write_manifest(struct many_rig *rig)
{
	char hash[SHA256_HEX_SIZE], recorded[PATH_MAX], path[300], dir[300];
	char address[64] = "";
	unsigned bytes = 0, crc = 0;
	const char *separator = "";
	uint64_t size;
	FILE *file;

	snprintf(dir, sizeof(dir), "%s", scratch_path(&rig->daemon.lab.scratch, "images"));
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	snprintf(rig->daemon.lab.images, sizeof(rig->daemon.lab.images), "%s", dir);
	ck_assert_int_eq(sha256_file(RECORDING_DIALOGUE, hash, &size), 0);
	ck_assert_ptr_nonnull(realpath(RECORDING_DIALOGUE, recorded));
	file = begin_file(rig, "images/" SYSTEM ".json", path, sizeof(path));
	fprintf(file,
		"{ \"system\": \"" SYSTEM "\", \"version\": \"recorded\", \"file\": \"%s\",\n"
		"  \"size\": %llu, \"sha256\": \"%s\", \"writes_card\": false, \"start\": \"auto\",\n"
		"  \"first_banner\": \"sameboard bare metal\", \"boot\": [",
		recorded, (unsigned long long)size, hash);
	for (size_t i = 0; i < rig->recording.answer_count; i++) {
		const struct recording_answer *answer = &rig->recording.answers[i];
		const char *sum = strstr(answer->said, "==> ");

		if (sum && sscanf(answer->typed, "crc32 %63s %x", address, &bytes) == 2 &&
			sscanf(sum, "==> %x", &crc) == 1)
			continue;
		if (!answer->typed[0] || strcmp(answer->typed, RECORDING_KEY) == 0)
			continue;
		fprintf(file, "%s\"%s\"", separator, answer->typed);
		separator = ", ";
	}
	fprintf(file,
		"],\n  \"payloads\": [{ \"file\": \"/baremetal.bin\", \"address\": \"%s\",\n"
		"    \"size\": %u, \"crc32\": \"%08x\" }] }\n",
		address, bytes, crc);
	ck_assert_int_eq(fclose(file), 0);
}

/* What a recording cannot know is unknown. */
static void write_suite(struct many_rig *rig)
{
	FILE *file = begin_file(rig, "suite.json", rig->suite, sizeof(rig->suite));

	fprintf(file,
		"{ \"systems\": [\"" SYSTEM "\"], \"boots\": 1, \"soak_s\": 0, %s\n"
		"  \"allow_unknown\": [\"image-identity\", \"timed-sleep\", \"clock-audit\",\n"
		"    \"interrupts-advance\", \"clock-host\", \"reference\"],\n"
		"  \"windows\": [",
		rig->config.extra ? rig->config.extra : "");
	for (unsigned i = 0; i < rig->config.windows; i++)
		fprintf(file,
			"%s\n    { \"bench\": \"wake.idle\", \"n\": %u, \"phase\": \"aligned\", "
			"\"seed\": %u }",
			i ? "," : "", rig->config.n, i + 1);
	fputs(" ] }\n", file);
	ck_assert_int_eq(fclose(file), 0);
}

void many_rig_start(struct many_rig *rig, const struct many_config *config)
{
	struct lab_rig *lab = &rig->daemon.lab;
	char dir[64];

	*rig = (struct many_rig){.config = *config};
	scratch_init(&lab->scratch);
	snprintf(dir, sizeof(dir), "%s", lab->scratch.dir);
	snprintf(lab->db, sizeof(lab->db), "%s", scratch_path(&lab->scratch, "runs.db"));
	recording_open(&rig->recording);
	write_lab(rig);
	write_manifest(rig);
	write_suite(rig);
	recorded_peer_start(&rig->peer, &rig->recording, dir, &config->peer);
	daemon_rig_prepare(&rig->daemon);
	daemon_rig_begin(&rig->daemon);
}

void many_rig_submit(struct many_rig *rig)
{
	char *text = read_file(rig->suite);

	rig->begun_s = (double)monotonic_get_us() / 1e6;
	for (unsigned i = 0; i < rig->config.peer.boards; i++) {
		cJSON *job = cJSON_CreateObject(), *answer;
		char board[32], *body;

		snprintf(board, sizeof(board), "board%u", i);
		cJSON_AddStringToObject(job, "suite", rig->suite);
		cJSON_AddStringToObject(job, "suite_text", text);
		cJSON_AddStringToObject(job, "board", board);
		body = cJSON_PrintUnformatted(job);
		ck_assert_int_eq(
			daemon_rig_ask(&rig->daemon, "POST", "/v1/jobs", body, &answer), 201);
		cJSON_Delete(answer);
		cJSON_free(body);
		cJSON_Delete(job);
	}
	free(text);
}

void many_rig_stop(struct many_rig *rig)
{
	daemon_rig_stop(&rig->daemon);
	recorded_peer_stop(&rig->peer);
	recording_close(&rig->recording);
}
