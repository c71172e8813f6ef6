-- SPDX-License-Identifier: Apache-2.0
-- A store as schema 1 left it.  Never changed: it stands for files in the field.
CREATE TABLE jobs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  command TEXT NOT NULL,
  suite TEXT,
  suite_json TEXT,
  plan TEXT,
  version TEXT,
  machine TEXT NOT NULL,
  pid INTEGER NOT NULL,
  pid_start INTEGER NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  exit_code INTEGER);
CREATE TABLE boards(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  model TEXT NOT NULL,
  UNIQUE(name, model));
CREATE TABLE images(
  id INTEGER PRIMARY KEY,
  system TEXT NOT NULL,
  version TEXT NOT NULL,
  file TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  manifest TEXT NOT NULL,
  UNIQUE(system, version, file, sha256, manifest));
CREATE TABLE runs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id INTEGER NOT NULL REFERENCES jobs(id),
  board_id INTEGER NOT NULL REFERENCES boards(id),
  image_id INTEGER NOT NULL REFERENCES images(id),
  system TEXT NOT NULL,
  boot INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  session INTEGER NOT NULL,
  emulated INTEGER NOT NULL DEFAULT 1,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  verdict TEXT CHECK(verdict IN ('pass', 'fail', 'invalid', 'lab-failure', 'skipped',
    'interrupted')),
  reason TEXT);
CREATE TABLE facts(
  run_id INTEGER NOT NULL REFERENCES runs(id),
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(run_id, key)) WITHOUT ROWID;
CREATE TABLE windows(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  number INTEGER NOT NULL CHECK(number BETWEEN 1 AND 65535),
  bench INTEGER NOT NULL,
  name TEXT NOT NULL,
  load TEXT,
  phase TEXT,
  n INTEGER NOT NULL,
  period_us INTEGER NOT NULL,
  settle_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL,
  UNIQUE(run_id, number));
CREATE TABLE series(
  id INTEGER PRIMARY KEY,
  window_id INTEGER NOT NULL REFERENCES windows(id),
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind INTEGER NOT NULL CHECK(kind IN (1, 2, 3)),
  encoding INTEGER NOT NULL,
  count INTEGER NOT NULL,
  clipped INTEGER NOT NULL,
  crc32c INTEGER NOT NULL,
  data BLOB NOT NULL,
  UNIQUE(window_id, number),
  UNIQUE(window_id, name));
CREATE TABLE metrics(
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  window_id INTEGER REFERENCES windows(id),
  series_id INTEGER REFERENCES series(id),
  name TEXT NOT NULL,
  value REAL,
  unit TEXT NOT NULL);
CREATE TABLE gates(
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  window_id INTEGER REFERENCES windows(id),
  gate TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK(verdict IN ('pass', 'fail', 'unknown',
    'not-applicable')),
  evidence TEXT NOT NULL,
  threshold TEXT);
CREATE TABLE events(
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  window_id INTEGER REFERENCES windows(id),
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL);
CREATE TABLE console_logs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  size INTEGER NOT NULL,
  crc32c INTEGER NOT NULL,
  data BLOB NOT NULL,
  mark_count INTEGER NOT NULL,
  marks_crc32c INTEGER NOT NULL,
  marks BLOB NOT NULL);
PRAGMA application_id=1398893925;
PRAGMA user_version=1;
INSERT INTO jobs VALUES(1,'run smoke','smoke','{}','plan','0.1.0','machine',1,1,1700000000000,1700000060000,0);
INSERT INTO boards VALUES(1,'panel1','lichee-rv-86-panel');
INSERT INTO images VALUES(1,'linux','6.12','linux.img','00','{}');
INSERT INTO runs VALUES(1,1,1,1,'linux',1,42,305419896,1,1700000001000,1700000050000,'pass','all gates passed');
INSERT INTO facts VALUES(1,'protection','process');
INSERT INTO windows VALUES(1,1,1,1,'wake.idle','idle','aligned',3,1000,200,0,1,1700000002000,1700000003000);
-- 1, -2, 3 as little-endian words in a Zstandard frame of one raw block.
INSERT INTO series VALUES(1,1,2,'latency',1,0,3,0,1121507334,X'28b52ffd200c61000001000000feffffff03000000');
INSERT INTO metrics VALUES(1,1,1,1,'p50',1.0,'counts');
INSERT INTO gates VALUES(1,1,1,'silence','pass','0 bytes','0 bytes');
INSERT INTO events VALUES(1,1,NULL,1700000001500,'state','power on');
