/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/wire_model.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/crc32c.h"
#include "tests/vectors.h"

#define COUNTER_HZ 24000000u

static uint64_t counter(const struct wire_model *model)
{
	double ns = (double)model->line->now_ns;

	return model->line->now_ns * 24 / 1000 +
	       (uint64_t)(int64_t)(ns * model->counter_ppm * 24e-9);
}

static void say_cut(
	struct wire_model *model, const struct message *message, uint8_t seq, size_t cut)
{
	uint8_t body[FRAME_BODY_MAX], wire[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];
	struct frame frame = {.type = message->type, .seq = seq, .session = model->session};
	int size = message_encode(message, body, sizeof(body));

	ck_assert_int_ge(size, (int)cut);
	frame.body = body;
	frame.size = (size_t)size - cut;
	size = frame_encode(&frame, wire, sizeof(wire));
	ck_assert_int_gt(size, 0);
	if (!model->is_mute)
		wire_line_send(model->line, wire, (size_t)size);
}

static void say(struct wire_model *model, const struct message *message, uint8_t seq)
{
	say_cut(model, message, seq, 0);
}

static void say_error(struct wire_model *model, const struct frame *frame, int code,
	uint32_t detail, const char *text)
{
	struct message message = {.type = MESSAGE_ERROR,
		.error = {.code = (int16_t)code, .type = frame->type, .detail = detail}};

	snprintf(message.error.text, sizeof(message.error.text), "%s", text);
	say_cut(model, &message, frame->seq, model->lie == WIRE_LIE_ERROR_SHORT ? 3 : 0);
}

static void say_hello(struct wire_model *model, uint8_t seq)
{
	bool is_other = model->lie == WIRE_LIE_MAJOR;
	struct message message = {.type = MESSAGE_HELLO,
		.hello = {.proto_major = is_other ? 9 : MESSAGE_PROTO_MAJOR,
			.max_body = FRAME_BODY_MAX,
			.state = model->state,
			.uptime = counter(model),
			.counter_hz = model->lie == WIRE_LIE_STILL_COUNTER ? 0 : COUNTER_HZ,
			.system = "model",
			.version = "0"}};

	say_cut(model, &message, seq, model->lie == WIRE_LIE_SHORT_HELLO ? 2 : 0);
}

/* ---------------------------------------------------------------- data */

static void make_series(struct wire_model *model)
{
	static const uint32_t counts[WIRE_MODEL_SERIES] = {1000, WIRE_MODEL_BIG, 300};
	static const uint8_t kinds[WIRE_MODEL_SERIES] = {
		SERIES_KIND_COUNTS, SERIES_KIND_COUNTS, SERIES_KIND_TEXT};
	static const char *const names[WIRE_MODEL_SERIES] = {"floor.before", "latency", "counters"};
	uint64_t random = 5;

	for (size_t i = 0; i < WIRE_MODEL_SERIES; i++) {
		struct series_entry *entry = &model->entries[i];

		entry->id = (uint16_t)(i + 1);
		entry->kind = kinds[i];
		entry->count = counts[i];
		entry->bytes = (uint32_t)(counts[i] * series_kind_size(kinds[i]));
		snprintf(entry->name, sizeof(entry->name), "%s", names[i]);
		model->data[i] = malloc(entry->bytes);
		/* Small counts: many zeros, as real ones have. */
		for (uint32_t at = 0; at < entry->bytes; at++)
			model->data[i][at] = at % 4 < 2 ? (uint8_t)vectors_random(&random) : 0;
		entry->crc = crc32c_update(0, model->data[i], entry->bytes);
	}
}

static void make_index(struct wire_model *model)
{
	model->index_size = 0;
	for (size_t i = 0; i < WIRE_MODEL_SERIES; i++) {
		struct series_entry entry = model->entries[i];

		if (model->lie == WIRE_LIE_SERIES_HUGE && i == 1)
			entry.kind = 77, entry.bytes = UINT32_MAX;
		if (model->lie == WIRE_LIE_WINDOW_HUGE) {
			entry.kind = SERIES_KIND_COUNTS;
			entry.encoding = SERIES_ENCODING_CODED;
			entry.count = PEER_WINDOW_MAX / 2 / sizeof(int32_t) - 100;
		}
		if (model->lie == WIRE_LIE_SERIES_CRC && i == 1)
			entry.crc++;
		if (model->lie == WIRE_LIE_INDEX_TWICE)
			entry.id = 1;
		model->index_size += (uint32_t)series_encode_entry(&entry,
			model->index + model->index_size, sizeof(model->index) - model->index_size);
	}
	if (model->lie == WIRE_LIE_INDEX_GARBAGE)
		memset(model->index + 5, 0xff, 40);
}

