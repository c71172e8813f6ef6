/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/export.h"

#include <cjson/cJSON.h>
#include <endian.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "boardctl/sha256.h"
#include "harness/show.h"

#define LEVEL	   9
#define UNPACK_MAX ((size_t)1 << 30)

/* ------------------------------------------------------------------- bytes */

char *export_pack(const void *data, size_t size)
{
	size_t room = ZSTD_compressBound(size), packed_size;
	unsigned char *packed = malloc(room);
	char *text = NULL;

	packed_size = packed ? ZSTD_compress(packed, room, data ? data : "", size, LEVEL) : 0;
	if (packed && !ZSTD_isError(packed_size) && packed_size < INT32_MAX / 2)
		text = malloc(packed_size / 3 * 4 + 8);
	if (text)
		EVP_EncodeBlock((unsigned char *)text, packed, (int)packed_size);
	free(packed);
	return text;
}

void *export_unpack(const char *text, size_t *size)
{
	size_t length = text ? strlen(text) : 0;
	unsigned char *packed = length && length < INT32_MAX ? malloc(length + 4) : NULL;
	unsigned long long bytes;
	char *data = NULL;
	int packed_size;

	*size = 0;
	packed_size =
		packed ? EVP_DecodeBlock(packed, (const unsigned char *)text, (int)length) : -1;
	/* It counts the padding as bytes. */
	for (size_t i = length; packed_size > 0 && i > 0 && text[i - 1] == '='; i--)
		packed_size--;
	bytes = packed_size > 0 ? ZSTD_getFrameContentSize(packed, (size_t)packed_size)
				: ZSTD_CONTENTSIZE_ERROR;
	if (bytes < UNPACK_MAX)
		data = malloc((size_t)bytes + 1);
	if (data && ZSTD_decompress(data, (size_t)bytes, packed, (size_t)packed_size) != bytes) {
		free(data);
		data = NULL;
	}
	if (data) {
		data[bytes] = '\0';
		*size = (size_t)bytes;
	}
	free(packed);
	return data;
}

/* "data" and "sha256" of bytes as they go into the file. */
static int add_bytes(cJSON *json, const void *data, size_t size)
{
	char hex[SHA256_HEX_SIZE];
	char *text = export_pack(data, size);
	int rc = text ? sha256_buffer(data ? data : "", size, hex) : -ENOMEM;

	if (rc == 0) {
		cJSON_AddNumberToObject(json, "bytes", (double)size);
		cJSON_AddStringToObject(json, "sha256", hex);
		cJSON_AddStringToObject(json, "data", text);
	}
	free(text);
	return rc;
}

static void to_little_endian(void *data, size_t count, size_t element)
{
	for (size_t i = 0; i < count; i++) {
		if (element == 4) {
			uint32_t *word = (uint32_t *)data + i;

			*word = htole32(*word);
		} else if (element == 8) {
			uint64_t *word = (uint64_t *)data + i;

			*word = htole64(*word);
		}
	}
}

/* ------------------------------------------------------------------ series */

static int add_series(cJSON *list, struct store *store, const struct query_series *series)
{
	static const size_t sizes[] = {0, 4, 8, 1};
	enum store_series_kind kind = (enum store_series_kind)series->kind;
	size_t element = series->kind >= 1 && series->kind <= 3 ? sizes[series->kind] : 1;
	cJSON *json = cJSON_CreateObject();
	void *data = NULL;
	char crc[16];
	size_t count;
	int rc = query_samples(store, series->id, kind, &data, &count);

	cJSON_AddItemToArray(list, json);
	if (rc != 0)
		return rc;
	snprintf(crc, sizeof(crc), "%08llx", (unsigned long long)series->crc32c);
	cJSON_AddNumberToObject(json, "number", (double)series->number);
	cJSON_AddStringToObject(json, "name", series->name);
	cJSON_AddNumberToObject(json, "kind", (double)series->kind);
	cJSON_AddNumberToObject(json, "count", (double)count);
	cJSON_AddNumberToObject(json, "clipped", (double)series->clipped);
	cJSON_AddStringToObject(json, "crc32c", crc);
	to_little_endian(data, count, element);
	rc = add_bytes(json, data, count * element);
	free(data);
	return rc;
}

