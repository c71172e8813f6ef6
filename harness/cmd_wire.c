/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard wire decode */
#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/query.h"
#include "harness/cli.h"
#include "harness/log.h"
#include "harness/wire_decode.h"

#define FILE_MAX    (256u << 20)
#define BYTES_SHOWN 24u /* of damage */

struct printer {
	bool is_json; /* else text */
	bool has_directions;
	bool has_begun; /* the JSON */
	bool is_out_of_memory;
};

/* ---------------------------------------------------------------- words */

/* Printable, with escapes for the rest; text has room for 4 * size + 1. */
static void escape(const uint8_t *bytes, size_t size, char *text)
{
	for (size_t i = 0; i < size; i++) {
		uint8_t byte = bytes[i];

		if (byte == '\n')
			text += sprintf(text, "\\n");
		else if (byte == '\r')
			text += sprintf(text, "\\r");
		else if (byte == '\t')
			text += sprintf(text, "\\t");
		else if (byte == '\\' || byte == '"')
			text += sprintf(text, "\\%c", byte);
		else if (byte >= 0x20 && byte < 0x7f)
			*text++ = (char)byte;
		else
			text += sprintf(text, "\\x%02x", byte);
	}
	*text = '\0';
}

static void write_hex(const uint8_t *bytes, size_t size, char *text)
{
	for (size_t i = 0; i < size; i++)
		text += sprintf(text, "%02x", bytes[i]);
	*text = '\0';
}

static void write_time(int64_t at_ms, char text[32])
{
	time_t seconds = (time_t)(at_ms / 1000);
	struct tm tm;
	size_t length;

	text[0] = '\0';
	if (at_ms == 0 || !gmtime_r(&seconds, &tm))
		return;
	length = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + length, 32 - length, ".%03dZ", (int)(at_ms % 1000));
}

static const char *type_name(uint8_t type)
{
	const char *name = message_type_name(type);

	return name ? name : "unknown";
}

/* ---------------------------------------------------------------- text */

static void print_frame(const struct wire_item *item)
{
	struct wire_field field;

	log_result("%s seq=%u session=%08x", type_name(item->frame.type), item->frame.seq,
		item->frame.session);
	if (item->problem) {
		log_result(" type=%02x: %s, body of %zu bytes\n", item->frame.type, item->problem,
			item->frame.size);
		return;
	}
	for (size_t i = 0; wire_decode_get_field(&item->message, i, &field); i++)
		log_result(" %s=%s", field.name, field.text);
	log_result("\n");
}

static void print_item(const struct printer *printer, const struct wire_item *item)
{
	char text[4 * WIRE_DECODE_TEXT_MAX + 1], when[32];

	write_time(item->at_ms, when);
	log_result("%08llx %s%s%s", (unsigned long long)item->offset, when, when[0] ? " " : "",
		!printer->has_directions ? ""
		: item->is_sent		 ? "> "
					 : "< ");
	switch (item->kind) {
	case WIRE_ITEM_FRAME:
		print_frame(item);
		break;
	case WIRE_ITEM_TEXT:
		escape(item->bytes, item->size, text);
		log_result("\"%s\"\n", text);
		break;
	case WIRE_ITEM_DAMAGED:
		write_hex(item->bytes, item->size < BYTES_SHOWN ? item->size : BYTES_SHOWN, text);
		log_result("DAMAGED %s, %zu bytes: %s%s\n", item->problem, item->size, text,
			item->size > BYTES_SHOWN ? "..." : "");
		break;
	}
}

/* ---------------------------------------------------------------- JSON */

static void add_fields(cJSON *json, const struct wire_item *item)
{
	cJSON *fields = cJSON_AddObjectToObject(json, "fields");
	struct wire_field field;

	for (size_t i = 0; wire_decode_get_field(&item->message, i, &field); i++) {
		/* Beyond 2^53 a JSON number would be another one. */
		if (!field.is_number || (!field.is_signed && field.number > 1ull << 53))
			cJSON_AddStringToObject(fields, field.name, field.text);
		else if (field.is_signed)
			cJSON_AddNumberToObject(fields, field.name, (double)(int64_t)field.number);
		else
			cJSON_AddNumberToObject(fields, field.name, (double)field.number);
	}
}

static void add_frame(cJSON *json, const struct wire_item *item)
{
	char session[16];

	snprintf(session, sizeof(session), "%08x", item->frame.session);
	cJSON_AddStringToObject(json, "type", type_name(item->frame.type));
	cJSON_AddNumberToObject(json, "type_number", item->frame.type);
	cJSON_AddNumberToObject(json, "seq", item->frame.seq);
	cJSON_AddStringToObject(json, "session", session);
	if (item->problem)
		cJSON_AddStringToObject(json, "problem", item->problem);
	else
		add_fields(json, item);
}

static cJSON *item_to_json(const struct printer *printer, const struct wire_item *item)
{
	static const char *const kinds[] = {"frame", "text", "damaged"};
	char text[4 * FRAME_CHUNK_SIZE(FRAME_BODY_MAX) + 1], when[32];
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "kind", kinds[item->kind]);
	cJSON_AddNumberToObject(json, "offset", (double)item->offset);
	cJSON_AddNumberToObject(json, "size", (double)item->size);
	write_time(item->at_ms, when);
	if (when[0])
		cJSON_AddStringToObject(json, "at", when);
	if (printer->has_directions)
		cJSON_AddStringToObject(json, "from", item->is_sent ? "host" : "target");
	if (item->kind == WIRE_ITEM_FRAME) {
		add_frame(json, item);
	} else if (item->kind == WIRE_ITEM_TEXT) {
		escape(item->bytes, item->size, text);
		cJSON_AddStringToObject(json, "text", text);
	} else {
		write_hex(item->bytes, item->size, text);
		cJSON_AddStringToObject(json, "problem", item->problem);
		cJSON_AddStringToObject(json, "bytes", text);
	}
	return json;
}

