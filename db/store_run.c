/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/blob.h"
#include "db/handle.h"
#include "db/mark.h"

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static int add_board(struct store *store, const struct store_run *run, int64_t *id)
{
	const char *model = text_or_empty(run->model);
	int result = handle_run(store, "add a board",
		"INSERT OR IGNORE INTO boards(name, model) VALUES(?, ?)", "tt", run->board, model);

	if (result)
		return result;
	return handle_get_integer(store, id, "SELECT id FROM boards WHERE name = ? AND model = ?",
		"tt", run->board, model);
}

static int add_image(struct store *store, const struct store_run *run, int64_t *id)
{
	const char *version = text_or_empty(run->image_version);
	const char *file = text_or_empty(run->image_file);
	const char *sha256 = text_or_empty(run->image_sha256);
	const char *manifest = text_or_empty(run->image_manifest);
	int result = handle_run(store, "add an image",
		"INSERT OR IGNORE INTO images(system, version, file, sha256, manifest) "
		"VALUES(?, ?, ?, ?, ?)",
		"ttttt", run->system, version, file, sha256, manifest);

	if (result)
		return result;
	return handle_get_integer(store, id,
		"SELECT id FROM images WHERE system = ? AND version = ? AND file = ? AND "
		"sha256 = ? AND manifest = ?",
		"ttttt", run->system, version, file, sha256, manifest);
}

int store_begin_run(struct store *store, const struct store_run *run, int64_t *run_id)
{
	int64_t board = 0, image = 0;
	int result = handle_check(store, true);

	*run_id = 0;
	if (result)
		return result;
	if (!run->board || !run->system || store->window_id)
		return handle_fail(
			store, -EINVAL, "a run needs a board, a system and no open window");
	result = handle_begin(store);
	if (!result)
		result = add_board(store, run, &board);
	if (!result)
		result = add_image(store, run, &image);
	if (!result)
		result = handle_run(store, "add a run",
			"INSERT INTO runs(job_id, board_id, image_id, system, boot, seed, session, "
			"started_ms) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
			"iiitiiii", run->job_id, board, image, run->system, (int64_t)run->boot,
			(int64_t)run->seed, (int64_t)run->session, run->started_ms);
	if (!result) {
		*run_id = sqlite3_last_insert_rowid(store->db);
		result = handle_commit(store);
	}
	if (result) {
		*run_id = 0;
		handle_rollback(store);
	}
	return result;
}

/* After a statement that may have run inside a window's transaction. */
static int finish(struct store *store, int result)
{
	if (result && store->window_id)
		handle_rollback(store);
	return result;
}

static int set_column(struct store *store, const char *sql, int64_t value, int64_t run_id)
{
	int result = handle_check(store, true);

	if (result)
		return result;
	result = finish(store, handle_run(store, "change a run", sql, "ii", value, run_id));
	if (!result && !sqlite3_changes(store->db))
		return handle_fail(store, -ENOENT, "there is no run %lld in %s", (long long)run_id,
			store->path);
	return result;
}

int store_set_session(struct store *store, int64_t run_id, uint32_t session)
{
	return set_column(store, "UPDATE runs SET session = ? WHERE id = ?", session, run_id);
}

int store_set_emulated(struct store *store, int64_t run_id, bool emulated)
{
	return set_column(store, "UPDATE runs SET emulated = ? WHERE id = ?", emulated, run_id);
}

static int write_fact(struct store *store, int64_t run_id, const char *key, const char *value)
{
	return handle_run(store, "write a fact",
		"INSERT OR REPLACE INTO facts(run_id, key, value) VALUES(?, ?, ?)", "itt", run_id,
		key, value);
}

int store_set_fact(struct store *store, int64_t run_id, const char *key, const char *value)
{
	int result = handle_check(store, true);

	return result ? result : finish(store, write_fact(store, run_id, key, value));
}

int store_set_evidence(struct store *store, int64_t run_id, unsigned window, const char *text)
{
	int result = handle_check(store, true);

	return result ? result
		      : finish(store,
				handle_run(store, "store evidence",
					"INSERT OR REPLACE INTO evidence(run_id, window, text) "
					"VALUES(?, ?, ?)",
					"iit", run_id, (int64_t)window, text));
}

static int write_fact_line(struct store *store, int64_t run_id, unsigned number, char *line)
{
	char key[32];
	char *equals = strchr(line, '=');

	if (equals && equals != line) {
		*equals = '\0';
		return write_fact(store, run_id, line, equals + 1);
	}
	snprintf(key, sizeof(key), "line.%u", number);
	return write_fact(store, run_id, key, line);
}

int store_set_facts(struct store *store, int64_t run_id, const char *text, size_t size)
{
	bool alone = true;
	char *copy, *next;
	int result = handle_check(store, true);

	if (result)
		return result;
	copy = malloc(size + 1);
	if (!copy)
		return handle_fail(store, -ENOMEM, "out of memory");
	for (size_t i = 0; i < size; i++)
		copy[i] = text[i] ? text[i] : ' ';
	copy[size] = '\0';
	alone = !store->window_id;
	if (alone)
		result = handle_begin(store);
	next = copy;
	for (unsigned number = 1; !result && next && *next; number++) {
		char *line = strsep(&next, "\n");

		line[strcspn(line, "\r")] = '\0';
		if (*line)
			result = write_fact_line(store, run_id, number, line);
	}
	if (!result && alone)
		result = handle_commit(store);
	if (result)
		handle_rollback(store);
	free(copy);
	return result;
}

