/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk data: ranges that are asked for until no hole is left. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/peer_private.h"
#include "protocol/crc32c.h"

#define PULL_RANGE_FIRST  16384u
#define PULL_RANGE_MIN	  64u
#define PULL_SLOWNESS	  50u /* times what the line could do, and */
#define PULL_BASE_US	  60000000u
#define PULL_TRIES	  3u /* times the tries of a request: READ costs nothing */
#define PULL_RAISED_TRIES 5u /* the target must not get lonely */
/* Between two reads of a long train: a host of many boards must not wake for each byte. */
#define PULL_REST_US	30000u
#define PULL_REST_BYTES 1024u /* a fast line must not fill the kernel's 4 KiB */

/* ------------------------------------------------------- map of holes */

static void reset_holes(struct peer_transfer *transfer)
{
	transfer->missing = transfer->size;
	transfer->range = PULL_RANGE_FIRST;
	transfer->holes_count = transfer->size > 0;
	transfer->holes[0] = (struct peer_hole){0, transfer->size};
}

int peer_transfer_init(struct peer_transfer *transfer, uint16_t window, uint16_t series,
	uint32_t size, uint32_t crc, uint8_t *buffer)
{
	memset(transfer, 0, sizeof(*transfer));
	if (size > PEER_SERIES_MAX)
		return -EMSGSIZE;
	transfer->window = window;
	transfer->series = series;
	transfer->size = size;
	transfer->crc = crc;
	transfer->buffer = buffer;
	reset_holes(transfer);
	return 0;
}

static void remove_hole(struct peer_transfer *transfer, size_t at)
{
	transfer->holes_count--;
	memmove(&transfer->holes[at], &transfer->holes[at + 1],
		(transfer->holes_count - at) * sizeof(transfer->holes[0]));
}

/* Cuts [from, to) out of one hole; true when the hole is gone. */
static bool cut_hole(struct peer_transfer *transfer, size_t at, uint32_t from, uint32_t to)
{
	struct peer_hole *hole = &transfer->holes[at];
	uint32_t begin = hole->offset, end = hole->offset + hole->length;

	from = from > begin ? from : begin;
	to = to < end ? to : end;
	if (from >= to)
		return false;
	if (from > begin && to < end) {
		/* No room to remember the rest: these bytes will be asked for again. */
		if (transfer->holes_count == PEER_HOLES_MAX)
			return false;
		memmove(hole + 1, hole, (transfer->holes_count - at) * sizeof(*hole));
		transfer->holes_count++;
		hole[0].length = from - begin;
		hole[1] = (struct peer_hole){to, end - to};
	} else if (from > begin) {
		hole->length = from - begin;
	} else if (to < end) {
		*hole = (struct peer_hole){to, end - to};
	}
	transfer->missing -= to - from;
	if (from == begin && to == end) {
		remove_hole(transfer, at);
		return true;
	}
	return false;
}

/* Only holes are written: bytes that are there never change under the caller. */
static void fill_holes(struct peer_transfer *transfer, const struct message_data *data)
{
	uint32_t end = data->offset + data->size;

	for (size_t at = 0; at < transfer->holes_count;) {
		struct peer_hole hole = transfer->holes[at];
		uint32_t from = hole.offset > data->offset ? hole.offset : data->offset;
		uint32_t to = hole.offset + hole.length < end ? hole.offset + hole.length : end;

		if (from < to)
			memcpy(transfer->buffer + from, data->bytes + (from - data->offset),
				to - from);
		if (!cut_hole(transfer, at, data->offset, end))
			at++;
	}
}

/* --------------------------------------------------------- one range */

struct train {
	uint32_t offset;
	uint32_t length;
	uint32_t arrived; /* end of its last DATA */
	uint8_t seq;
	bool is_over;
	uint64_t give_up_us; /* whatever traffic there is */
	uint64_t patience_us;
};

