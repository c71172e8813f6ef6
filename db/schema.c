/* SPDX-License-Identifier: Apache-2.0 */
#include "db/schema.h"

#include "db/store.h"

#include <stddef.h>

/* Times are UTC milliseconds.  A run without a verdict has not been closed. */
static const char step_1[] =
	"CREATE TABLE jobs(\n"
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
	"  command TEXT NOT NULL,\n"
	"  suite TEXT,\n"
	"  suite_json TEXT,\n"
	"  plan TEXT,\n"
	"  version TEXT,\n"
	"  machine TEXT NOT NULL,\n" /* boot id and pid namespace of the process */
	"  pid INTEGER NOT NULL,\n"
	"  pid_start INTEGER NOT NULL,\n" /* clock ticks since the machine's boot */
	"  started_ms INTEGER NOT NULL,\n"
	"  ended_ms INTEGER,\n"
	"  exit_code INTEGER);\n"
	"CREATE TABLE boards(\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  name TEXT NOT NULL,\n"
	"  model TEXT NOT NULL,\n"
	"  UNIQUE(name, model));\n"
	"CREATE TABLE images(\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  system TEXT NOT NULL,\n"
	"  version TEXT NOT NULL,\n"
	"  file TEXT NOT NULL,\n"
	"  sha256 TEXT NOT NULL,\n"
	"  manifest TEXT NOT NULL,\n"
	"  UNIQUE(system, version, file, sha256, manifest));\n"
	"CREATE TABLE runs(\n"
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
	"  job_id INTEGER NOT NULL REFERENCES jobs(id),\n"
	"  board_id INTEGER NOT NULL REFERENCES boards(id),\n"
	"  image_id INTEGER NOT NULL REFERENCES images(id),\n"
	"  system TEXT NOT NULL,\n"
	"  boot INTEGER NOT NULL,\n"
	"  seed INTEGER NOT NULL,\n"
	"  session INTEGER NOT NULL,\n"
	"  emulated INTEGER NOT NULL DEFAULT 1,\n"
	"  started_ms INTEGER NOT NULL,\n"
	"  ended_ms INTEGER,\n"
	"  verdict TEXT CHECK(verdict IN ('pass', 'fail', 'invalid', 'lab-failure', 'skipped',\n"
	"    'interrupted')),\n"
	"  reason TEXT);\n"
	"CREATE TABLE facts(\n"
	"  run_id INTEGER NOT NULL REFERENCES runs(id),\n"
	"  key TEXT NOT NULL,\n"
	"  value TEXT NOT NULL,\n"
	"  PRIMARY KEY(run_id, key)) WITHOUT ROWID;\n"
	"CREATE TABLE windows(\n"
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
	"  run_id INTEGER NOT NULL REFERENCES runs(id),\n"
	"  number INTEGER NOT NULL CHECK(number BETWEEN 1 AND 65535),\n"
	"  bench INTEGER NOT NULL,\n"
	"  name TEXT NOT NULL,\n"
	"  load TEXT,\n"
	"  phase TEXT,\n"
	"  n INTEGER NOT NULL,\n"
	"  period_us INTEGER NOT NULL,\n"
	"  settle_ms INTEGER NOT NULL,\n"
	"  duration_ms INTEGER NOT NULL,\n"
	"  seed INTEGER NOT NULL,\n"
	"  started_ms INTEGER NOT NULL,\n"
	"  ended_ms INTEGER NOT NULL,\n"
	"  UNIQUE(run_id, number));\n"
	"CREATE TABLE series(\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  window_id INTEGER NOT NULL REFERENCES windows(id),\n"
	"  number INTEGER NOT NULL,\n" /* as on the wire */
	"  name TEXT NOT NULL,\n"
	"  kind INTEGER NOT NULL CHECK(kind IN (1, 2, 3)),\n" /* i32, u64, UTF-8 text */
	"  encoding INTEGER NOT NULL,\n"		      /* 0: little-endian words, zstd */
	"  count INTEGER NOT NULL,\n"
	"  clipped INTEGER NOT NULL,\n"
	"  crc32c INTEGER NOT NULL,\n" /* of the words */
	"  data BLOB NOT NULL,\n"
	"  UNIQUE(window_id, number),\n"
	"  UNIQUE(window_id, name));\n"
	"CREATE TABLE metrics(\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  run_id INTEGER NOT NULL REFERENCES runs(id),\n"
	"  window_id INTEGER REFERENCES windows(id),\n"
	"  series_id INTEGER REFERENCES series(id),\n"
	"  name TEXT NOT NULL,\n"
	"  value REAL,\n"
	"  unit TEXT NOT NULL);\n"
	"CREATE TABLE gates(\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  run_id INTEGER NOT NULL REFERENCES runs(id),\n"
	"  window_id INTEGER REFERENCES windows(id),\n"
	"  gate TEXT NOT NULL,\n"
	"  verdict TEXT NOT NULL CHECK(verdict IN ('pass', 'fail', 'unknown',\n"
	"    'not-applicable')),\n"
	"  evidence TEXT NOT NULL,\n"
	"  threshold TEXT);\n"
	"CREATE TABLE events(\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  run_id INTEGER NOT NULL REFERENCES runs(id),\n"
	"  window_id INTEGER REFERENCES windows(id),\n"
	"  at_ms INTEGER NOT NULL,\n"
	"  kind TEXT NOT NULL,\n"
	"  text TEXT NOT NULL);\n"
	"CREATE TABLE console_logs(\n" /* pieces of a run's raw console, in order of id */
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
	"  run_id INTEGER NOT NULL REFERENCES runs(id),\n"
	"  size INTEGER NOT NULL,\n"
	"  crc32c INTEGER NOT NULL,\n"
	"  data BLOB NOT NULL,\n"	     /* zstd */
	"  mark_count INTEGER NOT NULL,\n"   /* 17 bytes each: offset u64, time i64, sent u8 */
	"  marks_crc32c INTEGER NOT NULL,\n" /* of the bytes before compression */
	"  marks BLOB NOT NULL);\n";

