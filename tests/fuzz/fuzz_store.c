/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte chooses: a good database file with bytes of it changed, or one
 * whose rows of samples and console say anything; and whether everything is read
 * or the runs are compared.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/blob.h"
#include "db/handle.h"
#include "db/queue.h"
#include "harness/compare.h"
#include "harness/exact.h"
#include "harness/show.h"
#include "tests/fuzz/fuzz.h"

#define T0	    1700000000000
#define SAMPLES_MAX (1u << 28) /* bytes that a query may give of so small a file */

/* ------------------------------------------------------------------- reading */

typedef void use_store(struct store *store);

static void check(struct store *store, int rc)
{
	FUZZ_EXPECT(rc >= 0 || store_error(store)[0] != '\0');
}

static void read_series(struct store *store, const struct query_series *series)
{
	/* Its own kind, or another one. */
	for (int kind = STORE_SERIES_COUNTS; kind <= STORE_SERIES_STAMPS; kind++) {
		static const size_t sizes[] = {0, 4, 8, 1};
		size_t count;
		void *data;
		int rc = query_samples(
			store, series->id, (enum store_series_kind)kind, &data, &count);

		check(store, rc);
		FUZZ_EXPECT((rc == 0) == (data != NULL));
		if (rc == 0) {
			FUZZ_EXPECT((int64_t)count == series->count && kind == series->kind);
			FUZZ_EXPECT(count * sizes[kind] <= SAMPLES_MAX);
			/* Before it was swapped, on a machine like this one. */
			FUZZ_EXPECT(
				blob_crc32c(data, count * sizes[kind]) == (uint32_t)series->crc32c);
		}
		free(data);
	}
}

static void read_windows(struct store *store, int64_t run_id)
{
	struct query_window *windows;
	int count = query_windows(store, run_id, &windows);

	check(store, count);
	for (int i = 0; i < count; i++) {
		struct query_series *series;
		int series_count = query_series(store, windows[i].id, &series);

		check(store, series_count);
		for (int k = 0; k < series_count; k++)
			read_series(store, &series[k]);
		free(series);
	}
	free(windows);
}

static void read_run(struct store *store, int64_t run_id)
{
	struct store_mark *marks;
	size_t size, mark_count;
	struct show show = {0};
	char *text;
	cJSON *json;

	check(store, query_manifest(store, run_id, &text));
	free(text);
	check(store, query_console(store, run_id, &text, &size, &marks, &mark_count));
	FUZZ_EXPECT(size <= SAMPLES_MAX && (!text || text[size] == '\0'));
	free(text);
	free(marks);
	check(store, show_load(store, run_id, &show));
	json = show.run ? show_to_json(store, &show) : NULL;
	text = json ? cJSON_Print(json) : NULL;
	free(text);
	cJSON_Delete(json);
	show_fini(&show);
	read_windows(store, run_id);
}

/* One run beside itself. */
static void compare_all(struct store *store)
{
	static const int64_t id = 1;
	struct compare compare;
	struct exact exact;
	int rc = compare_init(&compare, store, &id, 1);

	check(store, rc);
	if (rc == 0) {
		cJSON_Delete(compare_to_json(&compare));
		free(compare_to_text(&compare));
	}
	compare_fini(&compare);
	if (exact_init(&exact, store, id, &id, 1) == 0)
		free(exact_to_text(&exact));
	exact_fini(&exact);
}

static void read_all(struct store *store)
{
	struct query_baseline *baselines;
	struct queue_health *health;
	struct queue_row *rows;
	struct query_run *runs;
	int64_t id;
	int count;

	check(store, query_baselines(store, &baselines));
	free(baselines);
	check(store, queue_list_open(store, &rows));
	free(rows);
	if (queue_get(store, 1, &rows) == 0)
		free(rows);
	check(store, queue_get_health(store, "panel1", &health));
	free(health);
	check(store, query_resolve_run(store, "LAST~1", &id));
	count = query_runs(store, NULL, &runs);
	check(store, count);
	for (int i = 0; i < count && i < 2; i++)
		read_run(store, runs[i].id);
	free(runs);
}

/* --------------------------------------------------------------------- making */