int store_add_event(
	struct store *store, int64_t run_id, int64_t at_ms, const char *kind, const char *text)
{
	int result = handle_check(store, true);

	if (result)
		return result;
	result = handle_run(store, "add an event",
		"INSERT INTO events(run_id, window_id, at_ms, kind, text) "
		"VALUES(?, nullif(?, 0), ?, ?, ?)",
		"iiitt", run_id, handle_in_window(store, run_id) ? store->window_id : (int64_t)0,
		at_ms, text_or_empty(kind), text_or_empty(text));
	return finish(store, result);
}

int store_append_console(struct store *store, int64_t run_id, const void *data, size_t size,
	const struct store_mark *marks, size_t mark_count)
{
	void *packed = NULL, *packed_marks = NULL;
	unsigned char *bytes = NULL;
	size_t packed_size = 0, marks_size = 0;
	int result = handle_check(store, true);

	if (result)
		return result;
	bytes = mark_write(marks, mark_count);
	result = bytes ? blob_pack(data, size, &packed, &packed_size) : -ENOMEM;
	if (!result)
		result = blob_pack(bytes, mark_count * MARK_SIZE, &packed_marks, &marks_size);
	if (result) {
		handle_fail(store, result, "out of memory");
		goto out;
	}
	result = handle_run(store, "add console bytes",
		"INSERT INTO console_logs(run_id, size, crc32c, data, mark_count, marks_crc32c, "
		"marks) VALUES(?, ?, ?, ?, ?, ?, ?)",
		"iiibiib", run_id, (int64_t)size, (int64_t)blob_crc32c(data, size), packed,
		packed_size, (int64_t)mark_count,
		(int64_t)blob_crc32c(bytes, mark_count * MARK_SIZE), packed_marks, marks_size);
out:
	free(packed);
	free(packed_marks);
	free(bytes);
	return finish(store, result);
}

static int write_gate(struct store *store, int64_t run_id, const struct store_gate *gate)
{
	int64_t window = 0;
	int result;

	if ((unsigned)gate->verdict >= GATE_VERDICT_COUNT || !gate->id)
		return handle_fail(store, -EINVAL, "a gate needs an id and a verdict");
	if (gate->window) {
		result = handle_get_integer(store, &window,
			"SELECT id FROM windows WHERE run_id = ? AND number = ?", "ii", run_id,
			(int64_t)gate->window);
		if (result == -ENOENT)
			return handle_fail(store, result, "gate %s: run %lld has no window %u",
				gate->id, (long long)run_id, gate->window);
		if (result)
			return result;
	}
	return handle_run(store, "add a gate",
		"INSERT INTO gates(run_id, window_id, gate, verdict, evidence, threshold) "
		"VALUES(?, nullif(?, 0), ?, ?, ?, ?)",
		"iitttt", run_id, window, gate->id, verdict_gate_name(gate->verdict),
		text_or_empty(gate->evidence), gate->threshold);
}

static int close_run(struct store *store, int64_t run_id, enum verdict verdict, const char *reason,
	int64_t ended_ms)
{
	int64_t exists;
	int result = handle_run(store, "close a run",
		"UPDATE runs SET verdict = ?, reason = ?, ended_ms = ? WHERE id = ? AND verdict IS "
		"NULL",
		"ttii", verdict_name(verdict), reason, ended_ms, run_id);

	if (result || sqlite3_changes(store->db))
		return result;
	result = handle_get_integer(store, &exists, "SELECT 1 FROM runs WHERE id = ?", "i", run_id);
	if (result == -ENOENT)
		return handle_fail(store, -ENOENT, "there is no run %lld in %s", (long long)run_id,
			store->path);
	if (result)
		return result;
	return handle_fail(store, -EEXIST, "run %lld is closed already", (long long)run_id);
}

int store_end_run(struct store *store, int64_t run_id, enum verdict verdict, const char *reason,
	int64_t ended_ms, const struct store_gate *gates, size_t gate_count)
{
	int result = handle_check(store, true);

	if (result)
		return result;
	if (verdict <= VERDICT_RUNNING || verdict >= VERDICT_COUNT)
		return handle_fail(
			store, -EINVAL, "a run can't be closed as \"%s\"", verdict_name(verdict));
	store_abort_window(store);
	result = handle_begin(store);
	if (!result)
		result = close_run(store, run_id, verdict, reason, ended_ms);
	for (size_t i = 0; !result && i < gate_count; i++)
		result = write_gate(store, run_id, &gates[i]);
	if (!result)
		result = handle_commit(store);
	if (result)
		handle_rollback(store);
	return result;
}

/* ---------------------------------------------------------------- void */

int store_void_runs(struct store *store, int64_t job_id, const char *reason, int64_t now_ms)
{
	int count = 0;
	int result = handle_check(store, true);

	if (!result && store->window_id)
		result = handle_fail(store, -EINVAL, "runs are not voided inside a window");
	if (!result)
		result = handle_begin(store);
	if (result)
		return result;
	result = handle_run(store, "void runs",
		"INSERT INTO events(run_id, at_ms, kind, text) SELECT id, ?, 'void', ? FROM runs "
		"WHERE job_id = ? AND verdict = 'pass'",
		"iti", now_ms, reason, job_id);
	if (!result)
		result = handle_run(store, "void runs",
			"UPDATE runs SET verdict = 'invalid', reason = ? WHERE job_id = ? AND "
			"verdict = 'pass'",
			"ti", reason, job_id);
	count = result ? 0 : sqlite3_changes(store->db);
	if (!result)
		result = handle_commit(store);
	if (result)
		handle_rollback(store);
	return result ? result : count;
}
