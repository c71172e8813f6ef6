/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdicts of runs and of gates, and their names.  The names are what the
 * database, JSON output and reports carry; they exist in one table only.
 * No errors beyond "no such name"; safe from any thread.
 */
#ifndef SAMEBOARD_DB_VERDICT_H
#define SAMEBOARD_DB_VERDICT_H

/* Of a run.  RUNNING is a run without a closing transaction yet. */
enum verdict {
	VERDICT_RUNNING,     /* "running" */
	VERDICT_PASS,	     /* "pass" */
	VERDICT_FAIL,	     /* "fail": a regression, panic, hang, no agent */
	VERDICT_INVALID,     /* "invalid": measured, but a gate failed */
	VERDICT_LAB_FAILURE, /* "lab-failure": board, relay, mux, card, adapter, disk */
	VERDICT_SKIPPED,     /* "skipped" */
	VERDICT_INTERRUPTED, /* "interrupted": stopped or died before its end */
	VERDICT_COUNT
};

/* Of a gate.  UNKNOWN fails a run unless the suite allows it. */
enum gate_verdict {
	GATE_VERDICT_PASS,	     /* "pass" */
	GATE_VERDICT_FAIL,	     /* "fail" */
	GATE_VERDICT_UNKNOWN,	     /* "unknown" */
	GATE_VERDICT_NOT_APPLICABLE, /* "not-applicable" */
	GATE_VERDICT_COUNT
};

/* A static string; "?" for a value outside the enum. */
const char *verdict_name(enum verdict verdict);
const char *verdict_gate_name(enum gate_verdict verdict);

/* 0 and *verdict set, or -EINVAL (*verdict is then RUNNING or UNKNOWN). */
int verdict_parse(const char *name, enum verdict *verdict);
int verdict_gate_parse(const char *name, enum gate_verdict *verdict);

#endif
