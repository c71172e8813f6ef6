/* SPDX-License-Identifier: Apache-2.0 */
/* gnuplot makes the pictures: in a folder of their own, taken from there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boardctl/subprocess.h"
#include "harness/figure.h"

#define GNUPLOT_MS 60000
#define SVG_MAX	   (16 * 1024 * 1024)

static const struct {
	const char *extension, *terminal;
} formats[] = {
	{"svg", "set terminal svg size 640,380 dynamic font \"sans-serif,14\" name \"fig%d\""},
	{"pdf", "set terminal pdfcairo size 12cm,7.2cm font \"sans,9\" # %d"},
	{"png", "set terminal pngcairo size 1200,720 font \"sans,22\" # %d"},
};

static int fail(struct figures *figures, int error, const char *what, const char *detail)
{
	snprintf(figures->error, sizeof(figures->error), "%.60s: %.180s", what, detail);
	return error;
}

/* A string in gnuplot's single quotes. */
static void put_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

static int write_script(struct figures *figures, const char *path, const char *dir, size_t format)
{
	FILE *out = fopen(path, "we");

	if (!out)
		return fail(figures, -errno, path, strerror(errno));
	fputs("dir = ", out);
	put_quoted(out, dir);
	fprintf(out, "\next = \"%s\"\nT = ", formats[format].extension);
	put_quoted(out, formats[format].terminal);
	fputc('\n', out);
	fwrite(figures->script, 1, figures->script_size, out);
	return fclose(out) == 0 ? 0 : fail(figures, -EIO, path, strerror(errno));
}

static int draw(struct figures *figures, const char *work, const char *dir, size_t format)
{
	char script[512], said[1024];
	const char *argv[] = {"gnuplot", script, NULL};
	int status = 0;
	int rc;

	snprintf(script, sizeof(script), "%s/figures.gp", work);
	rc = write_script(figures, script, dir, format);
	if (rc != 0)
		return rc;
	rc = subprocess_run(argv, GNUPLOT_MS, said, sizeof(said), &status);
	unlink(script);
	if (rc == -ENOENT)
		return fail(figures, rc, "gnuplot", "not installed, so there are no figures");
	if (rc != 0)
		return fail(figures, rc, "gnuplot", strerror(-rc));
	return status == 0 ? 0 : fail(figures, -EPROTO, "gnuplot", said);
}

/* From "<svg" on: what stands before it is for a file alone. */
static int take_svg(struct figures *figures, const char *path, struct report_block *block)
{
	FILE *file = fopen(path, "re");
	struct stat info;
	char *text = NULL;
	const char *svg = NULL;

	if (file && fstat(fileno(file), &info) == 0 && info.st_size < SVG_MAX) {
		text = malloc((size_t)info.st_size + 1);
		if (text)
			text[fread(text, 1, (size_t)info.st_size, file)] = '\0';
		svg = text ? strstr(text, "<svg") : NULL;
	}
	if (svg)
		block->svg = report_keep(figures->report, "%s", svg);
	free(text);
	if (file)
		fclose(file);
	unlink(path);
	return svg ? 0 : fail(figures, -EPROTO, "gnuplot", "made no picture");
}

int figure_render(struct figures *figures, const char *dir)
{
	char work[] = "/tmp/sameboard-figures-XXXXXX";
	int rc = 0;

	if (figures->count == 0)
		return 0;
	if (fclose(figures->out) != 0)
		rc = -ENOMEM;
	figures->out = NULL;
	if (rc != 0 || !mkdtemp(work))
		return fail(figures, rc ? rc : -errno, "figures", strerror(rc ? -rc : errno));
	rc = draw(figures, work, work, 0);
	for (size_t i = 0; i < figures->count; i++) {
		char path[512];
		int taken;

		snprintf(path, sizeof(path), "%s/fig%zu.svg", work, i + 1);
		if (rc != 0) {
			unlink(path);
			continue;
		}
		taken = take_svg(figures, path, &figures->report->blocks[figures->blocks[i]]);
		rc = taken != 0 ? taken : rc;
	}
	for (size_t f = 1; rc == 0 && dir && f < sizeof(formats) / sizeof(formats[0]); f++)
		rc = draw(figures, work, dir, f);
	rmdir(work);
	return rc;
}
