/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/figure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/stats.h"

#define BINS_MAX  60
#define STEPS_MAX 320 /* points of a curve */
#define QUANTILES 99

int figures_init(struct figures *figures, struct report *report)
{
	*figures = (struct figures){.report = report};
	figures->out = open_memstream(&figures->script, &figures->script_size);
	return figures->out ? 0 : -ENOMEM;
}

void figures_fini(struct figures *figures)
{
	if (figures->out)
		fclose(figures->out);
	free(figures->script);
	free(figures->blocks);
	*figures = (struct figures){0};
}

/* A new figure: its block, and what all have in common.  False without memory. */
static bool begin(struct figures *figures, const char *title, const char *note)
{
	size_t *grown = realloc(figures->blocks, (figures->count + 1) * sizeof(*grown));
	struct report_block *block =
		grown ? report_add(figures->report, REPORT_FIGURE, "%s", title) : NULL;

	if (grown)
		figures->blocks = grown;
	if (!block)
		return false;
	block->note = report_keep(figures->report, "%s", note);
	figures->blocks[figures->count++] = figures->report->block_count - 1;
	fprintf(figures->out,
		"reset\neval sprintf(T, %zu)\nset output sprintf(\"%%s/fig%%d.%%s\", dir, %zu, ext)\n"
		"set border 3 lc rgb \"#5b6570\"\nset tics nomirror tc rgb \"#1d232a\"\n"
		"set grid y lc rgb \"#d5dae0\" lw 0.6\nset key top right samplen 1.5\n"
		"array C[6] = ["
		"\"#1b4f8a\",\"#c2570c\",\"#2f7d4f\",\"#7b3fa0\",\"#8a6d00\","
		"\"#b03060\"]\n",
		figures->count, figures->count);
	return true;
}

static void end(struct figures *figures)
{
	fprintf(figures->out, "unset output\n");
}

/* In gnuplot's double quotes. */
static void put_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		fputc(strchr("\"\\`$@{}_^&~", *text) || (unsigned char)*text < 0x20
				? (*text == '_' ? '-' : ' ')
				: *text,
			out);
	fputc('"', out);
}

