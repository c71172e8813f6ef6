/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lab_rig.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/vboard_rig.h"

/* The images are built once, whatever flags the programs are built with. */
#define IMAGES "build/images"

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(file);
	return text;
}

/* ------------------------------------------------------------------ vboard */

void lab_rig_use_wires(struct lab_rig *rig, const char *console, const char *power)
{
	char text[PATH_MAX + 2048], sdmux[PATH_MAX];

	rig_find_program("vboard-sdmux", sdmux, sizeof(sdmux));
	snprintf(text, sizeof(text),
		"{ \"boards\": { \"vpanel\": {\n"
		"  \"model\": \"virtual-86-panel\", \"time\": \"%s\",\n"
		"  \"console\": { %s },\n"
		"  \"power\": { %s },\n"
		"  \"sdmux\": { \"driver\": \"usbsdmux\", \"command\": \"%s\",\n"
		"    \"device\": \"./board\", \"card\": \"board/card\" } } } }\n",
		rig->time ? rig->time : "real", console, power, sdmux);
	snprintf(rig->lab, sizeof(rig->lab), "%s",
		scratch_write(&rig->scratch, "lab.json", text, strlen(text)));
}

static void write_lab(struct lab_rig *rig, const char *driver, const char *more)
{
	char console[256], power[256];

	snprintf(console, sizeof(console), "\"driver\": \"%s\", \"path\": \"board/uart\"%s", driver,
		more);
	snprintf(power, sizeof(power),
		"\"driver\": \"lcus\", \"channel\": 1, \"off_ms\": 200,\n    \"answer_ms\": 5000,\n"
		"    \"port\": { \"driver\": \"%s\", \"path\": \"board/relay\" }",
		driver);
	lab_rig_use_wires(rig, console, power);
}

void lab_rig_be_patient(struct lab_rig *rig)
{
	static const char rules[] =
		"{ \"silence_ms\": { \"handoff\": 300000, \"linux\": 300000 } }\n";
	static char text[8192];
	FILE *file = fopen(rig->lab, "r");
	size_t size;
	char *at;

	ck_assert_ptr_nonnull(file);
	size = fread(text, 1, sizeof(text) / 2, file);
	fclose(file);
	text[size] = '\0';
	at = strstr(text, "\"console\"");
	ck_assert_ptr_nonnull(at);
	memmove(at + 26, at, strlen(at) + 1);
	memcpy(at, "\"rules\": \"patient.json\",  ", 26);
	scratch_write(&rig->scratch, "patient.json", rules, sizeof(rules) - 1);
	scratch_write(&rig->scratch, "lab.json", text, strlen(text));
}

static void prepare(struct lab_rig *rig, const char *console)
{
	scratch_init(&rig->scratch);
	write_lab(rig, "pty", console);
	snprintf(rig->db, sizeof(rig->db), "%s", scratch_path(&rig->scratch, "runs.db"));
	ck_assert_ptr_nonnull(realpath(IMAGES, rig->images));
}

void lab_rig_start_unplugged(struct lab_rig *rig)
{
	*rig = (struct lab_rig){0};
	prepare(rig, "");
}

static void start(struct lab_rig *rig, const char *faults, unsigned card_mib,
	const char *uart_clock, const char *console)
{
	char vboard[PATH_MAX], dir[300], card[300], ready[16] = "";
	int ends[2], fd;
	pid_t parent = getpid();

	prepare(rig, console);
	rig_find_program("vboard", vboard, sizeof(vboard));
	snprintf(dir, sizeof(dir), "%s", scratch_path(&rig->scratch, "board"));
	snprintf(card, sizeof(card), "%s", scratch_path(&rig->scratch, "card.bin"));
	fd = open(card, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)card_mib << 20), 0);
	close(fd);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	rig->board = fork();
	ck_assert_int_ge(rig->board, 0);
	if (rig->board == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(127);
		dup2(ends[1], 1);
		execl(vboard, vboard, "--dir", dir, "--card", card, "--uboot",
			rig->time || rig->autoboots ? IMAGES "/u-boot-autoboot.bin"
						    : IMAGES "/u-boot.bin",
			"--seed", rig->seed ? rig->seed : "1", "--time",
			rig->time ? rig->time : "real", "--uart-clock", uart_clock,
			faults ? "--fault" : NULL, faults, NULL);
		_exit(127);
	}
	close(ends[1]);
	ck_assert_msg(read(ends[0], ready, sizeof(ready) - 1) > 0 && !strncmp(ready, "ready", 5),
		"vboard did not start");
	close(ends[0]);
}

void lab_rig_start_raised(struct lab_rig *rig, const char *faults, unsigned card_mib)
{
	*rig = (struct lab_rig){0};
	start(rig, faults, card_mib, "24000000", ", \"max_baud\": 1500000");
}

