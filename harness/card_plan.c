/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/card_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

static int card_plan_fail(struct card_plan *card, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int card_plan_fail(struct card_plan *card, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(card->error, sizeof(card->error), format, args);
	va_end(args);
	return error;
}

struct message_arm card_plan_arm(const struct plan *plan, size_t index)
{
	const struct suite_window *w = &plan->windows[index].window;

	return (struct message_arm){
		.window = (uint16_t)(index + 1),
		.bench = (uint8_t)w->bench->id,
		.load = (uint8_t)w->load,
		.n = w->n,
		.period_us = w->period_us,
		.settle_ms = (uint16_t)w->settle_ms,
		.duration_ms = w->duration_ms,
		.seed = w->seed,
		.flags = w->bench->has_grid && w->phase == SUITE_PHASE_ARBITRARY
				 ? MESSAGE_ARM_ARBITRARY_PHASE
				 : 0,
	};
}

static int make_copy(struct card_plan *card, int from, int to, uint64_t size)
{
	while (size > 0) {
		ssize_t copied = sendfile(to, from, NULL, size);

		if (copied <= 0)
			return card_plan_fail(card, copied < 0 ? -errno : -EIO,
				"cannot copy the image to %s: %s", card->image_path,
				copied < 0 ? strerror(errno) : "it ends early");
		size -= (uint64_t)copied;
	}
	return 0;
}

static int write_frames(
	struct card_plan *card, int fd, const struct manifest *manifest, const struct plan *plan)
{
	uint8_t *bytes = calloc(1, manifest->plan.size);
	size_t used = 0;
	int rc = bytes ? 0 : card_plan_fail(card, -ENOMEM, "out of memory");

	for (size_t i = 0; rc == 0 && i < plan->window_count; i++) {
		struct message message = {.type = MESSAGE_ARM, .arm = card_plan_arm(plan, i)};
		uint8_t body[FRAME_HOST_BODY_MAX];
		int size = message_encode_frame(&message, 0, 0, body, sizeof(body), bytes + used,
			manifest->plan.size - used);

		if (size < 0)
			rc = card_plan_fail(card, -EINVAL,
				"%s: %llu bytes are too few for a plan of %zu windows",
				manifest->path, (unsigned long long)manifest->plan.size,
				plan->window_count);
		else
			used += (size_t)size;
	}
	if (rc == 0 && pwrite(fd, bytes, manifest->plan.size, (off_t)manifest->plan.offset) !=
			       (ssize_t)manifest->plan.size)
		rc = card_plan_fail(card, -EIO, "cannot write the plan into %s", card->image_path);
	free(bytes);
	return rc;
}

int card_plan_make(struct card_plan *card, const struct manifest *manifest, const struct plan *plan)
{
	const char *dir = getenv("TMPDIR");
	int from, to, rc;

	*card = (struct card_plan){0};
	if (manifest->plan.size == 0)
		return card_plan_fail(card, -EINVAL,
			"%s: the image has no place for a plan, so it cannot be measured in "
			"repeatable time",
			manifest->path);
	from = open(manifest->image_path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return card_plan_fail(
			card, -errno, "cannot open %s: %s", manifest->image_path, strerror(errno));
	snprintf(card->image_path, sizeof(card->image_path), "%s/sameboard-plan.XXXXXX",
		dir && *dir ? dir : "/tmp");
	to = mkostemp(card->image_path, O_CLOEXEC);
	if (to < 0) {
		rc = card_plan_fail(
			card, -errno, "cannot make %s: %s", card->image_path, strerror(errno));
		card->image_path[0] = '\0';
		close(from);
		return rc;
	}
	rc = make_copy(card, from, to, manifest->size);
	if (rc == 0)
		rc = write_frames(card, to, manifest, plan);
	close(from);
	if (close(to) != 0 && rc == 0)
		rc = card_plan_fail(card, -EIO, "cannot write %s", card->image_path);
	if (rc == 0 && (rc = sha256_file(card->image_path, card->sha256, &(uint64_t){0})) != 0)
		card_plan_fail(card, rc, "cannot hash %s", card->image_path);
	return rc;
}

void card_plan_remove(struct card_plan *card)
{
	if (card->image_path[0])
		unlink(card->image_path);
	card->image_path[0] = '\0';
}
