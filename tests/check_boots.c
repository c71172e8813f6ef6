/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boots with random faults of the wires: each ends with the right verdict and
 * the board at rest. `make check` runs a small fixed sample, `make
 * campaign-boots` as many as $SAMEBOARD_BOOTS says; it can be stopped and goes on
 * where it was, by the file $SAMEBOARD_BOOTS_FILE. A boot's number is the seed of
 * all that happens in it.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/log.h"
#include "harness/run.h"
#include "tests/lab_rig.h"

#define SAMPLE	       7 /* boots in `make check` */
#define AT_ONCE	       3
#define SPEEDS	       7 /* boots of each kind whose time is compared */
#define SLOWER_AT_MOST 1.3
#define BANNER	       "U-Boot 20"
#define PATIENT_S      25 /* from the loader's hand-over to the agent */

enum kind {
	KIND_HEALTHY,
	KIND_NOISE,
	KIND_DROP,
	KIND_EATEN,
	KIND_BOUNCE,
	KIND_RESET,
	KIND_LATENCY,
	KIND_STORM, /* Linux, which prints hundreds of lines, on a noisy line */
	KIND_GONE,  /* the adapter is gone, and the board with it */
	KIND_CUT,
	KIND_NO_CARD,
	KIND_STUCK,
	KIND_HANG,
	KINDS,
};

static const char *const kind_names[KINDS] = {"healthy", "noise", "drop", "eaten", "bounce",
	"reset", "latency", "storm", "gone", "cut", "no card", "stuck relay", "hang"};

struct trial {
	unsigned number;
	enum kind kind;
	const char *system;
	char faults[96], seed[16];
	double moment_s;
	struct lab_rig rig;
	struct run_result result;
	size_t banner_so_far;
	unsigned banners; /* of the loader, as they were heard */
};

static uint64_t draw(uint64_t *state, uint64_t below)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % below;
}

static void make_trial(struct trial *trial, unsigned number)
{
	/* What waits for its time to be over is rarer. */
	static const enum kind kinds[] = {KIND_HEALTHY, KIND_NOISE, KIND_EATEN, KIND_RESET,
		KIND_BOUNCE, KIND_DROP, KIND_LATENCY, KIND_NOISE, KIND_RESET, KIND_STORM,
		KIND_HEALTHY, KIND_DROP, KIND_GONE, KIND_RESET, KIND_NO_CARD, KIND_EATEN, KIND_CUT,
		KIND_NOISE, KIND_GONE, KIND_STUCK, KIND_HEALTHY, KIND_HANG};
	uint64_t state = number;
	char *faults = trial->faults;
	const size_t size = sizeof(trial->faults);

	*trial = (struct trial){.number = number,
		.kind = kinds[number % (sizeof(kinds) / sizeof(kinds[0]))],
		.system = "baremetal"};
	trial->moment_s = 0.1 + (double)draw(&state, 5000) / 1e3;
	snprintf(trial->seed, sizeof(trial->seed), "%u", number + 1);
	switch (trial->kind) {
	case KIND_NOISE:
		snprintf(faults, size, "noise=%.1e", 1e-6 * (double)(1 + draw(&state, 30)));
		break;
	case KIND_DROP:
		snprintf(faults, size, "drop=%.1e", 1e-5 * (double)(1 + draw(&state, 20)));
		break;
	case KIND_EATEN:
		snprintf(faults, size, "eat=%u", (unsigned)(1 + draw(&state, 700)));
		break;
	case KIND_BOUNCE:
		snprintf(faults, size, "bounce");
		break;
	case KIND_RESET:
		snprintf(faults, size, "reset-after=%.3f", trial->moment_s);
		break;
	case KIND_LATENCY:
		snprintf(faults, size, "usb-latency=16,chunk=62");
		break;
	case KIND_STORM:
		trial->system = "linux";
		snprintf(faults, size, "noise=%.1e", 1e-6 * (double)(1 + draw(&state, 10)));
		break;
	case KIND_CUT:
		snprintf(faults, size, "cut=uart@%.3f", trial->moment_s);
		break;
	case KIND_NO_CARD:
		snprintf(faults, size, "no-card");
		break;
	case KIND_STUCK:
		snprintf(faults, size, "stuck-relay");
		break;
	case KIND_HANG:
		snprintf(faults, size, "hang=uboot");
		break;
	case KIND_HEALTHY:
	case KIND_GONE:
	case KINDS:
		break;
	}
}

/* ------------------------------------------------------------------ vboard */