static int take_data(struct peer *peer, struct peer_transfer *transfer, struct train *train,
	const struct frame *frame)
{
	uint32_t end = train->offset + train->length;
	const struct message_data *data;
	struct message message;
	uint64_t data_end;

	if (message_decode(frame->type, frame->body, frame->size, &message) != 0)
		return peer_fail(peer, -EPROTO, "the target sent a DATA that cannot be read");
	data = &message.data;
	data_end = (uint64_t)data->offset + data->size;
	if (data->window != transfer->window || data->series != transfer->series) {
		/* Late, of another series: harmless unless it claims to be the answer. */
		if (frame->seq != train->seq)
			return 0;
		return peer_fail(peer, -EPROTO, "asked for series %u.%u, the target sent %u.%u",
			transfer->window, transfer->series, data->window, data->series);
	}
	if (data_end > transfer->size ||
		(frame->seq == train->seq && (data->offset < train->offset || data_end > end)))
		return peer_fail(peer, -EPROTO,
			"series %u.%u: asked for %u bytes at %u, the target sent %u at %u",
			transfer->window, transfer->series, train->length, train->offset,
			data->size, data->offset);
	fill_holes(transfer, data);
	if (frame->seq == train->seq)
		train->arrived = (uint32_t)data_end;
	train->is_over = frame->seq == train->seq && data_end == end;
	if (transfer->progress && transfer->progress(transfer->progress_context,
					  transfer->size - transfer->missing, transfer->size))
		return peer_fail(peer, -ECANCELED, "the pull was stopped");
	return 0;
}

static int take_frame(struct peer *peer, struct peer_transfer *transfer, struct train *train,
	const struct peer_arrival *arrival)
{
	const struct frame *frame = &arrival->frame;

	if (frame->type == MESSAGE_DATA && frame->session == peer->nonce)
		return take_data(peer, transfer, train, frame);
	if (frame->type == MESSAGE_ERROR && frame->seq == train->seq)
		return peer_take_error(peer, frame);
	peer_note_frame(peer, arrival);
	return peer_check_open(peer);
}

/* None in the last frame, so that no time is lost at a train's end. */
static uint32_t find_rest_us(const struct peer *peer, const struct train *train)
{
	uint64_t most_us = peer_line_us(peer, PULL_REST_BYTES);
	uint64_t rest_us = most_us < PULL_REST_US ? most_us : PULL_REST_US;
	uint32_t left = train->offset + train->length - train->arrived;

	return left > MESSAGE_DATA_MAX && peer_line_us(peer, left - MESSAGE_DATA_MAX) > rest_us
		       ? (uint32_t)rest_us
		       : 0;
}

/* Until the range's last byte has come or the line has been idle for too long. */
static int receive_train(struct peer *peer, struct peer_transfer *transfer, struct train *train)
{
	uint64_t start_us = peer_now_us(peer);

	while (!train->is_over) {
		uint64_t since_us = peer->last_byte_us > start_us ? peer->last_byte_us : start_us;
		uint64_t until_us = since_us + train->patience_us;
		uint64_t now_us = peer_now_us(peer);
		struct peer_arrival arrival;
		int err;

		if (until_us > train->give_up_us)
			until_us = train->give_up_us;
		if (now_us >= until_us)
			return 0;
		peer->rest_us = find_rest_us(peer, train);
		err = peer_next_frame(peer, until_us, &arrival);
		peer->rest_us = 0;
		if (err == 1)
			err = take_frame(peer, transfer, train, &arrival);
		if (err < 0)
			return err;
	}
	return 0;
}

/* Of a DATA in an answer to so many bytes. */
static size_t longest_body(uint32_t length)
{
	return length < MESSAGE_DATA_MAX ? length + FRAME_BODY_MAX - MESSAGE_DATA_MAX
					 : FRAME_BODY_MAX;
}

static int pull_range(struct peer *peer, struct peer_transfer *transfer, uint32_t offset,
	uint32_t length, uint32_t doubling)
{
	struct message message = {
		.type = MESSAGE_READ, .read = {transfer->window, transfer->series, offset, length}};
	struct train train = {.offset = offset, .length = length, .arrived = offset};
	int err = peer_send(peer, &message, peer->nonce, &train.seq);

	if (err)
		return err;
	train.patience_us = peer_timeout_us(peer, 12, longest_body(length)) << doubling;
	/* The smallest frames carry little: four times the plain bytes is generous. */
	train.give_up_us =
		peer_now_us(peer) + 4 * peer_line_us(peer, length) + 10 * train.patience_us;
	return receive_train(peer, transfer, &train);
}

/* ------------------------------------------------------- whole series */