static int add_all_series(cJSON *window, struct store *store, const struct query_window *of)
{
	struct query_series *series = NULL;
	int count = query_series(store, of->id, &series), rc = count < 0 ? count : 0;
	cJSON *list = cJSON_CreateArray();

	cJSON_ReplaceItemInObject(window, "series", list);
	cJSON_AddNumberToObject(window, "settle_ms", (double)of->settle_ms);
	cJSON_AddNumberToObject(window, "duration_ms", (double)of->duration_ms);
	cJSON_AddNumberToObject(window, "seed", (double)of->seed);
	cJSON_AddNumberToObject(window, "started_ms", (double)of->started_ms);
	cJSON_AddNumberToObject(window, "ended_ms", (double)of->ended_ms);
	for (int i = 0; rc == 0 && i < count; i++)
		rc = add_series(list, store, &series[i]);
	free(series);
	return rc;
}

/* ------------------------------------------------------------- the rest */

static int add_console(cJSON *json, struct store *store, int64_t run_id)
{
	struct store_mark *marks = NULL;
	cJSON *console = cJSON_AddObjectToObject(json, "console"), *list;
	char *data = NULL;
	size_t size, mark_count;
	int rc = query_console(store, run_id, &data, &size, &marks, &mark_count);

	if (rc == 0)
		rc = add_bytes(console, data, size);
	list = cJSON_AddArrayToObject(console, "marks");
	for (size_t i = 0; rc == 0 && i < mark_count; i++) {
		double mark[3] = {(double)marks[i].offset, (double)marks[i].at_ms, marks[i].sent};

		cJSON_AddItemToArray(list, cJSON_CreateDoubleArray(mark, 3));
	}
	free(data);
	free(marks);
	return rc;
}

static int add_evidence(cJSON *json, struct store *store, int64_t run_id)
{
	cJSON *list = cJSON_AddArrayToObject(json, "evidence");
	struct query_evidence *evidence = NULL;
	int count = query_evidence(store, run_id, &evidence);

	for (int i = 0; i < count; i++) {
		cJSON *item = cJSON_CreateObject();

		cJSON_AddNumberToObject(item, "window", (double)evidence[i].window);
		/* As text: its digits must not change on the way. */
		cJSON_AddStringToObject(item, "text", evidence[i].text);
		cJSON_AddItemToArray(list, item);
	}
	free(evidence);
	return count < 0 ? count : 0;
}

static int add_configuration(cJSON *json, struct store *store, const struct query_run *run)
{
	cJSON *of = cJSON_AddObjectToObject(json, "configuration");
	struct query_job *job = NULL;
	char *manifest = NULL;
	int rc = query_job(store, run->job_id, &job);

	if (rc == 0)
		rc = query_manifest(store, run->id, &manifest);
	if (rc == 0) {
		cJSON_AddStringToObject(of, "command", job->command);
		cJSON_AddStringToObject(of, "version", job->version);
		cJSON_AddStringToObject(of, "suite", job->suite_json);
		cJSON_AddStringToObject(of, "plan", job->plan);
		cJSON_AddStringToObject(of, "manifest", manifest);
		cJSON_AddStringToObject(of, "image_file", run->image_file);
	}
	free(manifest);
	free(job);
	return rc;
}

/* The hash of everything before it: of the text without blanks. */
static char *seal(cJSON *json)
{
	char hex[SHA256_HEX_SIZE];
	char *text = cJSON_PrintUnformatted(json), *sealed;

	if (!text || sha256_buffer(text, strlen(text), hex) != 0) {
		cJSON_free(text);
		return NULL;
	}
	cJSON_free(text);
	cJSON_AddStringToObject(json, "sha256", hex);
	text = cJSON_PrintUnformatted(json);
	sealed = text ? strdup(text) : NULL;
	cJSON_free(text);
	return sealed;
}

int export_run(struct store *store, int64_t run_id, char **text)
{
	cJSON *json = cJSON_CreateObject(), *windows;
	struct show show = {0};
	int rc = show_load(store, run_id, &show), i = 0;

	*text = NULL;
	cJSON_AddStringToObject(json, "format", EXPORT_FORMAT);
	cJSON_AddNumberToObject(json, "version", EXPORT_VERSION);
	cJSON_AddStringToObject(json, "program", SAMEBOARD_VERSION);
	if (rc == 0)
		rc = add_configuration(json, store, show.run);
	if (rc == 0) {
		cJSON *run = show_to_json(store, &show), *window;

		cJSON_AddItemToObject(json, "run", run);
		windows = cJSON_GetObjectItem(run, "windows");
		cJSON_ArrayForEach(window, windows)
		{
			if (rc == 0)
				rc = add_all_series(window, store, &show.windows[i++]);
		}
	}
	if (rc == 0)
		rc = add_evidence(json, store, run_id);
	if (rc == 0)
		rc = add_console(json, store, run_id);
	if (rc == 0) {
		*text = seal(json);
		rc = *text ? 0 : -ENOMEM;
	}
	cJSON_Delete(json);
	show_fini(&show);
	return rc;
}