static void make_facts(struct wire_model *model)
{
	size_t size = 0;

	model->probes++;
	for (int i = 0; i < 60; i++)
		size += (size_t)snprintf(model->facts + size, sizeof(model->facts) - size,
			"fact.%d=%llu\n", i, (unsigned long long)counter(model));
	model->facts_size = size;
	if (model->lie == WIRE_LIE_FACTS_NUL)
		model->facts[size / 2] = '\0';
}

/* ------------------------------------------------------------- requests */

static void answer_listed(struct wire_model *model, const struct frame *frame)
{
	bool is_facts = frame->type == MESSAGE_PROBE;
	struct message message = {.type = (uint8_t)(frame->type + 1)};

	if (is_facts && (model->probe_seq != frame->seq || model->probes == 0))
		make_facts(model);
	model->probe_seq = frame->seq;
	message.probed.bytes = (uint32_t)(is_facts ? model->facts_size : model->catalogue_size);
	message.probed.crc =
		crc32c_update(0, is_facts ? model->facts : model->catalogue, message.probed.bytes);
	if (model->lie == WIRE_LIE_FACTS_HUGE)
		message.probed.bytes = UINT32_MAX;
	if (model->lie == WIRE_LIE_FACTS_CRC)
		message.probed.crc++;
	say(model, &message, frame->seq);
}

static void answer_ping(struct wire_model *model, const struct frame *frame, uint64_t cookie)
{
	struct message message = {.type = MESSAGE_PONG,
		.pong = {.cookie = cookie + (model->lie == WIRE_LIE_COOKIE),
			.received = counter(model),
			.sent = counter(model),
			.state = model->state}};

	if (model->state == MESSAGE_STATE_DONE)
		message.pong.done = model->done;
	else if (model->state != MESSAGE_STATE_IDLE)
		message.pong.done.window = model->arm.window;
	if (model->lie == WIRE_LIE_PONG_IDLE)
		message.pong.state = MESSAGE_STATE_IDLE;
	if (model->lie == WIRE_LIE_PONG_RUNNING)
		message.pong.state = MESSAGE_STATE_RUNNING;
	say(model, &message, frame->seq);
}

static void answer_arm(
	struct wire_model *model, const struct frame *frame, const struct message_arm *arm)
{
	struct message message = {.type = MESSAGE_ARMED,
		.armed = {.window = arm->window, .estimate_ms = model->window_ms}};

	if (model->state != MESSAGE_STATE_IDLE && !message_arm_is_equal(arm, &model->arm)) {
		say_error(model, frame, WIRE_ERROR_BUSY, model->arm.window, "");
		return;
	}
	if (arm->bench == 200) {
		say_error(model, frame, WIRE_ERROR_UNKNOWN_BENCH, arm->bench, "not here");
		return;
	}
	if (model->lie == WIRE_LIE_ARMED_OTHER)
		message.armed.window++;
	model->arm = *arm;
	if (model->state == MESSAGE_STATE_IDLE)
		model->state = MESSAGE_STATE_ARMED;
	say(model, &message, frame->seq);
}

static void start_train(
	struct wire_model *model, const struct frame *frame, const struct message_read *read)
{
	const uint8_t *data = NULL;
	uint64_t size = 0;

	model->reads++;
	if (read->window == 0 && read->series == SERIES_ID_FACTS)
		data = (const uint8_t *)model->facts, size = model->facts_size;
	else if (read->window == 0)
		data = (const uint8_t *)model->catalogue, size = model->catalogue_size;
	else if (read->series == 0)
		data = model->index, size = model->index_size;
	else if (read->series <= WIRE_MODEL_SERIES)
		data = model->data[read->series - 1], size = model->entries[read->series - 1].bytes;
	if (!data || (uint64_t)read->offset + read->length > size || read->length == 0 ||
		read->length > MESSAGE_READ_MAX || model->lie == WIRE_LIE_ERROR_READ ||
		model->lie == WIRE_LIE_ERROR_SHORT) {
		say_error(model, frame, WIRE_ERROR_BAD_RANGE, read->offset, "no such range");
		return;
	}
	model->train_is_on = true;
	model->train_seq = frame->seq;
	model->train = *read;
	model->train_data = data;
	model->train_at = 0;
}