static const char step_2[] =
	"CREATE TABLE baselines(\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  name TEXT NOT NULL UNIQUE,\n"
	"  note TEXT,\n"
	"  created_ms INTEGER NOT NULL);\n"
	"CREATE TABLE baseline_runs(\n"
	"  baseline_id INTEGER NOT NULL REFERENCES baselines(id) ON DELETE CASCADE,\n"
	"  run_id INTEGER NOT NULL REFERENCES runs(id),\n"
	"  PRIMARY KEY(baseline_id, run_id)) WITHOUT ROWID;\n"
	"CREATE INDEX runs_by_job ON runs(job_id);\n"
	"CREATE INDEX runs_by_start ON runs(started_ms);\n"
	"CREATE INDEX metrics_by_run ON metrics(run_id);\n"
	"CREATE INDEX gates_by_run ON gates(run_id);\n"
	"CREATE INDEX events_by_run ON events(run_id);\n"
	"CREATE INDEX console_logs_by_run ON console_logs(run_id);\n";

/* A job's number is that of its row in jobs, which its worker adds when it begins. */
static const char step_3[] =
	"CREATE TABLE queue(\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  board TEXT NOT NULL,\n"
	"  client TEXT NOT NULL,\n" /* jobs of one client are one queue */
	"  uid INTEGER,\n"	    /* of the process that submitted it; NULL: unknown */
	"  pid INTEGER,\n"
	"  suite TEXT NOT NULL,\n"
	"  suite_json TEXT NOT NULL,\n"
	"  systems TEXT NOT NULL,\n"  /* between commas; empty: those of the suite */
	"  boots INTEGER NOT NULL,\n" /* 0: as the suite says */
	"  seed INTEGER NOT NULL,\n"
	"  command TEXT NOT NULL,\n"
	"  state TEXT NOT NULL CHECK(state IN ('queued', 'running', 'done', 'cancelled')),\n"
	"  turn INTEGER,\n" /* when it was taken, in the order of all that were */
	"  machine TEXT,\n" /* its worker, as in jobs */
	"  worker_pid INTEGER,\n"
	"  worker_start INTEGER,\n"
	"  submitted_ms INTEGER NOT NULL,\n"
	"  started_ms INTEGER,\n"
	"  ended_ms INTEGER,\n"
	"  exit_code INTEGER,\n"
	"  error TEXT);\n"
	"CREATE INDEX queue_by_state ON queue(state, board);\n"
	"CREATE INDEX queue_by_client ON queue(board, client, turn);\n"
	"CREATE TABLE board_health(\n"
	"  board TEXT PRIMARY KEY,\n"
	"  lab_failures INTEGER NOT NULL,\n" /* in a row */
	"  quarantined_ms INTEGER,\n"
	"  reason TEXT NOT NULL) WITHOUT ROWID;\n";

static const char step_4[] =
	"ALTER TABLE queue ADD COLUMN baseline TEXT;\n"; /* name or run; NULL: none */

/*
 * Results of others; what the host saw and gates were judged by; and what a row's
 * figures over many runs are found with.
 */
static const char step_5[] =
	"CREATE TABLE imports(\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  name TEXT NOT NULL UNIQUE,\n"
	"  format TEXT NOT NULL,\n"	 /* of the file: results, cyclictest-json, ... */
	"  results TEXT NOT NULL,\n"	 /* as harness/schema/results.json */
	"  source_name TEXT NOT NULL,\n" /* of the file that was imported */
	"  source_sha256 TEXT NOT NULL,\n"
	"  imported_ms INTEGER NOT NULL);\n"
	"CREATE TABLE evidence(\n"
	"  run_id INTEGER NOT NULL REFERENCES runs(id),\n"
	"  window INTEGER NOT NULL,\n" /* its number; 0: of the run */
	"  text TEXT NOT NULL,\n"      /* JSON */
	"  PRIMARY KEY(run_id, window)) WITHOUT ROWID;\n"
	"CREATE INDEX windows_by_name ON windows(name, run_id);\n"
	/* With what is looked for in it: 10,000 runs are one walk along the index. */
	"CREATE INDEX metrics_by_window ON metrics(window_id, name, series_id, value);\n";

/* The card of each board, as it was seen last. */
static const char step_6[] = "CREATE TABLE cards(\n"
			     "  board TEXT PRIMARY KEY,\n"
			     "  device TEXT NOT NULL,\n" /* as the lab file names it */
			     "  size_bytes INTEGER NOT NULL,\n"
			     "  sha256 TEXT,\n" /* of the image that it holds; NULL: not known */
			     "  writes INTEGER NOT NULL,\n"
			     "  errors INTEGER NOT NULL,\n"
			     "  error TEXT,\n" /* the last one */
			     "  written_ms INTEGER) WITHOUT ROWID;\n";

static const char *const steps[STORE_SCHEMA_VERSION] = {
	step_1, step_2, step_3, step_4, step_5, step_6};

const char *schema_step(int step)
{
	return step >= 1 && step <= STORE_SCHEMA_VERSION ? steps[step - 1] : NULL;
}
