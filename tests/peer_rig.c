/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/peer_rig.h"

#include "harness/decode.h"

#include <stdlib.h>
#include <string.h>

struct peer_rig peer_rig;

static void on_text(void *context, uint64_t when_us, const uint8_t *text, size_t size)
{
	struct peer_rig *to = context;

	to->text_us = when_us;
	if (size > sizeof(to->text) - to->text_size)
		size = sizeof(to->text) - to->text_size;
	memcpy(to->text + to->text_size, text, size);
	to->text_size += size;
}

static void on_frame(void *context, uint64_t when_us, const struct frame *frame)
{
	struct peer_rig *to = context;

	(void)when_us;
	to->hellos += frame->type == MESSAGE_HELLO;
}

void peer_rig_open(uint64_t seed, bool has_agent)
{
	struct peer_events events = {.context = &peer_rig, .text = on_text, .frame = on_frame};
	struct peer_link link;

	memset(&peer_rig, 0, sizeof(peer_rig));
	wire_line_init(&peer_rig.line, 115200, seed);
	peer_rig.has_agent = has_agent;
	if (has_agent)
		wire_agent_init(&peer_rig.agent, &peer_rig.line);
	else
		wire_model_init(&peer_rig.model, &peer_rig.line);
	link = wire_line_get_link(&peer_rig.line);
	peer_init(&peer_rig.peer, &link, &events, NULL);
}

void peer_rig_close(void)
{
	if (peer_rig.has_agent)
		wire_agent_fini(&peer_rig.agent);
	else
		wire_model_fini(&peer_rig.model);
	wire_line_fini(&peer_rig.line);
}

void peer_rig_open_session(void)
{
	PEER_OK(peer_open_session(&peer_rig.peer, PEER_RIG_NONCE, NULL));
}

void peer_rig_arm(void)
{
	struct message_arm body = {.window = 7, .bench = 1, .n = WIRE_MODEL_BIG, .period_us = 1000};
	uint32_t estimate_ms;

	PEER_OK(peer_arm(&peer_rig.peer, &body, &estimate_ms));
	ck_assert_uint_eq(estimate_ms, peer_rig.model.window_ms);
}

/* Everything up to a window that is done, on the model. */
void peer_rig_measure(struct peer_window *window)
{
	peer_rig_open_session();
	peer_rig_arm();
	PEER_OK(peer_go(&peer_rig.peer, 7, 5000));
	PEER_OK(peer_wait_done(&peer_rig.peer, 4000, window));
}

int peer_rig_pull(const struct series_entry *entry, uint8_t **bytes)
{
	struct peer_transfer transfer;
	int err;

	*bytes = malloc(entry->bytes ? entry->bytes : 1);
	err = peer_transfer_init(&transfer, 7, entry->id, entry->bytes, entry->crc, *bytes);
	if (!err)
		err = peer_pull(&peer_rig.peer, &transfer);
	return err;
}

void peer_rig_pull_everything(const struct peer_window *window)
{
	struct series_entry *entries;
	size_t count;

	PEER_OK(peer_pull_index(&peer_rig.peer, &window->done, &entries, &count));
	ck_assert_uint_eq(count, WIRE_MODEL_SERIES);
	for (size_t i = 0; i < count; i++) {
		uint8_t *bytes;

		ck_assert_str_eq(entries[i].name, peer_rig.model.entries[i].name);
		PEER_OK(peer_rig_pull(&entries[i], &bytes));
		ck_assert_uint_eq(entries[i].bytes, peer_rig.model.entries[i].bytes);
		ck_assert_mem_eq(bytes, peer_rig.model.data[i], entries[i].bytes);
		free(bytes);
	}
	free(entries);
}

uint64_t peer_rig_now_ms(void)
{
	return peer_rig.line.now_ns / 1000000;
}

void peer_rig_measure_agent(uint32_t n, uint32_t seed, struct peer_window *window)
{
	struct message_arm body = {.window = 7, .bench = WIRE_AGENT_BENCH, .n = n, .seed = seed};
	uint32_t estimate_ms;

	PEER_OK(peer_arm(&peer_rig.peer, &body, &estimate_ms));
	PEER_OK(peer_go(&peer_rig.peer, 7, 5000));
	PEER_OK(peer_wait_done(&peer_rig.peer, estimate_ms + 500, window));
}

void peer_rig_find(const struct peer_window *window, const char *name, struct series_entry *entry)
{
	struct series_entry *entries;
	bool is_found = false;
	size_t count;

	PEER_OK(peer_pull_index(&peer_rig.peer, &window->done, &entries, &count));
	for (size_t i = 0; i < count; i++) {
		if (strcmp(entries[i].name, name) != 0)
			continue;
		*entry = entries[i];
		is_found = true;
	}
	free(entries);
	ck_assert_msg(is_found, "no series %s", name);
}

void peer_rig_check_values(const struct series_entry *entry, const uint8_t *bytes, uint32_t seed)
{
	char error[160];
	void *values;

	ck_assert_msg(decode_series(entry, bytes, &values, error, sizeof(error)) == 0, "%s", error);
	for (uint32_t i = 0; i < entry->count; i++)
		ck_assert_int_eq(((const int32_t *)values)[i], wire_agent_value(seed, i));
	free(values);
}