static void lie_about_data(struct wire_model *model, struct message_data *data)
{
	switch ((int)model->lie) {
	case WIRE_LIE_DATA_BEFORE:
		if (data->offset > 0)
			data->offset--;
		else
			data->size = 1;
		break;
	case WIRE_LIE_DATA_BEHIND:
		data->offset += model->train.length;
		break;
	case WIRE_LIE_DATA_FAR:
		data->offset = UINT32_MAX - 3;
		break;
	case WIRE_LIE_DATA_OTHER:
		data->series++;
		break;
	case WIRE_LIE_DATA_FIRST_ONLY:
		data->size = 1;
		break;
	default:
		break;
	}
}

static void send_data(struct wire_model *model)
{
	uint32_t left = model->train.length - model->train_at;
	uint16_t size = (uint16_t)(left < MESSAGE_DATA_MAX ? left : MESSAGE_DATA_MAX);
	struct message message = {.type = MESSAGE_DATA,
		.data = {.window = model->train.window,
			.series = model->train.series,
			.offset = model->train.offset + model->train_at,
			.size = size}};

	message.data.bytes = model->train_data + message.data.offset;
	if (model->shuffles) {
		/* Backwards, then all of it again, each frame reaching into its neighbour. */
		message.data.offset = model->train.offset + left - size;
		message.data.bytes = model->train_data + message.data.offset;
	}
	model->train_at += model->shuffles && size > 100 ? size - 37u : size;
	model->train_is_on = model->train_at < model->train.length;
	lie_about_data(model, &message.data);
	if (model->lie == WIRE_LIE_DATA_FIRST_ONLY)
		model->train_is_on = false;
	say_cut(model, &message, model->train_seq, model->lie == WIRE_LIE_DATA_SHORT);
}

static void start_window(struct wire_model *model, const struct frame *frame, uint16_t window)
{
	if (model->state != MESSAGE_STATE_ARMED || model->arm.window != window)
		return;
	model->state = MESSAGE_STATE_RUNNING;
	model->go_seq = frame->seq;
	model->go_ns = model->line->now_ns;
	model->done_ns = model->go_ns + (uint64_t)model->window_ms * 1000000u;
}

static void end_window(struct wire_model *model)
{
	struct message message = {.type = MESSAGE_DONE};

	make_index(model);
	model->state = MESSAGE_STATE_DONE;
	model->done = (struct message_done){.window = model->arm.window,
		.index_size = model->index_size,
		.index_crc = crc32c_update(0, model->index, model->index_size),
		.start = model->go_ns * 24 / 1000,
		.end = counter(model)};
	if (model->lie == WIRE_LIE_INDEX_HUGE)
		model->done.index_size = UINT32_MAX;
	message.done = model->done;
	if (model->lie != WIRE_LIE_PONG_IDLE && model->lie != WIRE_LIE_PONG_RUNNING)
		say(model, &message, model->go_seq);
}

static void answer_session(
	struct wire_model *model, const struct frame *frame, const struct message_session *session)
{
	if (session->proto_major != MESSAGE_PROTO_MAJOR) {
		say_error(model, frame, WIRE_ERROR_VERSION, MESSAGE_PROTO_MAJOR << 8, "");
		return;
	}
	if (session->nonce != model->session)
		model->state = MESSAGE_STATE_IDLE;
	model->session = session->nonce;
	say_hello(model, frame->seq);
}

static void answer(
	struct wire_model *model, const struct frame *frame, const struct message *message)
{
	struct message released = {.type = MESSAGE_RELEASED, .released = message->release};

	switch (message->type) {
	case MESSAGE_PING:
		answer_ping(model, frame, message->ping.cookie);
		break;
	case MESSAGE_PROBE:
	case MESSAGE_CATALOG:
		answer_listed(model, frame);
		break;
	case MESSAGE_ARM:
		answer_arm(model, frame, &message->arm);
		break;
	case MESSAGE_GO:
		start_window(model, frame, message->go.window);
		break;
	case MESSAGE_READ:
		start_train(model, frame, &message->read);
		break;
	case MESSAGE_RELEASE:
		model->state = MESSAGE_STATE_IDLE;
		released.released.window += model->lie == WIRE_LIE_RELEASED_OTHER;
		say(model, &released, frame->seq);
		break;
	case MESSAGE_QUIT:
		say(model, &(struct message){.type = MESSAGE_BYE}, frame->seq);
		model->is_mute = true;
		break;
	default:
		say_error(model, frame, WIRE_ERROR_UNKNOWN_TYPE, 0, "");
		break;
	}
}

