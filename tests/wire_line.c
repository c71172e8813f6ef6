/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/wire_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/vectors.h"

void wire_line_init(struct wire_line *line, uint32_t baud, uint64_t seed)
{
	memset(line, 0, sizeof(*line));
	line->now_ns = 1000000000;
	line->host_baud = baud;
	line->target_baud = baud;
	line->random = seed;
}

void wire_line_fini(struct wire_line *line)
{
	free(line->to_host.bytes);
	free(line->to_target.bytes);
}

static bool is_hit(struct wire_line *line, uint32_t one_in)
{
	return one_in > 0 && vectors_random(&line->random) % one_in == 0;
}

static void put(struct wire_queue *queue, uint64_t at_ns, uint32_t baud, uint8_t byte)
{
	if (queue->tail == queue->capacity) {
		size_t live = queue->tail - queue->head;

		if (queue->head < queue->capacity / 2 || queue->capacity == 0) {
			queue->capacity = queue->capacity ? queue->capacity * 2 : 4096;
			queue->bytes =
				realloc(queue->bytes, queue->capacity * sizeof(queue->bytes[0]));
		}
		memmove(queue->bytes, queue->bytes + queue->head, live * sizeof(queue->bytes[0]));
		queue->head = 0;
		queue->tail = live;
	}
	queue->bytes[queue->tail++] = (struct wire_byte){at_ns, baud, byte};
}

static bool is_cut(const struct wire_line *line, uint64_t at_ns)
{
	return line->is_cut || (at_ns >= line->cut_from_ns && at_ns < line->cut_until_ns);
}

static void transmit_chunk(struct wire_line *line, struct wire_queue *queue, uint32_t baud,
	const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		uint8_t byte = bytes[i];

		queue->free_ns += 10000000000u / baud;
		for (unsigned int bit = 0; bit < 8; bit++)
			if (is_hit(line, line->noise_in))
				byte ^= (uint8_t)(1u << bit);
		if (!is_hit(line, line->drop_in) && !is_cut(line, queue->free_ns))
			put(queue, queue->free_ns, baud, byte);
	}
}

static void transmit(
	struct wire_line *line, struct wire_queue *queue, const uint8_t *bytes, size_t size)
{
	uint32_t baud = queue == &line->to_host ? line->target_baud : line->host_baud;

	if (queue->free_ns < line->now_ns)
		queue->free_ns = line->now_ns;
	for (size_t at = 0; at < size;) {
		size_t chunk = size - at < WIRE_CHUNK ? size - at : WIRE_CHUNK;
		size_t next = size - at - chunk < WIRE_CHUNK ? size - at - chunk : WIRE_CHUNK;
		bool is_swapped = next > 0 && is_hit(line, line->reorder_in);

		if (is_swapped)
			transmit_chunk(line, queue, baud, bytes + at + chunk, next);
		transmit_chunk(line, queue, baud, bytes + at, chunk);
		if (is_hit(line, line->duplicate_in))
			transmit_chunk(line, queue, baud, bytes + at, chunk);
		at += chunk + (is_swapped ? next : 0);
	}
}

/* What a receiver at that rate makes of it. */
static uint8_t hear(struct wire_line *line, const struct wire_byte *byte, uint32_t baud)
{
	uint32_t difference = byte->baud > baud ? byte->baud - baud : baud - byte->baud;

	if (difference <= baud / 40 && (line->max_baud == 0 || baud <= line->max_baud))
		return byte->byte;
	return (uint8_t)(byte->byte ^ (1 + vectors_random(&line->random) % 255));
}

void wire_line_set_target_baud(struct wire_line *line, uint32_t baud)
{
	line->target_baud = baud;
}

/* Types are never 0, so the second byte of a frame's COBS is the type. */
static bool is_frame_of(const uint8_t *bytes, size_t size, uint8_t type)
{
	return size >= 13 && bytes[0] == 0 && bytes[2] == type;
}