static void add_window(struct store *store, int64_t run, unsigned number, const char *series)
{
	static const int32_t values[] = {0, 5, 3, 3, 70, 4, 3, 2, 90000, 1, 1, 1};
	static const uint64_t stamps[] = {1000, 2000, 3000, 4000, 5001, 6000};
	const struct store_window window = {.number = number,
		.bench = 10,
		.name = "wake.idle",
		.load = "idle",
		.phase = "aligned",
		.n = 12,
		.period_us = 1000};
	const struct store_series list[] = {
		{.id = 1, .name = series, .kind = STORE_SERIES_COUNTS, .data = values, .count = 12},
		{.id = 2, .name = "os_ns", .kind = STORE_SERIES_STAMPS, .data = stamps, .count = 6},
		{.id = 3,
			.name = "counters",
			.kind = STORE_SERIES_TEXT,
			.data = "uart_rx=0\n",
			.count = 10},
	};
	static const char *const metrics[] = {"n", "p50", "p99", "p99.9", "max", "missed", "early"};

	FUZZ_EXPECT(store_begin_window(store, run, &window) == 0);
	for (size_t i = 0; i < 3; i++)
		FUZZ_EXPECT(store_add_series(store, &list[i]) == 0);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		FUZZ_EXPECT(store_add_metric(store, run,
				    &(struct store_metric){.series = series,
					    .name = metrics[i],
					    .value = 3.5,
					    .unit = "counts"}) == 0);
	FUZZ_EXPECT(store_add_metric(store, run,
			    &(struct store_metric){
				    .name = "counter_hz", .value = 24e6, .unit = "Hz"}) == 0);
	FUZZ_EXPECT(store_commit_window(store) == 0);
}

static void add_run(struct store *store, int64_t job, const char *system, int64_t *run)
{
	const struct store_mark marks[] = {{0, T0, false}, {7, T0 + 5, true}};
	const struct store_gate gates[] = {
		{.id = "silence", .window = 1, .verdict = GATE_VERDICT_PASS, .evidence = "0 bytes"},
		{.id = "soak",
			.verdict = GATE_VERDICT_PASS,
			.evidence = "30 s",
			.threshold = ">= 20 s"},
	};

	const struct store_run row = {.job_id = job,
		.board = "panel1",
		.model = "lichee-rv-86-panel",
		.system = system,
		.image_version = "1.0",
		.image_file = "test.img",
		.image_sha256 = "00ff",
		.image_manifest = "{}",
		.boot = 1,
		.started_ms = T0};

	FUZZ_EXPECT(store_begin_run(store, &row, run) == 0);
	FUZZ_EXPECT(store_set_facts(store, *run, "platform=x\nprotection=none\n", 27) == 0);
	FUZZ_EXPECT(store_add_event(store, *run, T0, "state", "power on") == 0);
	FUZZ_EXPECT(store_append_console(store, *run, "U-Boot => run", 13, marks, 2) == 0);
	add_window(store, *run, 1, "latency");
	add_window(store, *run, 2, "handoff.instret");
	FUZZ_EXPECT(store_end_run(store, *run, VERDICT_PASS, "", T0 + 9, gates, 2) == 0);
}

/* In memory; the caller closes it. */
static struct store *make_store(void)
{
	const struct store_job begun = {.command = "run test", .suite = "smoke", .started_ms = T0};
	const struct queue_job queued = {.board = "panel1",
		.client = "x",
		.suite = "smoke",
		.suite_json = "{}",
		.systems = "linux",
		.command = "submit"};
	int64_t job, run, id;
	struct store *store;

	FUZZ_EXPECT(store_open(&store, ":memory:", 0) == 0);
	FUZZ_EXPECT(store_begin_job(store, &begun, &job) == 0);
	add_run(store, job, "linux", &run);
	FUZZ_EXPECT(store_set_baseline(store, "good", "note", &run, 1, T0) == 0);
	FUZZ_EXPECT(queue_add(store, &queued, &id) == 0);
	FUZZ_EXPECT(queue_note_health(store, "panel1", true, "no relay", T0) == 0);
	return store;
}

/* ------------------------------------------------------------- a changed file */

/* Small pages: most bytes mean something. */
static const unsigned char *get_image(size_t *size)
{
	static unsigned char *image;
	static sqlite3_int64 image_size;

	if (!image) {
		struct store *store = make_store();

		FUZZ_EXPECT(sqlite3_exec(store->db, "PRAGMA page_size=512; VACUUM", NULL, NULL,
				    NULL) == SQLITE_OK);
		image = sqlite3_serialize(store->db, "main", &image_size, 0);
		store_close(store);
	}
	*size = (size_t)image_size;
	return image;
}