/* One at a time: a capture of line ends alone would come to gigabytes. */
static void print_json_item(struct printer *printer, const struct wire_item *item)
{
	cJSON *json = item_to_json(printer, item);
	char *text = cJSON_PrintUnformatted(json);

	cJSON_Delete(json);
	if (text)
		log_result(printer->has_begun ? ",\n%s" : "{\"items\": [\n%s", text);
	printer->is_out_of_memory |= !text;
	printer->has_begun |= text != NULL;
	cJSON_free(text);
}

static void tell(void *context, const struct wire_item *item)
{
	struct printer *printer = context;

	if (printer->is_json)
		print_json_item(printer, item);
	else
		print_item(printer, item);
}

static int finish(struct cli *cli, struct wire_decoder *decoder, struct printer *printer)
{
	const struct wire_totals *totals = &decoder->totals;

	wire_decode_finish(decoder);
	if (!cli->json)
		log_result("%llu bytes: %u frames, %u of them unreadable, %u damaged, %llu bytes "
			   "of text\n",
			(unsigned long long)totals->bytes, totals->frames, totals->unreadable,
			totals->damaged, (unsigned long long)totals->text_bytes);
	else
		log_result("%s],\n\"bytes\": %llu, \"frames\": %u, \"unreadable\": %u, "
			   "\"damaged\": %u, \"text_bytes\": %llu}\n",
			printer->has_begun ? "\n" : "{\"items\": [",
			(unsigned long long)totals->bytes, totals->frames, totals->unreadable,
			totals->damaged, (unsigned long long)totals->text_bytes);
	if (printer->is_out_of_memory)
		log_error("wire decode: out of memory; items are missing");
	return printer->is_out_of_memory ? CLI_LAB : CLI_PASS;
}

/* ---------------------------------------------------------------- sources */

static int decode_file(struct wire_decoder *decoder, const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	uint8_t bytes[4096];
	size_t size;
	int error;

	if (!file) {
		log_error("cannot open %s: %s", path, strerror(errno));
		return CLI_USAGE;
	}
	while ((size = fread(bytes, 1, sizeof(bytes), file)) > 0 &&
		decoder->totals.bytes < FILE_MAX)
		wire_decode_feed(decoder, bytes, size, false, 0);
	error = ferror(file) ? errno : 0;
	if (file != stdin)
		fclose(file);
	if (error) {
		log_error("cannot read %s: %s", path, strerror(error));
		return CLI_USAGE;
	}
	if (size > 0)
		log_error("%s: only the first %u MiB are shown", path, FILE_MAX >> 20);
	return CLI_PASS;
}

static void decode_console(struct wire_decoder *decoder, const char *data, size_t size,
	const struct store_mark *marks, size_t mark_count)
{
	size_t at = mark_count > 0 && marks[0].offset < size ? (size_t)marks[0].offset : size;

	wire_decode_feed(decoder, (const uint8_t *)data, at, false, 0);
	for (size_t i = 0; i < mark_count; i++) {
		size_t end = i + 1 < mark_count && marks[i + 1].offset < size
				     ? (size_t)marks[i + 1].offset
				     : size;

		if (end <= at)
			continue;
		wire_decode_feed(decoder, (const uint8_t *)data + at, end - at, marks[i].sent,
			marks[i].at_ms);
		at = end;
	}
}

static int decode_run(struct cli *cli, struct wire_decoder *decoder)
{
	struct store_mark *marks = NULL;
	struct store *store = NULL;
	size_t size, mark_count;
	char *data = NULL;
	int64_t run_id;
	int rc = store_open(&store, cli->db, STORE_READ_ONLY);

	if (rc == 0)
		rc = query_resolve_run(store, cli->run, &run_id);
	if (rc == 0)
		rc = query_console(store, run_id, &data, &size, &marks, &mark_count);
	if (rc == 0)
		decode_console(decoder, data, size, marks, mark_count);
	else
		log_error("%s", store_error(store));
	free(data);
	free(marks);
	store_close(store);
	return rc == 0 ? CLI_PASS : CLI_USAGE;
}

int command_wire(struct cli *cli)
{
	struct printer printer = {.is_json = cli->json, .has_directions = cli->run != NULL};
	struct wire_decoder decoder;
	int rc;

	if (strcmp(cli->arguments[0], "decode") != 0) {
		log_error("wire: unknown \"%s\"; expected decode", cli->arguments[0]);
		return CLI_USAGE;
	}
	if ((cli->argument_count == 2) == (cli->run != NULL)) {
		log_error("wire decode: give either a FILE (- for standard input) or --run");
		return CLI_USAGE;
	}
	wire_decode_init(&decoder, tell, &printer);
	rc = cli->run ? decode_run(cli, &decoder) : decode_file(&decoder, cli->arguments[1]);
	return rc == CLI_PASS ? finish(cli, &decoder, &printer) : rc;
}
