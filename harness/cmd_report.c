/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard report */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/query.h"
#include "harness/cli.h"
#include "harness/cmd_compare.h"
#include "harness/log.h"
#include "harness/report_runs.h"
#include "harness/results.h"
#include "harness/word.h"

/* ---------------------------------------------------------------- formats */

static const struct {
	enum cli_format format;
	bool (*write)(const struct report *report, FILE *out);
} formats[] = {
	{CLI_FORMAT_HTML, report_write_html},
	{CLI_FORMAT_MARKDOWN, report_write_markdown},
	{CLI_FORMAT_LATEX, report_write_latex},
	{CLI_FORMAT_CSV, report_write_csv},
	{CLI_FORMAT_JSON, report_write_json},
};

/* To the end or not at all: a half report would be taken for one. */
static int write_file(const char *path, const char *text, size_t size)
{
	FILE *out = fopen(path, "we");
	bool is_written = out && fwrite(text, 1, size, out) == size;

	if (out && fclose(out) != 0)
		is_written = false;
	if (is_written)
		return CLI_PASS;
	log_error("cannot write %s: %s", path, strerror(errno));
	return CLI_LAB;
}

static int write_report(struct cli *cli, const struct report *report)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool is_written = out != NULL;
	int exit_code = CLI_PASS;

	for (size_t i = 0; is_written && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (formats[i].format == cli->format)
			is_written = formats[i].write(report, out);
	if (out && fclose(out) != 0)
		is_written = false;
	if (!is_written) {
		log_error("out of memory");
		exit_code = CLI_LAB;
	} else if (cli->output) {
		exit_code = write_file(cli->output, text, size);
	} else {
		log_bytes(text, size);
	}
	free(text);
	return exit_code;
}

/* -------------------------------------------------------------- published */

static int add_results(struct report *report, struct results *results, int rc)
{
	if (rc == 0)
		results_add_to_report(results, report);
	else
		log_error("%s", results_error(results));
	results_close(results);
	return rc == 0 ? CLI_PASS : CLI_USAGE;
}

static int add_reference(struct report *report)
{
	char **paths = results_list_reference();
	int exit_code = CLI_PASS;

	if (!paths || !paths[0]) {
		log_error("there is no reference set; $SAMEBOARD_REFERENCE names its folder");
		exit_code = CLI_USAGE;
	}
	for (size_t i = 0; exit_code == CLI_PASS && paths[i]; i++) {
		struct results *results;
		int rc = results_open(&results, paths[i]);

		exit_code = add_results(report, results, rc);
	}
	word_free_list(paths);
	return exit_code;
}

static int add_import(struct report *report, struct store *store, const char *name)
{
	struct query_import *imports = NULL;
	int count = query_imports(store, name, &imports);
	int exit_code = CLI_USAGE;

	if (count < 0)
		log_error("%s", store_error(store));
	else if (count == 0)
		log_error("no import \"%s\"; `sameboard import` lists those there are", name);
	else
		exit_code = CLI_PASS;
	for (int i = 0; exit_code == CLI_PASS && i < count; i++) {
		struct results *results;
		int rc = results_parse(
			&results, imports[i].name, imports[i].results, strlen(imports[i].results));

		exit_code = add_results(report, results, rc);
	}
	free(imports);
	return exit_code;
}

/* -------------------------------------------------------------------- runs */

static void draw(struct cli *cli, struct figures *figures)
{
	if (cli->figures && mkdir(cli->figures, 0777) != 0 && errno != EEXIST)
		log_error("%s: %s", cli->figures, strerror(errno));
	if (figure_render(figures, cli->figures) != 0)
		report_add(figures->report, REPORT_WARNING, "%s.", figures->error);
}

static int add_runs(struct cli *cli, struct report *report, struct store *store, const int64_t *ids,
	size_t count, const char *set)
{
	bool has_figures = cli->format == CLI_FORMAT_HTML || cli->figures;
	struct baseline baseline = {0};
	struct against against = {0};
	struct compare compare = {0};
	struct figures figures = {0};
	struct report_runs runs = {.store = store,
		.compare = &compare,
		.set = report_keep(report, "%s", set),
		.against = &against,
		.figures = has_figures ? &figures : NULL};
	int exit_code = CLI_LAB, rc;

	if (baseline_find(&baseline, store, cli->baseline) != 0) {
		log_error("--baseline: %s", baseline.error);
		baseline_fini(&baseline);
		return CLI_USAGE;
	}
	rc = compare_init(&compare, store, ids, count);
	if (rc == 0)
		rc = has_figures ? figures_init(&figures, report) : 0;
	if (rc == 0)
		exit_code = against_init(&against, store, &baseline, ids, count);
	/* A regression is in the report, and the exit code as well. */
	if (rc == 0 && !against.error[0])
		rc = report_add_runs(report, &runs);
	if (rc == 0 && has_figures && !against.error[0])
		draw(cli, &figures);
	if (against.error[0])
		log_error("%s", against.error);
	if (rc != 0) {
		log_error("%s: %s", store_path(store),
			rc == -ENOMEM ? "out of memory" : store_error(store));
		exit_code = CLI_LAB;
	}
	figures_fini(&figures);
	against_fini(&against);
	compare_fini(&compare);
	baseline_fini(&baseline);
	return exit_code;
}

static int report_on_runs(struct cli *cli, struct report *report, struct store *store)
{
	int64_t *ids = NULL;
	char set[64];
	int count = cmd_compare_find_runs(
		cli, store, cli->arguments, cli->argument_count, &ids, set, sizeof(set));
	int exit_code = count < 0 ? -count : add_runs(cli, report, store, ids, (size_t)count, set);

	free(ids);
	return exit_code;
}

int command_report(struct cli *cli)
{
	bool has_runs = cli->argument_count > 0 || cli->job || (!cli->reference && !cli->import);
	struct store *store = NULL;
	struct report report;
	int exit_code = CLI_PASS, written;

	if (cli->json && cli->format != CLI_FORMAT_NONE) {
		log_error("a report has one format: of --html, --md, --tex, --csv and --json one");
		return CLI_USAGE;
	}
	if (cli->json)
		cli->format = CLI_FORMAT_JSON;
	else if (cli->format == CLI_FORMAT_NONE)
		cli->format = CLI_FORMAT_HTML;
	report_init(&report, has_runs ? "Systems on one board" : "Published results");
	if ((has_runs || cli->import) && store_open(&store, cli->db, STORE_READ_ONLY) != 0) {
		log_error("%s", store_error(store));
		exit_code = CLI_USAGE;
	}
	if (exit_code == CLI_PASS && has_runs)
		exit_code = report_on_runs(cli, &report, store);
	if (exit_code <= CLI_FAIL && cli->import && report.title) {
		written = add_import(&report, store, cli->import);
		exit_code = written > exit_code ? written : exit_code;
	}
	if (exit_code <= CLI_FAIL && cli->reference) {
		written = add_reference(&report);
		exit_code = written > exit_code ? written : exit_code;
	}
	if (exit_code <= CLI_FAIL) {
		written = write_report(cli, &report);
		exit_code = written > exit_code ? written : exit_code;
	}
	report_fini(&report);
	store_close(store);
	return exit_code;
}