static void hear(struct wire_model *model, const struct frame *frame)
{
	struct message message;
	int err = message_decode(frame->type, frame->body, frame->size, &message);

	model->train_is_on = false;
	if (model->lie == WIRE_LIE_FLOOD)
		return;
	if (err == 0 && frame->type == MESSAGE_SESSION) {
		answer_session(model, frame, &message.session);
		return;
	}
	if (err == 0 && frame->session != model->session)
		err = model->session ? WIRE_ERROR_WRONG_SESSION : WIRE_ERROR_NO_SESSION;
	if (err == 0 && model->session == 0)
		err = WIRE_ERROR_NO_SESSION;
	if (err == 0)
		answer(model, frame, &message);
	else if (frame->type != MESSAGE_GO)
		say_error(model, frame, err, 0, "");
}

/* --------------------------------------------------------- the far end */

static void receive(void *context, uint8_t byte)
{
	struct wire_model *model = context;
	struct frame_event event;

	/* A running target is deaf: later issues of the byte are not kept either. */
	if (model->state == MESSAGE_STATE_RUNNING)
		return;
	frame_reader_feed(&model->reader, &byte, 1, &event);
	if (event.kind == FRAME_EVENT_FRAME)
		hear(model, &event.frame);
}

static uint64_t wake_ns(void *context)
{
	struct wire_model *model = context;
	uint64_t at_ns = WIRE_NEVER;

	if (model->lie == WIRE_LIE_FLOOD)
		return model->line->to_host.free_ns;
	if (model->state == MESSAGE_STATE_RUNNING) {
		at_ns = model->done_ns;
		if (model->chatter && model->go_ns + model->chatter_ms * 1000000ull < at_ns)
			at_ns = model->go_ns + model->chatter_ms * 1000000ull;
		if (model->restart_ms && model->go_ns + model->restart_ms * 1000000ull < at_ns)
			at_ns = model->go_ns + model->restart_ms * 1000000ull;
	}
	if (model->train_is_on && model->line->to_host.free_ns < at_ns)
		at_ns = model->line->to_host.free_ns;
	return at_ns;
}

static void act(void *context)
{
	static const uint8_t noise[] = "the quick brown fox jumps over the lazy dog\r\n";
	struct wire_model *model = context;
	uint64_t since_ms = (model->line->now_ns - model->go_ns) / 1000000u;

	if (model->lie == WIRE_LIE_FLOOD) {
		wire_line_send(model->line, noise, sizeof(noise) - 1);
	} else if (model->state == MESSAGE_STATE_RUNNING && model->chatter &&
		   since_ms >= model->chatter_ms) {
		wire_line_send(model->line, (const uint8_t *)model->chatter, model->chatter_size);
		model->chatter = NULL;
	} else if (model->state == MESSAGE_STATE_RUNNING && model->restart_ms &&
		   since_ms >= model->restart_ms) {
		wire_model_restart(model, !model->restarts_quietly);
	} else if (model->state == MESSAGE_STATE_RUNNING && model->line->now_ns >= model->done_ns) {
		end_window(model);
	} else if (model->train_is_on) {
		send_data(model);
	}
}

void wire_model_restart(struct wire_model *model, bool is_loud)
{
	model->session = 0;
	model->state = MESSAGE_STATE_IDLE;
	model->train_is_on = false;
	model->probes = 0;
	frame_reader_init(&model->reader, model->chunk, sizeof(model->chunk));
	if (is_loud)
		say_hello(model, 0);
}

void wire_model_init(struct wire_model *model, struct wire_line *line)
{
	memset(model, 0, sizeof(*model));
	model->line = line;
	model->window_ms = 3000;
	model->catalogue_size = (size_t)snprintf(model->catalogue, sizeof(model->catalogue),
		"0 floor supported\n1 wake.idle supported\n26 signal unsupported no signals\n");
	make_series(model);
	line->end = (struct wire_end){
		.context = model, .receive = receive, .wake_ns = wake_ns, .act = act};
	frame_reader_init(&model->reader, model->chunk, sizeof(model->chunk));
}

void wire_model_fini(struct wire_model *model)
{
	for (size_t i = 0; i < WIRE_MODEL_SERIES; i++)
		free(model->data[i]);
}
