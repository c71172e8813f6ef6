/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan that a card carries: the windows of a run as ARM frames, written
 * over the place that an image keeps for them.  A board in repeatable time
 * measures them before it says a word, since every byte of the host would move
 * what is measured.
 *
 * Errors: 0 or a negative errno with a text; one thread.
 */
#ifndef SAMEBOARD_HARNESS_CARD_PLAN_H
#define SAMEBOARD_HARNESS_CARD_PLAN_H

#include <limits.h>

#include "boardctl/sha256.h"
#include "harness/manifest.h"
#include "harness/plan.h"
#include "protocol/message.h"

struct card_plan {
	char image_path[PATH_MAX]; /* a copy of the image with the plan in it */
	char sha256[SHA256_HEX_SIZE];
	char error[512];
};

/* What ARM says of the plan's window at this index; its number is one more. */
struct message_arm card_plan_arm(const struct plan *plan, size_t index);

/*
 * Makes the copy in $TMPDIR or /tmp.  -EINVAL: the image has no place for a
 * plan, or too little.  Always card_plan_remove() it.
 */
int card_plan_make(
	struct card_plan *card, const struct manifest *manifest, const struct plan *plan);
void card_plan_remove(struct card_plan *card);

#endif
