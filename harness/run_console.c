/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "boardctl/monotonic.h"
#include "harness/run_internal.h"

/* Bytes of one direction this close together share a mark. */
#define MARK_GAP_MS 20

void run_console_init(struct run *run)
{
	run->console.utc_zero_ms = store_now_ms() - (int64_t)monotonic_get_ms();
}

void run_console_fini(struct run *run)
{
	free(run->console.data);
	free(run->console.marks);
	run->console = (struct run_console){0};
}

static int make_room(struct run_console *console, size_t size)
{
	if (console->size + size > console->capacity) {
		size_t capacity = (console->size + size) * 2 + 4096;
		void *grown = realloc(console->data, capacity);

		if (!grown)
			return -1;
		console->data = grown;
		console->capacity = capacity;
	}
	if (console->mark_count == console->mark_capacity) {
		size_t capacity = console->mark_capacity * 2 + 64;
		void *grown = realloc(console->marks, capacity * sizeof(*console->marks));

		if (!grown)
			return -1;
		console->marks = grown;
		console->mark_capacity = capacity;
	}
	return 0;
}

static void see(void *context, enum link_direction direction, uint64_t time_us, const void *data,
	size_t size)
{
	struct run *run = context;
	struct run_console *console = &run->console;
	int64_t at_ms = console->utc_zero_ms + (int64_t)(time_us / 1000);
	bool sent = direction == LINK_DIRECTION_TX;
	const struct store_mark *last;

	if (run->request->watch.see)
		run->request->watch.see(run->request->watch.ctx, direction, time_us, data, size);
	if (make_room(console, size) != 0) {
		console->is_out_of_memory = true;
		return;
	}
	if (!sent && run->power_on_ms && !run->first_output_ms)
		run->first_output_ms = time_us / 1000;
	last = console->mark_count ? &console->marks[console->mark_count - 1] : NULL;
	if (!last || last->sent != sent || at_ms - last->at_ms > MARK_GAP_MS)
		console->marks[console->mark_count++] = (struct store_mark){
			.offset = console->offset + console->size, .at_ms = at_ms, .sent = sent};
	memcpy(console->data + console->size, data, size);
	console->size += size;
}

struct link_tap run_console_tap(struct run *run)
{
	return (struct link_tap){.see = see, .ctx = run};
}

int run_console_flush(struct run *run)
{
	struct run_console *console = &run->console;
	int rc;

	if (console->size == 0 || run->result->run_id == 0)
		return 0;
	rc = store_append_console(run->request->store, run->result->run_id, console->data,
		console->size, console->marks, console->mark_count);
	if (rc != 0)
		return rc;
	console->offset += console->size;
	console->size = 0;
	console->mark_count = 0;
	return 0;
}
