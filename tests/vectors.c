/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/vectors.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

FILE *vectors_open(void)
{
	FILE *file = fopen("tests/data/vectors.txt", "r");

	ck_assert_msg(file != NULL, "tests/data/vectors.txt: run from the root of the tree");
	return file;
}

static size_t parse_hex(const char *hex, uint8_t *bytes, size_t capacity)
{
	size_t size = strlen(hex) / 2;

	if (strcmp(hex, "-") == 0)
		return 0;
	ck_assert_uint_le(size, capacity);
	for (size_t i = 0; i < size; i++) {
		unsigned int byte;

		ck_assert_int_eq(sscanf(hex + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return size;
}

int vectors_next(FILE *file, const char *kind, struct vector *vector)
{
	static char line[20000], hex[10000];
	int number = vector->line;

	while (fgets(line, sizeof(line), file)) {
		char *bar = strstr(line, " | ");

		number++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || line[0] == '\0')
			continue;
		ck_assert_msg(bar != NULL, "vectors.txt:%d: no bar", number);
		*bar = '\0';
		memset(vector, 0, sizeof(*vector));
		vector->line = number;
		if (sscanf(line, "%15s %9999s", vector->kind, hex) != 2)
			ck_abort_msg("vectors.txt:%d: no bytes", number);
		if (strcmp(vector->kind, kind) != 0)
			continue;
		if (strcmp(kind, "bad-body") == 0)
			ck_assert_int_eq(sscanf(line, "%*s %15s %9999s", vector->type, hex), 2);
		vector->size = parse_hex(hex, vector->bytes, sizeof(vector->bytes));
		ck_assert_uint_lt(strlen(bar + 3), sizeof(vector->text));
		strcpy(vector->text, bar + 3);
		return 1;
	}
	return 0;
}

static void print_done(FILE *out, const struct message_done *done)
{
	fprintf(out,
		" window=%u status=%d index_size=%u index_crc=%08x start=%" PRIu64 " end=%" PRIu64,
		done->window, done->status, done->index_size, done->index_crc, done->start,
		done->end);
}

static void print_hello(FILE *out, const struct message_hello *hello)
{
	fprintf(out, " major=%u minor=%u max_body=%u state=%u uptime=%" PRIu64 " counter_hz=%u",
		hello->proto_major, hello->proto_minor, hello->max_body, hello->state,
		hello->uptime, hello->counter_hz);
	fprintf(out, " system=%s version=%s", hello->system, hello->version);
}

static void print_arm(FILE *out, const struct message_arm *arm)
{
	fprintf(out, " window=%u bench=%u load=%u n=%u period_us=%u settle_ms=%u duration_ms=%u",
		arm->window, arm->bench, arm->load, arm->n, arm->period_us, arm->settle_ms,
		arm->duration_ms);
	fprintf(out, " seed=%08x flags=%u", arm->seed, arm->flags);
}

static void print_data(FILE *out, const struct message_data *data)
{
	fprintf(out, " window=%u series=%u offset=%u size=%u bytes=", data->window, data->series,
		data->offset, data->size);
	for (size_t i = 0; i < data->size; i++)
		fprintf(out, "%02x", data->bytes[i]);
}

static void print_fields(FILE *out, const struct message *message)
{
	switch (message->type) {
	case MESSAGE_HELLO:
		print_hello(out, &message->hello);
		break;
	case MESSAGE_SESSION:
		fprintf(out, " major=%u minor=%u nonce=%08x", message->session.proto_major,
			message->session.proto_minor, message->session.nonce);
		break;
	case MESSAGE_PING:
		fprintf(out, " cookie=%016" PRIx64, message->ping.cookie);
		break;
	case MESSAGE_PONG:
		fprintf(out,
			" cookie=%016" PRIx64 " received=%" PRIu64 " sent=%" PRIu64 " state=%u",
			message->pong.cookie, message->pong.received, message->pong.sent,
			message->pong.state);
		print_done(out, &message->pong.done);
		break;
	case MESSAGE_PROBED:
	case MESSAGE_CATALOGED:
		fprintf(out, " bytes=%u crc=%08x", message->probed.bytes, message->probed.crc);
		break;
	case MESSAGE_ARM:
		print_arm(out, &message->arm);
		break;
	case MESSAGE_ARMED:
		fprintf(out, " window=%u estimate_ms=%u", message->armed.window,
			message->armed.estimate_ms);
		break;
	case MESSAGE_GO:
	case MESSAGE_RELEASE:
	case MESSAGE_RELEASED:
		fprintf(out, " window=%u", message->go.window);
		break;
	case MESSAGE_DONE:
		print_done(out, &message->done);
		break;
	case MESSAGE_READ:
		fprintf(out, " window=%u series=%u offset=%u length=%u", message->read.window,
			message->read.series, message->read.offset, message->read.length);
		break;
	case MESSAGE_DATA:
		print_data(out, &message->data);
		break;
	case MESSAGE_ERROR:
		fprintf(out, " code=%d type=%u detail=%u text=%s", message->error.code,
			message->error.type, message->error.detail, message->error.text);
		break;
	case MESSAGE_BAUD:
		fprintf(out, " baud=%u confirm_ms=%u idle_ms=%u", message->baud.baud,
			message->baud.confirm_ms, message->baud.idle_ms);
		break;
	case MESSAGE_BAUDED:
		fprintf(out, " baud=%u console=%u base=%u", message->bauded.baud,
			message->bauded.console, message->bauded.base);
		break;
	default:
		break;
	}
}

void vectors_print_message(
	const struct frame *frame, const struct message *message, char *text, size_t capacity)
{
	const char *name = message_type_name(frame->type);
	FILE *out = fmemopen(text, capacity, "w");

	fprintf(out, "%s seq=%u session=%08x", name ? name : "?", frame->seq, frame->session);
	print_fields(out, message);
	fputc('\0', out);
	fclose(out);
}

void vectors_print_entry(const struct series_entry *entry, char *text, size_t capacity)
{
	snprintf(text, capacity, "%u/%u/%u/%u/%u/%u/%08x/%s", entry->id, entry->kind,
		entry->encoding, entry->count, entry->clipped, entry->bytes, entry->crc,
		entry->name);
}

/* splitmix64 */
uint32_t vectors_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ z >> 31) >> 32);
}