/* When its log first has this, in seconds; negative: never. */
static double find_event(struct lab_rig *rig, const char *what)
{
	FILE *file = fopen(scratch_path(&rig->scratch, "board/log"), "r");
	char line[512];
	double at = -1;

	while (file && at < 0 && fgets(line, sizeof(line), file))
		if (strstr(line, what))
			sscanf(line, " %lf", &at);
	if (file)
		fclose(file);
	return at;
}

static double since_power_on(struct lab_rig *rig, const char *what)
{
	double on_s = find_event(rig, "power on"), at_s = find_event(rig, what);

	return on_s < 0 || at_s < 0 ? -1 : at_s - on_s;
}

/* vboard is killed at that moment, as an adapter and its board that are pulled. */
static pid_t pull_out(struct trial *trial)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (find_event(&trial->rig, "power on") < 0)
			usleep(5000);
		usleep((useconds_t)(trial->moment_s * 1e6));
		kill(trial->rig.board, SIGKILL);
		_exit(0);
	}
	return pid;
}

/* ------------------------------------------------------------------- boots */

static void count_banners(void *context, enum link_direction direction, uint64_t time_us,
	const void *data, size_t size)
{
	struct trial *trial = context;
	const char *bytes = data;

	(void)time_us;
	for (size_t i = 0; direction == LINK_DIRECTION_RX && i < size; i++) {
		if (bytes[i] == BANNER[trial->banner_so_far])
			trial->banner_so_far++;
		else
			trial->banner_so_far = bytes[i] == BANNER[0];
		if (trial->banner_so_far < sizeof(BANNER) - 1)
			continue;
		trial->banner_so_far = 0;
		trial->banners++;
	}
}

static void boot(struct trial *trial)
{
	struct run_request request = {.is_boot_only = true, .write_card = true, .boot = 1};
	struct store_job job = {.command = "boots", .suite = "boot", .version = "test"};
	struct plan plan = {0};
	struct manifest *manifest = NULL;
	struct store *store = NULL;
	struct lab *lab = NULL;
	struct board board;
	char path[600];

	ck_assert_msg(lab_open(&lab, trial->rig.lab) == 0, "%s", lab_error(lab));
	ck_assert_int_eq(store_open(&store, trial->rig.db, 0), 0);
	ck_assert_msg(store_begin_job(store, &job, &request.job_id) == 0, "%s", store_error(store));
	snprintf(path, sizeof(path), "%s/%s.json", trial->rig.images, trial->system);
	ck_assert_msg(manifest_open(&manifest, path) == 0, "%s", manifest_error(manifest));
	if (trial->kind != KIND_STORM)
		manifest->start_timeout_s = PATIENT_S;
	ck_assert_msg(board_open(&board, &lab->boards[0], "boots") == 0, "%s", board.error);
	request.store = store;
	request.board = &board;
	request.plan = &plan;
	request.watch = (struct link_tap){count_banners, trial};
	request.manifest = manifest;
	run_execute(&request, &trial->result);
	board_close(&board);
	manifest_close(manifest);
	store_close(store);
	lab_close(lab);
}

/* Whether what happened to the board came before its agent. */
static bool is_hit(const struct trial *trial, double at_s)
{
	return at_s >= 0 &&
	       (trial->result.hello_ms == 0 || at_s * 1e3 < (double)trial->result.hello_ms);
}

/* NULL when the verdict is right, else what it should be. */
static const char *find_mistake(struct trial *trial)
{
	enum verdict verdict = trial->result.verdict;
	bool passed = verdict == VERDICT_PASS;
	double at_s;

	switch (trial->kind) {
	case KIND_HEALTHY:
	case KIND_NOISE:
	case KIND_DROP:
	case KIND_EATEN:
	case KIND_BOUNCE:
	case KIND_LATENCY:
	case KIND_STORM:
		return passed ? NULL : "a pass";
	case KIND_RESET:
		at_s = since_power_on(&trial->rig, "fault: reset");
		/* Before the loader's banner it looks like contacts that bounce. */
		if (!is_hit(trial, at_s) || (passed && trial->banners == 1))
			return passed ? NULL : "a pass: no reset came before the agent";
		return passed ? "no pass: it was reset" : NULL;
	case KIND_CUT:
		at_s = trial->moment_s;
		if (!is_hit(trial, at_s))
			return passed ? NULL : "a pass: the wires held until the agent";
		return passed ? "no pass: the wires were cut" : NULL;
	case KIND_GONE:
		if (passed)
			return trial->result.hello_ms <= trial->moment_s * 1e3 + 300
				       ? NULL
				       : "no pass: the board was gone";
		return verdict == VERDICT_LAB_FAILURE ? NULL : "a lab failure";
	case KIND_NO_CARD:
	case KIND_STUCK:
	case KIND_HANG:
		return verdict == VERDICT_LAB_FAILURE ? NULL : "a lab failure";
	case KINDS:
		break;
	}
	return "known";
}

