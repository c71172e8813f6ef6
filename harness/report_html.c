/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one HTML file that needs nothing else: no script, no font, no
 * picture from elsewhere.  Wide tables scroll in their own box, so that a
 * telephone shows the page at its width; on paper everything is unfolded.
 */
#include <string.h>

#include "harness/report.h"

static const char style[] =
	":root{--ink:#1d232a;--soft:#5b6570;--line:#d5dae0;--head:#f2f4f7;--accent:#1b4f8a}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;max-width:72rem;padding:1rem 1.2rem 3rem;color:var(--ink);"
	"background:#fff;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Liberation "
	"Sans',sans-serif;overflow-wrap:break-word}\n"
	"h1{font-size:1.5rem;line-height:1.25;margin:.4rem 0 .2rem}\n"
	"h2{font-size:1.15rem;margin:2.2rem 0 .6rem;padding-bottom:.25rem;"
	"border-bottom:2px solid var(--accent)}\n"
	"p{margin:.5rem 0;max-width:52rem}\n"
	".warning{border-left:4px solid #b45309;background:#fff7e8;padding:.5rem .8rem;"
	"margin:.6rem 0;max-width:60rem}\n"
	".table{margin:.9rem 0 1.2rem}\n"
	".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px}\n"
	".title{font-weight:600;margin:0 0 .35rem}\n"
	".note{color:var(--soft);font-size:.86rem;margin:.35rem 0 0}\n"
	"table{border-collapse:collapse;width:100%;font-size:.86rem;"
	"font-variant-numeric:tabular-nums}\n"
	"th,td{padding:.32rem .6rem;text-align:left;vertical-align:top;"
	"border-bottom:1px solid var(--line)}\n"
	"tr:last-child td{border-bottom:0}\n"
	"th{background:var(--head);font-weight:600;white-space:nowrap}\n"
	".r{text-align:right;white-space:nowrap}\n"
	"td:first-child{font-weight:500;white-space:pre-wrap}\n"
	".bad{color:#a11212;font-weight:700}\n"
	".doubt{color:#8a4b00;font-weight:600}\n"
	".good{color:#14622f}\n"
	".none{color:var(--soft)}\n"
	"figure{margin:1rem 0 1.4rem}\n"
	"figure svg{display:block;width:100%;height:auto;max-width:54rem}\n"
	".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));"
	"gap:.4rem 1.4rem}\n"
	".figures figure{margin:.4rem 0}\n"
	"figcaption{font-weight:600;font-size:.92rem}\n"
	"pre{background:#10151b;color:#dfe6ee;padding:.7rem .9rem;border-radius:6px;"
	"overflow-x:auto;font:12.5px/1.45 ui-monospace,'DejaVu Sans Mono',monospace;"
	"white-space:pre-wrap;word-break:break-all}\n"
	"details{margin:.7rem 0;border:1px solid var(--line);border-radius:6px;padding:.3rem .8rem}\n"
	"summary{cursor:pointer;font-weight:600;padding:.25rem 0}\n"
	"@media(max-width:40rem){body{padding:.6rem .7rem 2rem;font-size:15px}"
	"table{font-size:.8rem}th{white-space:normal}th:first-child,td:first-child{position:sticky;left:0;"
	"background:#fff;min-width:6.5rem}th:first-child{background:var(--head)}th,td{padding:.28rem .45rem}h1{font-size:1.25rem}}\n"
	"@media print{body{max-width:none;font-size:10.5pt;padding:0}.scroll{overflow:visible;"
	"border:0}table{font-size:7.5pt}th,td{padding:1.5pt 3pt;white-space:normal}"
	".r{white-space:normal}h2{break-after:avoid}figure,tr,.warning{break-inside:avoid}"
	"pre{background:#fff;color:#000;border:1px solid #999}"
	"details{border:0;padding:0}"
	"details::details-content{content-visibility:visible;block-size:auto}}\n"
	"@page{margin:14mm}\n";

static void escape(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '&')
			fputs("&amp;", out);
		else if (byte == '<')
			fputs("&lt;", out);
		else if (byte == '>')
			fputs("&gt;", out);
		else if (byte == '"')
			fputs("&quot;", out);
		else if (byte >= 0x20 || byte == '\n' || byte == '\t')
			fputc(byte, out);
		else
			fputc('?', out);
	}
}