static void adapt_range(struct peer_transfer *transfer, uint32_t asked, uint32_t got)
{
	if (got >= asked) {
		transfer->range *= 2;
		if (transfer->range > MESSAGE_READ_MAX)
			transfer->range = MESSAGE_READ_MAX;
	} else if (asked - got > asked / 4) {
		/* One lost frame of many is cheaper to ask for than many small trains. */
		transfer->range = (asked < transfer->range ? asked : transfer->range) / 2;
		/* Where nothing came through, shorter frames may. */
		if (got == 0 && transfer->range > MESSAGE_DATA_MAX / 2)
			transfer->range = MESSAGE_DATA_MAX / 2;
		if (transfer->range < PULL_RANGE_MIN)
			transfer->range = PULL_RANGE_MIN;
	}
}

/* A target that dribbles must not hold the host for hours. */
static uint64_t pull_deadline_us(const struct peer *peer, const struct peer_transfer *transfer)
{
	return peer_now_us(peer) + PULL_BASE_US +
	       PULL_SLOWNESS * peer_line_us(peer, transfer->missing);
}

static int pull_holes(struct peer *peer, struct peer_transfer *transfer)
{
	uint64_t deadline_us = pull_deadline_us(peer, transfer);
	uint64_t damage = peer_get_damage(peer);
	uint32_t stalls_max =
		peer_is_raised(peer) ? PULL_RAISED_TRIES : peer->config.tries * PULL_TRIES;
	uint32_t stalls = 0;

	while (transfer->missing > 0 && peer_now_us(peer) < deadline_us) {
		struct peer_hole hole = transfer->holes[0];
		uint32_t length = hole.length < transfer->range ? hole.length : transfer->range;
		uint32_t before = transfer->missing, got;
		int err = pull_range(peer, transfer, hole.offset, length, stalls < 2 ? stalls : 2);

		if (err)
			return err;
		got = before - transfer->missing;
		peer->statistics.retries += got < length;
		adapt_range(transfer, length, got);
		if (got > 0) {
			stalls = 0;
			damage = peer_get_damage(peer);
		} else if (++stalls >= stalls_max) {
			err = peer_get_damage(peer) != damage ? -EBADMSG : -ETIMEDOUT;
			return peer_fail(peer, err,
				"series %u.%u: nothing usable came for %u bytes at %u (%u tries)",
				transfer->window, transfer->series, length, hole.offset, stalls);
		}
	}
	if (transfer->missing > 0)
		return peer_fail(peer, -ETIMEDOUT,
			"series %u.%u: far too slow, %u of %u bytes are missing", transfer->window,
			transfer->series, transfer->missing, transfer->size);
	return 0;
}

int peer_pull(struct peer *peer, struct peer_transfer *transfer)
{
	int err = peer_check_open(peer);

	for (int round = 0; !err && round < 2; round++) {
		err = pull_holes(peer, transfer);
		if (err)
			return err;
		if (crc32c_update(0, transfer->buffer, transfer->size) == transfer->crc)
			return 0;
		reset_holes(transfer);
	}
	if (err)
		return err;
	return peer_fail(peer, -EPROTO,
		"series %u.%u: %u bytes came twice, and never with the CRC %08x that was announced",
		transfer->window, transfer->series, transfer->size, transfer->crc);
}

/* Asks for a text of window 0 and pulls it; NUL-terminated, the caller's. */
static int pull_text_once(
	struct peer *peer, uint8_t type, uint16_t series, char **text, size_t *size)
{
	struct peer_request ask = {
		.request = {.type = type},
		.answer_type = (uint8_t)(type + 1),
		.answer_body = sizeof(struct message_listed),
		.work_ms = peer->config.work_ms,
	};
	struct peer_transfer transfer;
	uint32_t bytes;
	char *buffer;
	int err = peer_ask(peer, &ask);