void lab_rig_start(struct lab_rig *rig, const char *faults, unsigned card_mib)
{
	*rig = (struct lab_rig){0};
	start(rig, faults, card_mib, "3686400", "");
}

void lab_rig_start_autoboot(struct lab_rig *rig, unsigned card_mib)
{
	*rig = (struct lab_rig){.autoboots = true};
	start(rig, NULL, card_mib, "3686400", "");
}

void lab_rig_start_seeded(
	struct lab_rig *rig, const char *faults, unsigned card_mib, const char *seed)
{
	*rig = (struct lab_rig){.seed = seed};
	start(rig, faults, card_mib, "3686400", "");
}

void lab_rig_start_icount(struct lab_rig *rig, unsigned card_mib)
{
	*rig = (struct lab_rig){.time = "icount"};
	start(rig, NULL, card_mib, "3686400", "");
}

void lab_rig_use_serial(struct lab_rig *rig)
{
	write_lab(rig, "serial", "");
	rig->has_shim = true;
}

void lab_rig_stop(struct lab_rig *rig)
{
	int status;

	if (rig->board > 0) {
		ck_assert_int_eq(kill(rig->board, SIGTERM), 0);
		ck_assert_int_eq(waitpid(rig->board, &status, 0), rig->board);
		ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
			"vboard ended with %#x", (unsigned)status);
	}
	free(rig->out);
	free(rig->err);
	scratch_fini(&rig->scratch);
}

void lab_rig_ask(struct lab_rig *rig, const char *question, char *answer, size_t size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char line[64];
	ssize_t got;
	int length = snprintf(line, sizeof(line), "%s\n", question);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		scratch_path(&rig->scratch, "board/vboard.sock"));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(write(fd, line, (size_t)length), length);
	got = read(fd, answer, size - 1);
	ck_assert_int_gt(got, 0);
	answer[got] = '\0';
	close(fd);
	ck_assert_msg(!strncmp(answer, "ok ", 3), "vboard said %s", answer);
	memmove(answer, answer + 3, (size_t)got - 2);
}

bool lab_rig_has_power(struct lab_rig *rig)
{
	char answer[256];

	lab_rig_ask(rig, "power", answer, sizeof(answer));
	return strncmp(answer, "on", 2) == 0;
}

unsigned long long lab_rig_count_bytes(struct lab_rig *rig)
{
	char answer[2048];
	const char *at;

	lab_rig_ask(rig, "stats", answer, sizeof(answer));
	at = strstr(answer, "to_host_bytes=");
	ck_assert_msg(at != NULL, "%s", answer);
	return strtoull(strchr(at, '=') + 1, NULL, 10);
}

/* ----------------------------------------------------------------- program */

/* Which of --lab, --db and --images a command takes, as its help says. */
static size_t add_defaults(struct lab_rig *rig, const char *command, const char *argv[],
	size_t count, char options[3][600])
{
	static const struct {
		const char *name, *commands;
	} rows[] = {
		{"lab", " run boards power sd doctor recover work "},
		{"db", " run list show compare report import history export bisect baseline boards recover work "},
		{"images", " run doctor "},
	};
	const char *values[] = {rig->lab, rig->db, rig->images};
	char word[32];

	snprintf(word, sizeof(word), " %s ", command);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!strstr(rows[i].commands, word))
			continue;
		snprintf(options[i], sizeof(options[i]), "--%s=%s", rows[i].name, values[i]);
		argv[count++] = options[i];
	}
	return count;
}

