/* SPDX-License-Identifier: Apache-2.0 */
/* A report as Markdown, for a merge request, and as LaTeX, for a paper. */
#include <string.h>

#include "harness/report.h"

/* --------------------------------------------------------------- Markdown */

/* No character of a board's or a person's text may mean anything. */
static void escape_markdown(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (strchr("\\`*_[]|#~$", *text))
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fputc(' ', out);
		else
			fputc(*text, out);
	}
}

static void write_markdown_table(FILE *out, const struct report_block *block)
{
	const struct table *table = &block->table;

	fputs("**", out);
	escape_markdown(out, block->text);
	fputs("**\n\n", out);
	for (size_t i = 0; i < table->cell_count; i++) {
		fputs(i % table->columns ? " " : "| ", out);
		escape_markdown(out, table->cells[i]);
		fputs(" |", out);
		if ((i + 1) % table->columns)
			continue;
		fputc('\n', out);
		for (size_t c = 0; i + 1 == table->columns && c < table->columns; c++)
			fprintf(out, "%s%s|", c ? "" : "|",
				table->align[c] == 'r' ? "---:" : "---");
		if (i + 1 == table->columns)
			fputc('\n', out);
	}
	fputc('\n', out);
}

/* A fence longer than any run of backticks inside. */
static void write_markdown_console(FILE *out, const struct report_block *block)
{
	size_t longest = 2, here = 0;

	for (const char *at = block->note; *at; at++) {
		here = *at == '`' ? here + 1 : 0;
		longest = here > longest ? here : longest;
	}
	fputs("**", out);
	escape_markdown(out, block->text);
	fputs("**\n\n", out);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i <= longest; i++)
			fputc('`', out);
		fputc('\n', out);
		for (const char *at = block->note; side == 0 && *at; at++)
			fputc((unsigned char)*at < 0x20 && *at != '\n' && *at != '\t' ? '?' : *at,
				out);
		if (side == 0)
			fputc('\n', out);
	}
	fputc('\n', out);
}

bool report_write_markdown(const struct report *report, FILE *out)
{
	fputs("# ", out);
	escape_markdown(out, report->title);
	fputs("\n\n", out);
	for (size_t i = 0; i < report->block_count; i++) {
		const struct report_block *block = &report->blocks[i];
		bool has_note = block->note[0] && block->kind == REPORT_TABLE;

		switch (block->kind) {
		case REPORT_HEADING:
			fputs("## ", out);
			escape_markdown(out, block->text);
			fputs("\n\n", out);
			break;
		case REPORT_TEXT:
			escape_markdown(out, block->text);
			fputs("\n\n", out);
			break;
		case REPORT_WARNING:
			fputs("> **Note:** ", out);
			escape_markdown(out, block->text);
			fputs("\n\n", out);
			break;
		case REPORT_TABLE:
			write_markdown_table(out, block);
			break;
		case REPORT_CONSOLE:
			write_markdown_console(out, block);
			break;
		case REPORT_FIGURE: /* a file of its own: --figures */
			break;
		}
		if (has_note) {
			fputs("<sub>", out);
			escape_markdown(out, block->note);
			fputs("</sub>\n\n", out);
		}
	}
	return !report->is_out_of_memory && !ferror(out);
}

/* ------------------------------------------------------------------ LaTeX */

static void escape_latex(FILE *out, const char *text)
{
	static const struct {
		char from;
		const char *to;
	} special[] = {
		{'\\', "\\textbackslash{}"},
		{'~', "\\textasciitilde{}"},
		{'^', "\\textasciicircum{}"},
		{'<', "\\textless{}"},
		{'>', "\\textgreater{}"},
		{'"', "\\textquotedbl{}"},
	};

	for (; *text; text++) {
		size_t s = 0;

		while (s < sizeof(special) / sizeof(special[0]) && special[s].from != *text)
			s++;
		if (s < sizeof(special) / sizeof(special[0]))
			fputs(special[s].to, out);
		else if (strchr("&%$#_{}", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
	}
}

static void write_latex_table(FILE *out, const struct report_block *block, unsigned number)
{
	const struct table *table = &block->table;

	fprintf(out, "\\begin{table}[htbp]\n\\centering\\footnotesize\n\\caption{");
	escape_latex(out, block->text);
	fprintf(out, "}\\label{tab:sameboard-%u}\n\\resizebox{\\linewidth}{!}{%%\n", number);
	fprintf(out, "\\begin{tabular}{%s}\n\\toprule\n", table->align);
	for (size_t i = 0; i < table->cell_count; i++) {
		escape_latex(out, table->cells[i]);
		fputs((i + 1) % table->columns ? " & " : " \\\\\n", out);
		if (i + 1 == table->columns)
			fputs("\\midrule\n", out);
	}
	fputs("\\bottomrule\n\\end{tabular}}\n", out);
	if (block->note[0]) {
		fputs("\\par\\smallskip\\raggedright\\scriptsize ", out);
		escape_latex(out, block->note);
		fputc('\n', out);
	}
	fputs("\\end{table}\n\n", out);
}

/* A document of its own, so that it can be tried; a paper takes its tables. */
bool report_write_latex(const struct report *report, FILE *out)
{
	unsigned tables = 0;

	fputs("\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage[utf8]{inputenc}\n"
	      "\\usepackage{textcomp,booktabs,graphicx}\n\\begin{document}\n\\section*{",
		out);
	escape_latex(out, report->title);
	fputs("}\n\n", out);
	for (size_t i = 0; i < report->block_count; i++) {
		const struct report_block *block = &report->blocks[i];

		switch (block->kind) {
		case REPORT_HEADING:
			fputs("\\subsection*{", out);
			escape_latex(out, block->text);
			fputs("}\n\n", out);
			break;
		case REPORT_TEXT:
		case REPORT_WARNING:
			fputs(block->kind == REPORT_WARNING ? "\\emph{" : "", out);
			escape_latex(out, block->text);
			fputs(block->kind == REPORT_WARNING ? "}\n\n" : "\n\n", out);
			break;
		case REPORT_TABLE:
			if (!block->is_folded)
				write_latex_table(out, block, ++tables);
			break;
		case REPORT_FIGURE:
		case REPORT_CONSOLE:
			break;
		}
	}
	fputs("\\end{document}\n", out);
	return !report->is_out_of_memory && !ferror(out);
}