void wire_line_send(struct wire_line *line, const uint8_t *bytes, size_t size)
{
	uint8_t damaged[FRAME_WIRE_SIZE(FRAME_BODY_MAX)];

	if (line->lose_target > 0 && is_frame_of(bytes, size, line->lose_target_type)) {
		line->lose_target--;
		return;
	}
	if (line->damage_target > 0 && is_frame_of(bytes, size, line->damage_target_type)) {
		line->damage_target--;
		memcpy(damaged, bytes, size);
		damaged[line->damage_at ? line->damage_at : size / 2] ^=
			line->damage_mask ? line->damage_mask : 0x41;
		bytes = damaged;
	}
	transmit(line, &line->to_host, bytes, size);
}

static int host_write(void *context, const uint8_t *bytes, size_t size)
{
	struct wire_line *line = context;

	if (line->write_error)
		return line->write_error;
	line->frames_from_host++;
	if (line->lose_host > 0 && is_frame_of(bytes, size, line->lose_host_type)) {
		line->lose_host--;
		return 0;
	}
	transmit(line, &line->to_target, bytes, size);
	return 0;
}

static uint64_t first_ns(const struct wire_queue *queue)
{
	return queue->head < queue->tail ? queue->bytes[queue->head].at_ns : WIRE_NEVER;
}

/* The earliest thing that happens at the far end. */
static void step_target(struct wire_line *line, uint64_t byte_ns, uint64_t wake_ns)
{
	if (byte_ns <= wake_ns) {
		line->now_ns = byte_ns > line->now_ns ? byte_ns : line->now_ns;
		line->end.receive(line->end.context,
			hear(line, &line->to_target.bytes[line->to_target.head++],
				line->target_baud));
	} else {
		line->now_ns = wake_ns > line->now_ns ? wake_ns : line->now_ns;
		line->end.act(line->end.context);
	}
}

/* When the host gets its next byte. */
static uint64_t host_ns(const struct wire_line *line)
{
	uint64_t at_ns = first_ns(&line->to_host);

	if (line->timer_ns == 0 || at_ns == WIRE_NEVER)
		return at_ns;
	return (at_ns + line->timer_ns - 1) / line->timer_ns * line->timer_ns;
}

static size_t take_bytes(struct wire_line *line, uint8_t *bytes, size_t capacity)
{
	size_t size = 0;

	while (size < capacity && host_ns(line) <= line->now_ns)
		bytes[size++] =
			hear(line, &line->to_host.bytes[line->to_host.head++], line->host_baud);
	return size;
}

static ssize_t host_read(void *context, uint8_t *bytes, size_t capacity, int timeout_ms)
{
	struct wire_line *line = context;
	uint64_t deadline_ns = line->now_ns + (uint64_t)timeout_ms * 1000000u;

	if (line->read_error)
		return line->read_error;
	for (;;) {
		size_t size = take_bytes(line, bytes, capacity);
		uint64_t next_ns = host_ns(line);
		uint64_t byte_ns = first_ns(&line->to_target);
		uint64_t wake_ns = line->end.wake_ns(line->end.context);
		uint64_t target_ns = byte_ns < wake_ns ? byte_ns : wake_ns;

		if (size > 0)
			return (ssize_t)size;
		if (next_ns > deadline_ns && target_ns > deadline_ns) {
			line->now_ns = deadline_ns;
			return 0;
		}
		if (next_ns <= target_ns)
			line->now_ns = next_ns;
		else
			step_target(line, byte_ns, wake_ns);
	}
}

static uint64_t host_now_us(void *context)
{
	struct wire_line *line = context;

	return line->now_ns / 1000;
}

static int host_set_baud(void *context, uint32_t baud)
{
	struct wire_line *line = context;

	if (line->is_one_rate)
		return -EINVAL;
	line->host_baud = baud;
	return 0;
}

struct peer_link wire_line_get_link(struct wire_line *line)
{
	return (struct peer_link){.context = line,
		.read = host_read,
		.write = host_write,
		.now_us = host_now_us,
		.set_baud = host_set_baud};
}