void lab_rig_begin(struct lab_rig *rig, const char *const arguments[])
{
	const char *argv[LAB_RIG_ARGUMENTS_MAX + 8];
	char program[PATH_MAX], shim[PATH_MAX], out[300], err[300], state[300], options[3][600];
	pid_t parent = getpid();
	size_t count = 0;

	rig_find_program("sameboard", program, sizeof(program));
	if (rig->has_shim)
		rig_find_program("tests/pty_serial.so", shim, sizeof(shim));
	argv[count++] = program;
	argv[count++] = arguments[0];
	count = add_defaults(rig, arguments[0], argv, count, options);
	for (size_t i = 1; arguments[i]; i++) {
		ck_assert_uint_lt(i, LAB_RIG_ARGUMENTS_MAX);
		argv[count++] = arguments[i];
	}
	argv[count] = NULL;
	snprintf(out, sizeof(out), "%s", scratch_path(&rig->scratch, "out"));
	snprintf(err, sizeof(err), "%s", scratch_path(&rig->scratch, "err"));
	snprintf(state, sizeof(state), "%s", scratch_path(&rig->scratch, "state"));
	rig->client = fork();
	ck_assert_int_ge(rig->client, 0);
	if (rig->client == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(127);
		dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
		dup2(open(err, O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
		if (rig->has_shim) {
			setenv("LD_PRELOAD", shim, 1);
			/* A sanitizer wants to be first; it need not. */
			setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
		}
		setenv("SAMEBOARD_STATE", state, 1);
		setenv("SAMEBOARD_SUITES", "harness/suites", 1);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
}

int lab_rig_end(struct lab_rig *rig)
{
	int status;

	ck_assert_int_eq(waitpid(rig->client, &status, 0), rig->client);
	free(rig->out);
	free(rig->err);
	rig->out = read_text(scratch_path(&rig->scratch, "out"));
	rig->err = read_text(scratch_path(&rig->scratch, "err"));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Check's messages have a limit: the end of a long text is what tells. */
static void keep_end(char *text, size_t most)
{
	size_t size = strlen(text);

	if (size > most)
		memmove(text, text + size - most, most + 1);
}

void lab_rig_expect(struct lab_rig *rig, int wanted, const char *const arguments[])
{
	int exit_code = lab_rig_run(rig, arguments);

	if (exit_code == wanted)
		return;
	keep_end(rig->err, 1500);
	keep_end(rig->out, 500);
	ck_abort_msg("%s %s ended with %d and not %d: %s %s", arguments[0],
		arguments[1] ? arguments[1] : "", exit_code, wanted, rig->err, rig->out);
}

int lab_rig_run(struct lab_rig *rig, const char *const arguments[])
{
	lab_rig_begin(rig, arguments);
	return lab_rig_end(rig);
}

/* ------------------------------------------------------------------ results */

cJSON *lab_rig_json(struct lab_rig *rig)
{
	cJSON *json = cJSON_Parse(rig->out);

	ck_assert_msg(json != NULL, "no JSON in \"%s\"; errors: %s", rig->out, rig->err);
	return json;
}

cJSON *lab_rig_show(struct lab_rig *rig)
{
	ck_assert_msg(lab_rig_run(rig, (const char *[]){"show", "LAST", "--json", NULL}) == 0, "%s",
		rig->err);
	return lab_rig_json(rig);
}

const cJSON *lab_rig_find_gate(const cJSON *show, const char *id, const char *verdict)
{
	const cJSON *gate;

	cJSON_ArrayForEach(gate, cJSON_GetObjectItem(show, "gates"))
	{
		const char *its_id = cJSON_GetStringValue(cJSON_GetObjectItem(gate, "id"));
		const char *its = cJSON_GetStringValue(cJSON_GetObjectItem(gate, "verdict"));

		if (strcmp(its_id, id) == 0 && strcmp(its, verdict) == 0)
			return gate;
	}
	return NULL;
}

void lab_rig_check_db(struct lab_rig *rig)
{
	sqlite3 *db;
	sqlite3_stmt *statement;

	ck_assert_int_eq(sqlite3_open(rig->db, &db), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	ck_assert_str_eq((const char *)sqlite3_column_text(statement, 0), "ok");
	sqlite3_finalize(statement);
	sqlite3_close(db);
}

/* ------------------------------------------------------------------- inputs */

const char *lab_rig_write_suite(
	struct lab_rig *rig, const char *systems, const char *windows, unsigned soak_s)
{
	char text[2048];
	int size = snprintf(text, sizeof(text),
		"{ \"systems\": [%s], \"boots\": 1, \"soak_s\": %u, \"windows\": [%s] }\n", systems,
		soak_s, windows);

	snprintf(rig->suite, sizeof(rig->suite), "%s",
		scratch_write(&rig->scratch, "suite.json", text, (size_t)size));
	return rig->suite;
}

cJSON *lab_rig_read_manifest(struct lab_rig *rig, const char *system)
{
	char path[PATH_MAX], *text;
	cJSON *manifest;

	snprintf(path, sizeof(path), "%s/%s.json", rig->images, system);
	text = read_text(path);
	manifest = cJSON_Parse(text);
	ck_assert_msg(manifest != NULL, "%s is no JSON", path);
	free(text);
	return manifest;
}

void lab_rig_write_manifest(struct lab_rig *rig, const char *system, cJSON *manifest)
{
	char image[PATH_MAX], name[128], *text = cJSON_Print(manifest);

	snprintf(image, sizeof(image), "%s/%s.img", rig->images, system);
	snprintf(rig->images, sizeof(rig->images), "%s", scratch_path(&rig->scratch, "images"));
	ck_assert_int_eq(mkdir(rig->images, 0755), 0);
	snprintf(name, sizeof(name), "images/%s.json", system);
	scratch_write(&rig->scratch, name, text, strlen(text));
	snprintf(name, sizeof(name), "images/%s.img", system);
	ck_assert_int_eq(symlink(image, scratch_path(&rig->scratch, name)), 0);
	cJSON_free(text);
	cJSON_Delete(manifest);
}