static void write_file(char *path, const void *bytes, size_t size)
{
	int fd = mkstemp(path);

	FUZZ_EXPECT(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

static void read_file(const void *bytes, size_t size, use_store *use)
{
	const char *folder = getenv("TMPDIR");
	static const char *const behind[] = {"", "-wal", "-shm", "-journal"};
	char path[256], other[300];
	struct store *store;
	int rc;

	snprintf(path, sizeof(path), "%s/fuzz-store-XXXXXX", folder ? folder : "/tmp");
	write_file(path, bytes, size);
	rc = store_open(&store, path, STORE_READ_ONLY);
	FUZZ_EXPECT(store != NULL);
	check(store, rc);
	if (rc == 0)
		use(store);
	store_close(store);
	for (size_t i = 0; i < 4; i++) {
		snprintf(other, sizeof(other), "%s%s", path, behind[i]);
		unlink(other);
	}
}

static void change_file(struct fuzz_input *input, use_store *use)
{
	size_t size, got;
	const unsigned char *image = get_image(&size);
	unsigned char *changed = malloc(size);

	memcpy(changed, image, size);
	while (input->left > 0) {
		size_t at = (fuzz_take_half(input) | (size_t)fuzz_take_byte(input) << 16) % size;
		const uint8_t *bytes = fuzz_take_bytes(input, 1 + fuzz_take_byte(input) % 16, &got);

		got = got < size - at ? got : size - at;
		memcpy(changed + at, bytes, got);
	}
	read_file(changed, size, use);
	free(changed);
}

/* -------------------------------------------------------------- changed rows */

static void run_sql(struct store *store, const char *sql, const int64_t *numbers, int count,
	const uint8_t *bytes, size_t size)
{
	sqlite3_stmt *stmt;

	FUZZ_EXPECT(sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) == SQLITE_OK);
	for (int i = 0; i < count; i++)
		sqlite3_bind_int64(stmt, i + 1, numbers[i]);
	sqlite3_bind_blob(stmt, count + 1, bytes, (int)size, SQLITE_TRANSIENT);
	FUZZ_EXPECT(sqlite3_step(stmt) == SQLITE_DONE);
	sqlite3_finalize(stmt);
}

/* 8 bytes, or, where the first says so, one that is true. */
static int64_t take_number(struct fuzz_input *input, int64_t right)
{
	uint8_t head = fuzz_take_byte(input);
	uint64_t low;

	if (head == 0)
		return right;
	low = fuzz_take_word(input);
	return head & 1 ? (int64_t)low : (int64_t)(low << 32 | fuzz_take_word(input));
}

static void change_rows(struct fuzz_input *input, use_store *use)
{
	static struct store *store;
	size_t size, got;
	const uint8_t *bytes;
	void *packed;
	int64_t numbers[4];

	store = store ? store : make_store();
	sqlite3_exec(store->db, "PRAGMA ignore_check_constraints=ON; BEGIN", NULL, NULL, NULL);
	numbers[0] = take_number(input, STORE_SERIES_COUNTS);
	numbers[1] = take_number(input, 0);
	bytes = fuzz_take_bytes(input, fuzz_take_half(input) % 2048, &got);
	/* Packed, so that the frame is right and what is said about it is not. */
	FUZZ_EXPECT(blob_pack(bytes, got, &packed, &size) == 0);
	numbers[1] = numbers[1] ? numbers[1] : (int64_t)got / 4;
	numbers[2] = take_number(input, blob_crc32c(bytes, got));
	run_sql(store, "UPDATE series SET kind=?, count=?, crc32c=?, data=? WHERE id=1", numbers, 3,
		packed, size);
	numbers[0] = take_number(input, (int64_t)got);
	numbers[1] = blob_crc32c(bytes, got);
	numbers[2] = take_number(input, 0);
	run_sql(store, "UPDATE console_logs SET size=?, crc32c=?, mark_count=?, data=? WHERE id=1",
		numbers, 3, packed, size);
	free(packed);
	/* And a frame of whatever bytes are left. */
	numbers[0] = take_number(input, 6);
	run_sql(store, "UPDATE series SET count=?, data=? WHERE id=2", numbers, 1, input->bytes,
		input->left);
	use(store);
	sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

int fuzz_store(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = {bytes, size};

	uint8_t head = fuzz_take_byte(&input);
	use_store *use = head & 2 ? compare_all : read_all;

	if (head & 1)
		change_rows(&input, use);
	else
		change_file(&input, use);
	return 0;
}

/* ------------------------------------------------------------------- seeds */

void fuzz_store_seeds(fuzz_visit *visit, void *context)
{
	/* Frames of a gibibyte of nothing in few bytes: what they would come to is known before. */
	static const uint8_t bomb[] = {0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40, 2, 0, 0x10, 0};
	size_t size;
	uint8_t seed[128] = {1};

	get_image(&size);
	visit(context, seed, 1);
	seed[1] = 1;
	visit(context, seed, 60);
	for (uint8_t at = 1; at < 40; at++) {
		memset(seed + 1, 0, sizeof(seed) - 1);
		seed[0] = at & 2 ? 3 : 1;
		seed[at] = 0xff;
		visit(context, seed, sizeof(seed));
	}
	memset(seed, 0, sizeof(seed));
	seed[0] = 1;
	/* kind, count, size, crc, size, marks; then the count, and the frame */
	seed[8] = 1;
	memcpy(seed + 9, "\0\0\0\x10", 4);
	memcpy(seed + 13, bomb, sizeof(bomb));
	visit(context, seed, 13 + sizeof(bomb));
	seed[0] = 0;
	for (size_t page = 0; page < size / 512; page++) {
		size_t at = page * 512 + page * 37 % 512;

		seed[0] = page & 1 ? 2 : 0;
		seed[1] = (uint8_t)at;
		seed[2] = (uint8_t)(at >> 8);
		seed[3] = (uint8_t)(at >> 16);
		seed[4] = (uint8_t)page;
		memset(seed + 5, (int)(page * 7), 16);
		visit(context, seed, 5 + 16);
	}
}