/* 0, or what is wrong is on standard output. */
static int run_trial(unsigned number, unsigned *hello_ms)
{
	static struct trial trial;
	const char *mistake;
	pid_t puller = 0;
	bool has_power;

	make_trial(&trial, number);
	lab_rig_start_seeded(&trial.rig, trial.faults[0] ? trial.faults : NULL, 64, trial.seed);
	setenv("SAMEBOARD_STATE", scratch_path(&trial.rig.scratch, "state"), 1);
	log_set_quiet(true);
	if (trial.kind == KIND_STORM)
		lab_rig_be_patient(&trial.rig);
	if (trial.kind == KIND_GONE)
		puller = pull_out(&trial);
	boot(&trial);
	mistake = find_mistake(&trial);
	if (trial.kind == KIND_GONE) {
		waitpid(puller, NULL, 0);
		waitpid(trial.rig.board, NULL, 0);
		trial.rig.board = 0;
		has_power = false; /* its guard's, which check_vboard looks after */
	} else {
		has_power = lab_rig_has_power(&trial.rig);
	}
	if (mistake)
		printf("boot %u, %s (%s), moment %.3f s: %s, \"%s\", agent after %u ms; it should be "
		       "%s\n",
			number, kind_names[trial.kind], trial.faults, trial.moment_s,
			verdict_name(trial.result.verdict), trial.result.reason,
			(unsigned)trial.result.hello_ms, mistake);
	if (has_power)
		printf("boot %u, %s: the board is not at rest\n", number, kind_names[trial.kind]);
	lab_rig_stop(&trial.rig);
	*hello_ms = (unsigned)trial.result.hello_ms;
	fflush(stdout);
	return mistake || has_power;
}

/* ---------------------------------------------------------------- campaign */

struct campaign {
	const char *path;
	unsigned count, done, failed;
	bool *is_done;
};

static void take_line(struct campaign *campaign, const char *line)
{
	char result[16];
	unsigned number, ms;

	if (sscanf(line, "%u %15s %u", &number, result, &ms) != 3 || number >= campaign->count ||
		strcmp(result, "ok") != 0 || campaign->is_done[number])
		return;
	campaign->is_done[number] = true;
}

static void read_done(struct campaign *campaign)
{
	FILE *file = campaign->path ? fopen(campaign->path, "r") : NULL;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		take_line(campaign, line);
	if (file)
		fclose(file);
	for (unsigned i = 0; i < campaign->count; i++)
		campaign->done += campaign->is_done[i];
}

struct child {
	pid_t pid;
	int fd;
	unsigned number;
};

static void start_child(struct child *child, unsigned number)
{
	pid_t parent = getpid();
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	child->number = number;
	child->fd = ends[0];
	child->pid = fork();
	ck_assert_int_ge(child->pid, 0);
	if (child->pid == 0) {
		unsigned hello_ms = 0;
		int status;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		if (getppid() != parent)
			_exit(127);
		status = run_trial(number, &hello_ms);
		if (write(ends[1], &hello_ms, sizeof(hello_ms)) != sizeof(hello_ms))
			status = 127;
		_exit(status);
	}
	close(ends[1]);
}

static void reap(struct campaign *campaign, struct child *children)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);
	unsigned hello_ms = 0;
	struct trial trial;
	char line[128];

	for (unsigned i = 0; i < AT_ONCE; i++) {
		FILE *file;

		if (children[i].pid != pid)
			continue;
		if (read(children[i].fd, &hello_ms, sizeof(hello_ms)) != sizeof(hello_ms))
			status = -1;
		close(children[i].fd);
		children[i].pid = 0;
		make_trial(&trial, children[i].number);
		snprintf(line, sizeof(line), "%u %s %u %s %s\n", children[i].number,
			status == 0 ? "ok" : "FAILED", hello_ms, kind_names[trial.kind],
			trial.faults);
		campaign->failed += status != 0;
		take_line(campaign, line);
		file = campaign->path ? fopen(campaign->path, "a") : NULL;
		if (file) {
			fputs(line, file);
			fclose(file);
		}
	}
}

