/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables, as the steps that led to them.  Step n (from 1) brings a database
 * from user_version n-1 to n; a step that was released is never changed.
 */
#ifndef SAMEBOARD_DB_SCHEMA_H
#define SAMEBOARD_DB_SCHEMA_H

/* PRAGMA application_id of every database of ours: "Same". */
#define SCHEMA_APPLICATION_ID 0x53616d65

/* SQL of a step, 1..STORE_SCHEMA_VERSION; NULL outside. */
const char *schema_step(int step);

#endif