/* What a cell says in a word that a reader looks for. */
static const char *tone_of(const char *text)
{
	static const struct {
		const char *begin, *tone;
	} tones[] = {
		{"regression", "bad"},
		{"REGRESSION", "bad"},
		{"MISSING", "bad"},
		{"fail", "bad"},
		{"invalid", "bad"},
		{"lab-failure", "bad"},
		{"interrupted", "bad"},
		{"suspect", "doubt"},
		{"unknown", "doubt"},
		{"few", "doubt"},
		{"pass", "good"},
		{"equal", "good"},
		{"improvement", "good"},
		{"not measured", "none"},
		{"not published", "none"},
		{"not-applicable", "none"},
		{"unsupported", "none"},
		{"no valid run", "doubt"},
	};

	if (strcmp(text, "-") == 0)
		return "none";
	for (size_t i = 0; i < sizeof(tones) / sizeof(tones[0]); i++)
		if (strncmp(text, tones[i].begin, strlen(tones[i].begin)) == 0)
			return tones[i].tone;
	return NULL;
}

static void write_cell(FILE *out, const char *tag, const char *text, char align)
{
	const char *tone = strcmp(tag, "td") == 0 ? tone_of(text) : NULL;

	fprintf(out, "<%s", tag);
	if (align == 'r' || tone)
		fprintf(out, " class=\"%s%s%s\"", align == 'r' ? "r" : "",
			align == 'r' && tone ? " " : "", tone ? tone : "");
	fputs(strcmp(tag, "th") == 0 ? " scope=\"col\">" : ">", out);
	escape(out, text);
	fprintf(out, "</%s>", tag);
}

static void write_note(FILE *out, const struct report_block *block)
{
	if (!block->note[0])
		return;
	fputs("<p class=\"note\">", out);
	escape(out, block->note);
	fputs("</p>\n", out);
}

static void write_table(FILE *out, const struct report_block *block)
{
	const struct table *table = &block->table;

	fputs("<div class=\"table\">\n", out);
	if (!block->is_folded) {
		fputs("<p class=\"title\">", out);
		escape(out, block->text);
		fputs("</p>\n", out);
	}
	fputs("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>", out);
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t column = i % table->columns;

		if (column == 0 && i > 0)
			fputs("<tr>", out);
		write_cell(out, i < table->columns ? "th" : "td", table->cells[i],
			table->align[column]);
		if (column + 1 == table->columns)
			fputs(i < table->columns ? "</tr></thead>\n<tbody>\n" : "</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
	write_note(out, block);
	fputs("</div>\n", out);
}

static void write_figure(FILE *out, const struct report_block *block)
{
	if (!block->svg)
		return;
	fputs("<figure><figcaption>", out);
	escape(out, block->text);
	fputs("</figcaption>\n", out);
	fputs(block->svg, out);
	write_note(out, block);
	fputs("</figure>\n", out);
}

static void write_content(FILE *out, const struct report_block *block)
{
	switch (block->kind) {
	case REPORT_HEADING:
		fputs("<h2>", out);
		escape(out, block->text);
		fputs("</h2>\n", out);
		return;
	case REPORT_TEXT:
		fputs("<p>", out);
		escape(out, block->text);
		fputs("</p>\n", out);
		return;
	case REPORT_WARNING:
		fputs("<p class=\"warning\">", out);
		escape(out, block->text);
		fputs("</p>\n", out);
		return;
	case REPORT_TABLE:
		write_table(out, block);
		return;
	case REPORT_FIGURE:
		write_figure(out, block);
		return;
	case REPORT_CONSOLE:
		if (!block->is_folded) {
			fputs("<p class=\"title\">", out);
			escape(out, block->text);
			fputs("</p>\n", out);
		}
		fputs("<pre>", out);
		escape(out, block->note);
		fputs("</pre>\n", out);
		return;
	}
}

bool report_write_html(const struct report *report, FILE *out)
{
	bool is_in_figures = false;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"generator\" content=\"sameboard " SAMEBOARD_VERSION "\">\n<title>",
		out);
	escape(out, report->title);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
	escape(out, report->title);
	fputs("</h1>\n", out);
	for (size_t i = 0; i < report->block_count; i++) {
		const struct report_block *block = &report->blocks[i];
		bool is_figure = block->kind == REPORT_FIGURE && block->svg;

		if (is_figure != is_in_figures)
			fputs(is_figure ? "<div class=\"figures\">\n" : "</div>\n", out);
		is_in_figures = is_figure;
		if (block->is_folded) {
			fputs("<details><summary>", out);
			escape(out, block->text);
			fputs("</summary>\n", out);
		}
		write_content(out, block);
		if (block->is_folded)
			fputs("</details>\n", out);
	}
	fputs(is_in_figures ? "</div>\n</body>\n</html>\n" : "</body>\n</html>\n", out);
	return !report->is_out_of_memory && !ferror(out);
}