static void run_all(struct campaign *campaign)
{
	struct child children[AT_ONCE] = {{0}};
	unsigned running = 0;

	for (unsigned number = 0; number < campaign->count; number++) {
		unsigned place = 0;

		if (campaign->is_done[number])
			continue;
		if (running == AT_ONCE) {
			reap(campaign, children);
			running--;
		}
		while (children[place].pid)
			place++;
		start_child(&children[place], number);
		running++;
	}
	for (; running; running--)
		reap(campaign, children);
}

/* ------------------------------------------------------------------- speed */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return count ? values[count / 2] : 0;
}

/* Its loader starts the system where a plan begins with a frame's zero; this one is empty. */
static const char *make_autobooting_image(struct lab_rig *rig)
{
	cJSON *manifest = lab_rig_read_manifest(rig, "baremetal");
	const cJSON *plan = cJSON_GetObjectItem(manifest, "plan");
	size_t offset = (size_t)cJSON_GetObjectItem(plan, "offset")->valuedouble;
	size_t size = (size_t)cJSON_GetObjectItem(plan, "size")->valuedouble;
	static char bytes[16 << 20];
	FILE *file = fopen("build/images/baremetal.img", "r");
	size_t got;

	ck_assert_ptr_nonnull(file);
	got = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	ck_assert_uint_le(offset + size, got);
	memset(bytes + offset, 0, size);
	cJSON_Delete(manifest);
	return scratch_write(&rig->scratch, "auto.img", bytes, got);
}

/* By vboard's own log, with nobody who types: from power-on to the first frame. */
static double boot_passively(void)
{
	struct lab_rig rig;
	struct lab *lab = NULL;
	struct board board;
	double took_s = -1;
	char bytes[4096], image[300];

	lab_rig_start_autoboot(&rig, 64);
	setenv("SAMEBOARD_STATE", scratch_path(&rig.scratch, "state"), 1);
	snprintf(image, sizeof(image), "%s", make_autobooting_image(&rig));
	lab_rig_expect(&rig, 0, (const char *[]){"sd", "vpanel", "write", image, NULL});
	ck_assert_int_eq(lab_open(&lab, rig.lab), 0);
	ck_assert_int_eq(board_open(&board, &lab->boards[0], "passive"), 0);
	ck_assert_int_eq(board_open_console(&board), 0);
	ck_assert_int_eq(board_set_power(&board, true), 0);
	while (took_s < 0) {
		ck_assert_int_gt(link_read(board.console, bytes, sizeof(bytes), 60000), 0);
		took_s = since_power_on(&rig, "first frame of the guest");
	}
	board_close(&board);
	lab_close(lab);
	lab_rig_stop(&rig);
	return took_s * 1e3;
}

/* One beside the other, so that what else the machine does is the same for both. */
static void check_speed(void)
{
	double passive_ms[SPEEDS], own_ms[SPEEDS], passive, own;

	for (size_t i = 0; i < SPEEDS; i++) {
		unsigned hello_ms = 0;

		passive_ms[i] = boot_passively();
		ck_assert_int_eq(run_trial(0, &hello_ms), 0);
		own_ms[i] = hello_ms;
	}
	passive = median_of(passive_ms, SPEEDS);
	own = median_of(own_ms, SPEEDS);
	printf("power-on to agent, medians of %d: %.0f ms; by vboard's log with autoboot and a passive "
	       "reader %.0f ms: %.2f times\n",
		SPEEDS, own, passive, own / passive);
	fflush(stdout);
	ck_assert_msg(
		own <= SLOWER_AT_MOST * passive, "more than %.1f times as slow", SLOWER_AT_MOST);
}

START_TEST(every_boot_ends_with_the_right_verdict_and_at_rest)
{
	const char *asked = getenv("SAMEBOARD_BOOTS");
	struct campaign campaign = {.path = asked ? getenv("SAMEBOARD_BOOTS_FILE") : NULL,
		.count = asked ? (unsigned)strtoul(asked, NULL, 10) : SAMPLE};

	campaign.is_done = calloc(campaign.count + 1, sizeof(*campaign.is_done));
	read_done(&campaign);
	run_all(&campaign);
	printf("%u boots (%u of an earlier start): %u wrong verdicts or boards not at rest\n",
		campaign.count, campaign.done, campaign.failed);
	if (asked)
		check_speed();
	fflush(stdout);
	free(campaign.is_done);
	ck_assert_uint_eq(campaign.failed, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("boots");
	TCase *tcase = tcase_create("boots");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, getenv("SAMEBOARD_BOOTS") ? 0 : 240);
	tcase_add_test(tcase, every_boot_ends_with_the_right_verdict_and_at_rest);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
