/* SPDX-License-Identifier: Apache-2.0 */
/* Private to doctor: what is proven with the loader and an agent at the other end. */
#ifndef SAMEBOARD_HARNESS_DOCTOR_LINE_H
#define SAMEBOARD_HARNESS_DOCTOR_LINE_H

#include "harness/board.h"
#include "harness/doctor.h"

/* A check with its evidence; then doctor_tell() it: true unless it has failed. */
struct doctor_check *doctor_add(struct doctor *doctor, const char *id, enum doctor_verdict verdict,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
bool doctor_tell(struct doctor *doctor, struct doctor_check *check, const char *advice);

/* Loader, agent, every value of a byte both ways, latency.  The board is off before. */
void doctor_check_line(struct doctor *doctor, struct board *board, const struct manifest *manifest);

#endif
