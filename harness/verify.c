/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/verify.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/sha256.h"
#include "harness/export.h"
#include "harness/verify_private.h"

static const char *const names[VERIFY_CHECKS] = {
	[VERIFY_FILE] = "file",
	[VERIFY_SERIES] = "series",
	[VERIFY_FIGURES] = "figures",
	[VERIFY_CONSOLE] = "console",
	[VERIFY_CONFIGURATION] = "configuration",
	[VERIFY_GATES] = "gates",
	[VERIFY_VERDICT] = "verdict",
};

void verify_note(struct verify *verify, enum verify_kind kind, bool holds, const char *format, ...)
{
	struct verify_check *check = &verify->checks[kind];
	va_list args;

	check->done++;
	if (holds)
		return;
	if (check->wrong++ > 0)
		return;
	va_start(args, format);
	vsnprintf(check->detail, sizeof(check->detail), format, args);
	va_end(args);
}

const char *verify_string(const cJSON *json, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

	return text ? text : "";
}

double verify_number(const cJSON *json, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

	return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

uint32_t verify_count(const cJSON *json, const char *key)
{
	double number = verify_number(json, key);

	return number >= 0 && number < 4294967296.0 ? (uint32_t)number : 0;
}

/* --------------------------------------------------------------- the file */

static bool has_hash(const void *data, size_t size, const char *expected)
{
	char hex[SHA256_HEX_SIZE];

	return sha256_buffer(data, size, hex) == 0 && strcmp(hex, expected) == 0;
}

/* The seal is the last key; the rest as it was printed must have that hash. */
static void check_seal(struct verify *verify, cJSON *json)
{
	cJSON *seal = cJSON_DetachItemFromObjectCaseSensitive(json, "sha256");
	char *text = cJSON_PrintUnformatted(json);

	verify_note(verify, VERIFY_FILE,
		text && cJSON_IsString(seal) && has_hash(text, strlen(text), seal->valuestring),
		"the SHA-256 over the file is not that of its content: something was changed");
	cJSON_free(text);
	cJSON_Delete(seal);
}

static void check_console(struct verify *verify, const cJSON *console)
{
	size_t size;
	char *data = export_unpack(verify_string(console, "data"), &size);

	verify_note(verify, VERIFY_CONSOLE,
		data && has_hash(data, size, verify_string(console, "sha256")),
		"the console's bytes are not those that were hashed");
	free(data);
}

static void check_configuration(struct verify *verify, const cJSON *json)
{
	const cJSON *run = cJSON_GetObjectItem(json, "run");
	const cJSON *configuration = cJSON_GetObjectItem(json, "configuration");
	const char *text = verify_string(configuration, "manifest");
	cJSON *manifest = cJSON_Parse(text);

	/* A run without an image has no manifest. */
	if (text[0]) {
		verify_note(verify, VERIFY_CONFIGURATION,
			strcmp(verify_string(manifest, "sha256"),
				verify_string(run, "image_sha256")) == 0,
			"the manifest names another image than the run (%.12s, %.12s)",
			verify_string(manifest, "sha256"), verify_string(run, "image_sha256"));
		verify_note(verify, VERIFY_CONFIGURATION,
			strcmp(verify_string(manifest, "system"), verify_string(run, "system")) ==
				0,
			"the manifest is of \"%s\", the run of \"%s\"",
			verify_string(manifest, "system"), verify_string(run, "system"));
	}
	verify_suite(verify, json);
	cJSON_Delete(manifest);
}

/* ---------------------------------------------------------------- the whole */

static int read_all(struct verify *verify, const char *text, size_t size)
{
	cJSON *json = cJSON_ParseWithLength(text, size);
	const cJSON *run = cJSON_GetObjectItem(json, "run");
	int rc = 0;

	for (int i = 0; i < VERIFY_CHECKS; i++)
		verify->checks[i].what = names[i];
	if (strcmp(verify_string(json, "format"), EXPORT_FORMAT) != 0 || !cJSON_IsObject(run)) {
		snprintf(verify->error, sizeof(verify->error),
			"this is no file of evidence; `sameboard export` makes them");
		rc = -EINVAL;
	} else if (verify_number(json, "version") != EXPORT_VERSION) {
		snprintf(verify->error, sizeof(verify->error),
			"evidence of version %g, this program reads version %d",
			verify_number(json, "version"), EXPORT_VERSION);
		rc = -EINVAL;
	} else {
		snprintf(verify->title, sizeof(verify->title), "run %.0f, %.60s, %.20s",
			verify_number(run, "run"), verify_string(run, "system"),
			verify_string(run, "verdict"));
		check_seal(verify, json);
		check_console(verify, cJSON_GetObjectItem(json, "console"));
		check_configuration(verify, json);
		verify_windows(verify, cJSON_GetObjectItem(run, "windows"));
		verify_gates(verify, json);
	}
	cJSON_Delete(json);
	return rc;
}

int verify_text(struct verify *verify, const char *text, size_t size)
{
	*verify = (struct verify){0};
	return read_all(verify, text, size);
}

int verify_file(struct verify *verify, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	long size = -1;
	int rc = file ? 0 : -errno;

	*verify = (struct verify){0};
	if (rc == 0 && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0) {
		rewind(file);
		text = malloc((size_t)size + 1);
		if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
			rc = text ? -EIO : -ENOMEM;
	} else if (rc == 0) {
		rc = -EIO;
	}
	if (file)
		fclose(file);
	if (rc == 0)
		rc = read_all(verify, text, (size_t)size);
	else
		snprintf(verify->error, sizeof(verify->error), "%.180s: %s", path, strerror(-rc));
	free(text);
	return rc;
}

bool verify_holds(const struct verify *verify)
{
	unsigned done = 0, wrong = 0;

	for (int i = 0; i < VERIFY_CHECKS; i++) {
		done += verify->checks[i].done;
		wrong += verify->checks[i].wrong;
	}
	return done > 0 && wrong == 0;
}