static int compare_counts(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* NULL without memory or samples. */
static int32_t *sort(const struct figure_series *series)
{
	int32_t *sorted = series->count ? malloc(series->count * sizeof(*sorted)) : NULL;

	if (!sorted)
		return NULL;
	memcpy(sorted, series->samples, series->count * sizeof(*sorted));
	if (stats_sort(sorted, series->count) != 0)
		qsort(sorted, series->count, sizeof(*sorted), compare_counts);
	return sorted;
}

static int32_t quantile_of(const int32_t *sorted, size_t count, double p)
{
	size_t rank = (size_t)ceil(p * (double)count - 1e-9 * (double)count);

	return sorted[rank < 1 ? 0 : rank > count ? count - 1 : rank - 1];
}

/* -------------------------------------------------------------- histogram */

struct bins {
	int64_t low, width; /* counts */
	size_t count;
	size_t samples[BINS_MAX], above;
};

/* Up to a little beyond p99.9: the rest would squeeze everything into one bar. */
static void fill_bins(struct bins *bins, const int32_t *sorted, size_t count)
{
	int64_t low = sorted[0], high = quantile_of(sorted, count, 0.999);
	int64_t span;

	high += (high - low) / 4;
	if (high < low + 4)
		high = low + 4;
	if (high > sorted[count - 1] || (high - low) * 3 > (sorted[count - 1] - low) * 2)
		high = sorted[count - 1];
	span = high - low + 1;
	*bins = (struct bins){.low = low, .width = (span + BINS_MAX - 1) / BINS_MAX};
	bins->count = (size_t)((span + bins->width - 1) / bins->width);
	for (size_t i = 0; i < count; i++) {
		size_t bin = (size_t)((sorted[i] - low) / bins->width);

		if (bin < bins->count)
			bins->samples[bin]++;
		else
			bins->above++;
	}
}

void figure_add_histogram(
	struct figures *figures, const char *title, const struct figure_series *series)
{
	int32_t *sorted = sort(series);
	struct bins bins;
	char note[160];
	double us = series->us, last;

	if (!sorted)
		return;
	fill_bins(&bins, sorted, series->count);
	last = (double)(bins.low + bins.width * (int64_t)bins.count) * us;
	if (bins.above)
		snprintf(note, sizeof(note),
			"%zu samples; %zu of them at or above %.3f us are the bar on the right, the "
			"highest %.3f us.",
			series->count, bins.above, last, sorted[series->count - 1] * us);
	else
		snprintf(
			note, sizeof(note), "%zu samples, none beyond the picture.", series->count);
	if (begin(figures, title, note)) {
		double width = (double)bins.width * us;

		fprintf(figures->out, "$h%zu << EOD\n", figures->count);
		for (size_t i = 0; i < bins.count; i++)
			fprintf(figures->out, "%.9g %zu\n",
				((double)bins.low + ((double)i + 0.5) * (double)bins.width) * us,
				bins.samples[i]);
		fprintf(figures->out, "EOD\n$o%zu << EOD\n%.9g %zu\nEOD\n", figures->count,
			last + 2.5 * width, bins.above);
		fprintf(figures->out,
			"set logscale y\nset yrange [0.7:*]\nset xrange [%.9g:%.9g]\n"
			"set xlabel \"us\"\nset ylabel \"samples\"\nset style fill solid 0.85 noborder\n"
			"set boxwidth %.9g\n",
			(double)bins.low * us - width, last + (bins.above ? 4.5 : 1) * width,
			width * 0.92);
		fprintf(figures->out,
			"plot $h%zu using 1:($2>0?$2:1/0) with boxes lc rgb C[1] "
			"notitle",
			figures->count);
		if (bins.above)
			fprintf(figures->out,
				", $o%zu using 1:2 with boxes lc rgb C[2] title \"%zu beyond\"",
				figures->count, bins.above);
		fputc('\n', figures->out);
		end(figures);
	}
	free(sorted);
}

/* ----------------------------------------------------------------- curves */

/* One point a distinct value, thinned where they lie too close to be seen. */
static void put_ccdf(FILE *out, const int32_t *sorted, size_t count, double us)
{
	double step = log((double)count + 1) / STEPS_MAX, next = INFINITY;

	for (size_t i = 0; i < count; i++) {
		size_t above = count - 1 - i;
		double place = log((double)above + 1);

		if (i + 1 < count && sorted[i + 1] == sorted[i])
			continue;
		if (place > next && above > 0)
			continue;
		next = place - step;
		fprintf(out, "%.9g %.9g\n", sorted[i] * us,
			((double)above > 0 ? (double)above : 0.5) / (double)count);
	}
}

void figure_add_ccdf(struct figures *figures, const char *title, const struct figure_series *series,
	size_t count)
{
	bool is_positive = true;

	if (!begin(figures, title,
		    "Share of samples above a value; the last point is half a sample."))
		return;
	for (size_t s = 0; s < count; s++) {
		int32_t *sorted = sort(&series[s]);

		fprintf(figures->out, "$c%zu_%zu << EOD\n", figures->count, s);
		if (sorted) {
			is_positive &= sorted[0] > 0;
			put_ccdf(figures->out, sorted, series[s].count, series[s].us);
		}
		fprintf(figures->out, "EOD\n");
		free(sorted);
	}
	fprintf(figures->out,
		"set logscale %s\nset xlabel \"us\"\nset ylabel \"share above\"\n"
		"set format y \"10^{%%L}\"\nplot ",
		is_positive ? "xy" : "y");
	for (size_t s = 0; s < count; s++) {
		fprintf(figures->out, "%s$c%zu_%zu with steps lw 2 lc rgb C[%zu] title ",
			s ? ", " : "", figures->count, s, s % 6 + 1);
		put_string(figures->out, series[s].label);
	}
	fputc('\n', figures->out);
	end(figures);
}

void figure_add_time(struct figures *figures, const char *title, const struct figure_series *series)
{
	size_t step = series->count / STEPS_MAX + 1;
	char note[128];

	if (series->count == 0)
		return;
	snprintf(note, sizeof(note),
		step > 1 ? "Of each %zu samples in a row the lowest and the highest."
			 : "Each sample.",
		step);
	if (!begin(figures, title, note))
		return;
	fprintf(figures->out, "$t%zu << EOD\n", figures->count);
	for (size_t i = 0; i < series->count; i += step) {
		size_t until = i + step < series->count ? i + step : series->count;
		int32_t low = series->samples[i], high = low;

		for (size_t j = i + 1; j < until; j++) {
			low = series->samples[j] < low ? series->samples[j] : low;
			high = series->samples[j] > high ? series->samples[j] : high;
		}
		fprintf(figures->out, "%zu %.9g %.9g\n", i, low * series->us, high * series->us);
	}
	fprintf(figures->out,
		"EOD\nset xlabel \"sample\"\nset ylabel \"us\"\nset xrange [0:%zu]\n"
		"plot $t%zu using 1:2:(0):($3-$2) with vectors nohead lw 1.5 lc rgb C[1] notitle, "
		"$t%zu using 1:3 with points pt 7 ps 0.25 lc rgb C[1] notitle\n",
		series->count, figures->count, figures->count);
	end(figures);
}

void figure_add_difference(struct figures *figures, const char *title,
	const struct figure_series *first, const struct figure_series *second)
{
	int32_t *a = sort(first), *b = sort(second);

	if (a && b &&
		begin(figures, title,
			"Above 0 the first named is slower at that quantile. How far apart two runs of "
			"one system lie is not in this picture.")) {
		fprintf(figures->out, "$d%zu << EOD\n", figures->count);
		for (int q = 1; q <= QUANTILES; q++)
			fprintf(figures->out, "%d %.9g\n", q,
				quantile_of(b, second->count, q / 100.0) * second->us -
					quantile_of(a, first->count, q / 100.0) * first->us);
		fprintf(figures->out,
			"EOD\nset xlabel \"quantile, %%\"\nset ylabel \"difference, us\"\n"
			"set xrange [0:100]\nset xzeroaxis lc rgb \"#5b6570\"\n"
			"plot $d%zu with linespoints pt 7 ps 0.35 lc rgb C[1] notitle\n",
			figures->count);
		end(figures);
	}
	free(a);
	free(b);
}

/* Dots of one label lie beside each other by their order, not by chance. */
void figure_add_strip(struct figures *figures, const char *title, const char *const *labels,
	const double *values, size_t count)
{
	const char *seen[16];
	size_t label_count = 0, in_label[16] = {0};

	if (count == 0 || !begin(figures, title, "One dot a run: the run is what repeats."))
		return;
	fprintf(figures->out, "$s%zu << EOD\n", figures->count);
	for (size_t i = 0; i < count; i++) {
		size_t l = 0;

		while (l < label_count && strcmp(seen[l], labels[i]) != 0)
			l++;
		if (l == 16)
			continue;
		if (l == label_count)
			seen[label_count++] = labels[i];
		fprintf(figures->out, "%.3f %.9g %zu\n",
			(double)l + 1 + 0.06 * (double)((int)(in_label[l] % 5) - 2), values[i], l);
		in_label[l]++;
	}
	fprintf(figures->out,
		"EOD\nset ylabel \"us\"\nset yrange [0:*]\nset xrange [0.4:%.1f]\nset offsets 0,0,graph "
		"0.1,0\nset xtics (",
		(double)label_count + 0.6);
	for (size_t l = 0; l < label_count; l++) {
		fputs(l ? ", " : "", figures->out);
		put_string(figures->out, seen[l]);
		fprintf(figures->out, " %zu", l + 1);
	}
	fprintf(figures->out,
		")\nplot $s%zu using 1:2 with points pt 7 ps 0.8 lc rgb C[1] notitle\n",
		figures->count);
	end(figures);
}
