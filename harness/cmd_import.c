/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard import */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/sha256.h"
#include "db/query.h"
#include "harness/cli.h"
#include "harness/import.h"
#include "harness/log.h"
#include "harness/paths.h"
#include "harness/results.h"
#include "harness/show.h"
#include "harness/table.h"
#include "harness/word.h"

#define FILE_MAX_SIZE (64 * 1024 * 1024)

/* The whole file with a NUL behind it, or NULL and a message. */
static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	char *text = malloc(FILE_MAX_SIZE + 1), *shrunk;

	*size = 0;
	if (!file || !text) {
		log_error("%s: %s", path, file ? "out of memory" : strerror(errno));
		free(text);
		if (file)
			fclose(file);
		return NULL;
	}
	*size = fread(text, 1, FILE_MAX_SIZE + 1, file);
	if (ferror(file) || *size > FILE_MAX_SIZE) {
		log_error("%s: %s", path,
			ferror(file) ? "cannot be read" : "larger than 64 MiB is no result");
		free(text);
		text = NULL;
	}
	fclose(file);
	if (!text)
		return NULL;
	text[*size] = '\0';
	shrunk = realloc(text, *size + 1);
	return shrunk ? shrunk : text;
}

/* "runs/my result.json" is "my-result". */
static void name_after(const char *path, char *name, size_t size)
{
	const char *base = strrchr(path, '/');
	size_t used = 0;

	base = base ? base + 1 : path;
	for (; *base && used + 1 < size; base++)
		name[used++] =
			strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-",
				*base)
				? *base
				: '-';
	name[used] = '\0';
	if (strrchr(name, '.') && strrchr(name, '.') != name)
		*strrchr(name, '.') = '\0';
}

static int list_imports(struct cli *cli, struct store *store)
{
	static const char *const heading[] = {"name", "format", "imported", "file", "citation"};
	struct query_import *imports = NULL;
	int count = query_imports(store, NULL, &imports);
	cJSON *list = cJSON_CreateArray();
	struct table table;
	char *text, utc[32];

	table_init(&table, "lllll");
	for (size_t i = 0; i < 5; i++)
		table_add(&table, "%s", heading[i]);
	for (int i = 0; i < count; i++) {
		cJSON *results = cJSON_Parse(imports[i].results), *item = cJSON_CreateObject();
		const char *citation =
			cJSON_GetStringValue(cJSON_GetObjectItem(results, "citation"));

		table_add(&table, "%s", imports[i].name);
		table_add(&table, "%s", imports[i].format);
		table_add(&table, "%s", show_utc(imports[i].imported_ms, utc));
		table_add(&table, "%s", imports[i].source_name);
		table_add(&table, "%s", citation ? citation : "");
		cJSON_AddStringToObject(item, "name", imports[i].name);
		cJSON_AddStringToObject(item, "format", imports[i].format);
		cJSON_AddStringToObject(item, "imported", utc);
		cJSON_AddStringToObject(item, "file", imports[i].source_name);
		cJSON_AddStringToObject(item, "sha256", imports[i].source_sha256);
		cJSON_AddItemToObject(item, "results", results);
		cJSON_AddItemToArray(list, item);
	}
	if (count < 0)
		log_error("%s", store_error(store));
	text = table_to_text(&table);
	if (count > 0 && !cli->json)
		log_result("%s", text ? text : "");
	if (count == 0 && !cli->json)
		log_result("no imports\n");
	free(text);
	table_fini(&table);
	free(imports);
	if (count >= 0 && cli->json)
		return cli_print_json(list);
	cJSON_Delete(list);
	return count < 0 ? CLI_LAB : CLI_PASS;
}

/* What was read, checked as everybody else's results are. */
static int keep(struct cli *cli, struct store *store, const char *path, char *text, size_t size)
{
	char name[64], error[512], digest[SHA256_HEX_SIZE];
	struct import_request request = {.path = path,
		.name = cli->name ? cli->name : name,
		.citation = cli->citation,
		.unit = cli->unit};
	struct results *results = NULL;
	const char *format;
	char *converted = NULL;
	int exit_code = CLI_USAGE;
	uint64_t bytes;

	name_after(path, name, sizeof(name));
	if (import_convert(&request, text, size, &converted, &format, error, sizeof(error)) != 0) {
		log_error("%s", error);
	} else if (results_parse(&results, path, converted, strlen(converted)) != 0) {
		log_error("%s", results_error(results));
	} else if (sha256_file(path, digest, &bytes) != 0) {
		log_error("%s: cannot be read again", path);
	} else {
		struct store_import import = {.name = cli->name ? cli->name : results->name,
			.format = format,
			.results = converted,
			.source_name = path,
			.source_sha256 = digest,
			.imported_ms = store_now_ms()};

		exit_code = store_set_import(store, &import) == 0 ? CLI_PASS : CLI_LAB;
		if (exit_code != CLI_PASS)
			log_error("%s", store_error(store));
		else if (!cli->json)
			log_result("import %s: %zu rows of %s, %s; `sameboard report --import=%s` "
				   "shows them\n",
				import.name, results->row_count, format, results->origin,
				import.name);
	}
	results_close(results);
	free(converted);
	return exit_code;
}

int command_import(struct cli *cli)
{
	bool is_list = cli->argument_count == 0;
	struct store *store = NULL;
	char *text = NULL;
	int exit_code = CLI_USAGE;
	size_t size = 0;

	if (cli->name && !word_is_name(cli->name)) {
		log_error("--name: \"%s\" is no name; expected %s", cli->name, WORD_NAME_RULE);
		return CLI_USAGE;
	}
	if (cli->unit && strcmp(cli->unit, "ns") != 0 && strcmp(cli->unit, "us") != 0 &&
		strcmp(cli->unit, "ms") != 0) {
		log_error("--unit: \"%s\" is none of ns, us and ms", cli->unit);
		return CLI_USAGE;
	}
	if (!is_list && !(text = read_file(cli->arguments[0], &size)))
		return CLI_USAGE;
	if (!is_list)
		paths_make_parents(cli->db);
	if (store_open(&store, cli->db, is_list ? STORE_READ_ONLY : 0) != 0)
		log_error("%s", store_error(store));
	else
		exit_code = is_list ? list_imports(cli, store)
				    : keep(cli, store, cli->arguments[0], text, size);
	if (exit_code == CLI_PASS && !is_list && cli->json)
		exit_code = list_imports(cli, store);
	free(text);
	store_close(store);
	return exit_code;
}
