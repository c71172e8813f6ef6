/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard log classify */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/watcher.h"
#include "harness/bootrules.h"
#include "harness/cli.h"
#include "harness/log.h"
#include "harness/word.h"

#define ANY_MEDIUM "any"

static const char *const media[] = {
	"sd", "emmc", "nand", "spi", "usb", "network", ANY_MEDIUM, NULL};

/* ---------------------------------------------------------------- words */

/* "[   12.345678]" in a line, without brackets and blanks, or "". */
static void find_time(const char *line, char *text, size_t size)
{
	static const char stamp[] = "0123456789:.,-+TZ ";

	text[0] = '\0';
	for (line = strchr(line, '['); line; line = strchr(line + 1, '[')) {
		const char *at = line + 1 + strspn(line + 1, " ");
		size_t length = strspn(at, stamp);

		if (length == 0 || at[length] != ']' || !memchr("0123456789", *at, 10))
			continue;
		while (length > 0 && at[length - 1] == ' ')
			length--;
		snprintf(text, size, "%.*s", (int)length, at);
		return;
	}
}

static bool is_good(enum watcher_cause cause)
{
	return cause == WATCHER_CAUSE_SHELL || cause == WATCHER_CAUSE_LOGIN ||
	       cause == WATCHER_CAUSE_BOOTING;
}

/* ---------------------------------------------------------------- text */

static void print_text(const char *name, struct watcher *watcher)
{
	const struct watcher_verdict *verdict = watcher_conclude(watcher);
	const struct watcher_step *steps;
	const struct watcher_warning *warnings;
	size_t step_count = watcher_get_steps(watcher, &steps);
	size_t warning_count = watcher_get_warnings(watcher, &warnings);

	log_result("%s: %s, last state %s\n", name, watcher_cause_name(verdict->cause),
		watcher_state_name(watcher_state(watcher)));
	if (verdict->line && verdict->text[0])
		log_result("  line %u: %s\n", verdict->line, verdict->text);
	if (step_count > 0)
		log_result("  states:");
	for (size_t i = 0; i < step_count; i++)
		log_result("%s %s (line %u)", i > 0 ? "," : "", watcher_state_name(steps[i].state),
			steps[i].line);
	if (step_count > 0)
		log_result("\n");
	for (size_t i = 0; i < warning_count; i++)
		log_result("  warning, %s, line %u: %s\n", warnings[i].word, warnings[i].line,
			warnings[i].text);
	if (watcher->warning_count > warning_count)
		log_result("  and %zu more warnings\n",
			(size_t)watcher->warning_count - warning_count);
}

/* ---------------------------------------------------------------- JSON */

static void add_evidence(cJSON *json, uint32_t line, const char *text)
{
	char time[64];

	cJSON_AddNumberToObject(json, "line", line);
	cJSON_AddStringToObject(json, "text", text);
	find_time(text, time, sizeof(time));
	if (time[0])
		cJSON_AddStringToObject(json, "time", time);
}

static int print_json(struct watcher *watcher)
{
	const struct watcher_verdict *verdict = watcher_conclude(watcher);
	cJSON *json = cJSON_CreateObject(), *list, *item;
	const struct watcher_step *steps;
	const struct watcher_warning *warnings;
	size_t step_count = watcher_get_steps(watcher, &steps);
	size_t warning_count = watcher_get_warnings(watcher, &warnings);

	cJSON_AddStringToObject(json, "verdict", watcher_cause_name(verdict->cause));
	cJSON_AddStringToObject(json, "state", watcher_state_name(watcher_state(watcher)));
	list = cJSON_AddArrayToObject(json, "states");
	for (size_t i = 0; i < step_count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(watcher_state_name(steps[i].state)));
	add_evidence(cJSON_AddObjectToObject(json, "evidence"), verdict->line, verdict->text);
	list = cJSON_AddArrayToObject(json, "warnings");
	for (size_t i = 0; i < warning_count; i++) {
		item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "kind", warnings[i].word);
		add_evidence(item, warnings[i].line, warnings[i].text);
		cJSON_AddItemToArray(list, item);
	}
	return cli_print_json(json);
}

/* ---------------------------------------------------------------- file */

static int feed_file(struct watcher *watcher, const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	static char bytes[65536];
	size_t size, total = 0;
	int error;

	if (!file) {
		log_error("cannot open %s: %s", path, strerror(errno));
		return CLI_USAGE;
	}
	while ((size = fread(bytes, 1, sizeof(bytes), file)) > 0) {
		watcher_feed(watcher, 0, bytes, size);
		total += size;
	}
	error = ferror(file) ? errno : 0;
	if (file != stdin)
		fclose(file);
	if (error) {
		log_error("cannot read %s: %s", path, strerror(error));
		return CLI_USAGE;
	}
	/* A console that said nothing is no boot that goes on. */
	if (total == 0) {
		log_error("%s is empty: there is nothing to classify", path);
		return CLI_USAGE;
	}
	watcher_finish(watcher);
	return CLI_PASS;
}

static int classify(const struct cli *cli, const struct watcher_rules *rules)
{
	const char *medium = cli->expect_medium ? cli->expect_medium : "sd";
	struct watcher_config config = {
		.rules = rules, .medium = strcmp(medium, ANY_MEDIUM) == 0 ? NULL : medium};
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	const char *path = cli->arguments[1];
	char words[128];
	size_t i = 0;
	int rc;

	while (media[i] && strcmp(media[i], medium) != 0)
		i++;
	if (!media[i]) {
		word_join(media, words, sizeof(words));
		log_error("--expect-medium: \"%s\" is unknown; expected %s", medium, words);
		free(watcher);
		return CLI_USAGE;
	}
	if (!watcher) {
		log_error("out of memory");
		return CLI_LAB;
	}
	if (watcher_init(watcher, &config) != 0) {
		log_error("--expect-medium: the word is longer than %d bytes",
			WATCHER_STRING_SIZE - 1);
		free(watcher);
		return CLI_USAGE;
	}
	rc = feed_file(watcher, path);
	if (rc == CLI_PASS) {
		if (cli->json)
			rc = print_json(watcher);
		else
			print_text(strcmp(path, "-") == 0 ? "standard input" : path, watcher);
	}
	if (rc == CLI_PASS && !is_good(watcher_conclude(watcher)->cause))
		rc = CLI_FAIL;
	free(watcher);
	return rc;
}

int command_log(struct cli *cli)
{
	struct bootrules *rules = NULL;
	int rc;

	if (strcmp(cli->arguments[0], "classify") != 0) {
		log_error("log: unknown \"%s\"; expected classify", cli->arguments[0]);
		return CLI_USAGE;
	}
	if (bootrules_open(&rules, cli->rules) != 0) {
		log_error("%s", bootrules_error(rules));
		bootrules_close(rules);
		return CLI_USAGE;
	}
	rc = classify(cli, bootrules_get(rules));
	bootrules_close(rules);
	return rc;
}