	if (err)
		return err;
	bytes = ask.answer.probed.bytes;
	if (bytes > PEER_TEXT_MAX)
		return peer_fail(peer, -EMSGSIZE, "%s announces %u bytes, at most %u are taken",
			message_type_name(ask.answer_type), bytes, PEER_TEXT_MAX);
	buffer = malloc((size_t)bytes + 1);
	if (!buffer)
		return peer_fail(peer, -ENOMEM, "no memory for %u bytes", bytes);
	peer_transfer_init(&transfer, SERIES_WINDOW_FACTS, series, bytes, ask.answer.probed.crc,
		(uint8_t *)buffer);
	err = peer_pull(peer, &transfer);
	if (!err && memchr(buffer, '\0', bytes))
		err = peer_fail(peer, -EPROTO, "the text of series 0.%u has a NUL inside", series);
	if (err) {
		free(buffer);
		return err;
	}
	buffer[bytes] = '\0';
	*text = buffer;
	*size = bytes;
	return 0;
}

static int pull_text(struct peer *peer, uint8_t type, uint16_t series, char **text, size_t *size)
{
	int err = peer_check_open(peer);

	*text = NULL;
	*size = 0;
	if (err)
		return err;
	err = pull_text_once(peer, type, series, text, size);
	/* A late repetition of the request makes the text anew under our hands. */
	if (err == -EPROTO)
		err = pull_text_once(peer, type, series, text, size);
	return err;
}

int peer_probe(struct peer *peer, char **text, size_t *size)
{
	return pull_text(peer, MESSAGE_PROBE, SERIES_ID_FACTS, text, size);
}

int peer_catalog(struct peer *peer, char **text, size_t *size)
{
	return pull_text(peer, MESSAGE_CATALOG, SERIES_ID_CATALOG, text, size);
}

/* --------------------------------------------------------- the index */

static int check_entry(struct peer *peer, const struct series_entry *entries, size_t count)
{
	const struct series_entry *entry = &entries[count];

	if (entry->bytes > PEER_SERIES_MAX)
		return peer_fail(peer, -EMSGSIZE,
			"series \"%s\" has %u bytes, at most %u are taken", entry->name,
			entry->bytes, PEER_SERIES_MAX);
	for (size_t i = 0; i < count; i++)
		if (entries[i].id == entry->id)
			return peer_fail(peer, -EPROTO, "series %u is listed twice", entry->id);
	return 0;
}

/* Of an unknown kind, what the line brings. */
static uint64_t values_size(const struct series_entry *entry)
{
	uint64_t size = (uint64_t)entry->count * series_kind_size(entry->kind);

	return size > entry->bytes ? size : entry->bytes;
}

static int parse_index(struct peer *peer, const uint8_t *index, size_t size,
	struct series_entry *entries, size_t *count)
{
	struct series_iterator iterator;
	uint64_t total = 0;
	int err;

	series_iterator_init(&iterator, index, size);
	while ((err = series_iterator_next(&iterator, &entries[*count])) == 1) {
		err = check_entry(peer, entries, *count);
		if (err)
			return err;
		total += values_size(&entries[*count]);
		if (total > PEER_WINDOW_MAX)
			return peer_fail(peer, -EMSGSIZE,
				"the series up to \"%s\" come to %llu bytes of values, at most %u "
				"are taken",
				entries[*count].name, (unsigned long long)total, PEER_WINDOW_MAX);
		++*count;
	}
	if (err)
		return peer_fail(peer, -EPROTO, "the index cannot be read at byte %zu of %zu",
			iterator.offset, size);
	return 0;
}

int peer_pull_index(struct peer *peer, const struct message_done *done,
	struct series_entry **entries, size_t *count)
{
	uint8_t index[SERIES_INDEX_MAX];
	struct peer_transfer transfer;
	int err = peer_check_open(peer);

	*entries = NULL;
	*count = 0;
	if (err)
		return err;
	if (done->index_size > sizeof(index))
		return peer_fail(peer, -EMSGSIZE, "an index of %u bytes, at most %zu are taken",
			done->index_size, sizeof(index));
	peer_transfer_init(
		&transfer, done->window, SERIES_ID_INDEX, done->index_size, done->index_crc, index);
	err = peer_pull(peer, &transfer);
	if (err)
		return err;
	/* One more, for the entry that the iterator empties at the end. */
	*entries = calloc(done->index_size / SERIES_ENTRY_FIXED + 1, sizeof(**entries));
	if (!*entries)
		return peer_fail(peer, -ENOMEM, "no memory for an index");
	err = parse_index(peer, index, done->index_size, *entries, count);
	if (err) {
		free(*entries);
		*entries = NULL;
		*count = 0;
	}
	return err;
}
