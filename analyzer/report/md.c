/* SPDX-License-Identifier: MIT
 *
 * Owns: report.md, laid out for a pull request comment: below 60 KB, details folded. Threads: any. Never: lets a
 * recorded name make markup.
 */
#include <string.h>

#include "report/doc/grid.h"
#include "util/auto.h"
#include "util/text/sanitize.h"
#include "util/text/sanitize_markdown.h"
#include "util/text/width.h"
#include "render.h"

/* Headings, and that something was left out, have some room of their own. */
enum { MOST_BYTES = 58 * 1024, MOST_TRUST_BYTES = 16 * 1024, HEADINGS_BYTES = 512 };
/* A summary that is longer has no more than that many rows: findings need room, too. */
enum { MOST_SUMMARY_BYTES = 24 * 1024, MOST_SUMMARY_ROWS = 50 };
enum { LONGEST_CELL = 160, LONGEST_LOG_LINE = 500 };

static void sanitize_cell(struct pt_str *out, const char *text)
{
    PT_AUTO(pt_str_fini) struct pt_str cut = {0};
    pt_text_shorten(&cut, text, LONGEST_CELL, "...");
    pt_sanitize_markdown(out, pt_str_text(&cut));
}

static void put_value(struct pt_str *out, struct pt_cell cell)
{
    PT_AUTO(pt_str_fini) struct pt_str raw = {0};
    pt_show_value(&raw, cell, PT_STYLE_COMPACT);
    pt_sanitize_markdown(out, pt_str_text(&raw));
}

/* The summary keeps its columns whatever is in them: readers of many reports find them in the same place. */
static void put_table(struct pt_str *out, const struct pt_panel *panel, bool is_summary)
{
    struct pt_grid grid;
    pt_grid_fill(&grid, panel, PT_STYLE_COMPACT, sanitize_cell, !is_summary);
    for (pt_u32 i = 0; i < grid.n_columns; i++)
        pt_str_printf(out, "| %s ", pt_str_text(&grid.headings[i]));
    pt_str_add(out, "|\n");
    for (pt_u32 i = 0; i < grid.n_columns; i++) {
        pt_str_char(out, '|');
        for (pt_u32 dashes = pt_text_width(pt_str_text(&grid.headings[i])) + 2; dashes; dashes--)
            pt_str_char(out, '-');
    }
    pt_str_add(out, "|\n");
    for (size_t row = 0; row < grid.n_rows; row++) {
        for (pt_u32 i = 0; i < grid.n_columns; i++)
            pt_str_printf(out, "| %s ", pt_str_text(pt_grid_cell(&grid, row, i)));
        pt_str_add(out, "|\n");
    }
    if (grid.rows_left_out)
        pt_str_printf(out, "\n... and %s more\n", pt_fmt_count(grid.rows_left_out).text);
    pt_grid_fini(&grid);
}

static void put_line(struct pt_str *out, const struct pt_line *line)
{
    pt_str_add(out, "- ");
    pt_sanitize_markdown(out, line->label); /* a quality metric's key is the user's */
    pt_str_add(out, ": ");
    put_value(out, line->cell);
    if (line->cell.value.type == PT_VALUE_UNKNOWN && line->cell.value.reason) {
        pt_str_add(out, " (");
        pt_sanitize_markdown(out, line->cell.value.reason);
        pt_str_char(out, ')');
    }
    pt_str_char(out, '\n');
}

static void put_lines(struct pt_str *out, const struct pt_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        if (lines->items[i].label)
            put_line(out, &lines->items[i]);
}

/* A folder of thousands of damaged files has a note for each; report.json keeps them all. */
static void put_texts(struct pt_str *out, const char *const *texts, pt_u32 n)
{
    enum { MOST_LINES = 20 };
    for (pt_u32 i = 0; i < n && i < MOST_LINES; i++) {
        pt_str_add(out, "- ");
        put_value(out, pt_cell(PT_SHOW_TEXT, pt_text(texts[i])));
        pt_str_char(out, '\n');
    }
    if (n > MOST_LINES)
        pt_str_printf(out, "- ... and %s more\n", pt_fmt_count(n - MOST_LINES).text);
}

/* ---- findings and failures: numbered, with what belongs to them below ---- */

/* Below a finding's headline; the number's width decides what still belongs to it. */
static void put_indent(struct pt_str *out, pt_u32 number)
{
    for (pt_u32 width = 3 + (number > 9) + (number > 99); width; width--)
        pt_str_char(out, ' ');
}

static size_t longest_run(const char *text, char wanted)
{
    size_t longest = 0;
    for (size_t run = 0; *text; text++) {
        run = *text == wanted ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void put_fence(struct pt_str *out, pt_u32 number, size_t ticks)
{
    put_indent(out, number);
    while (ticks--)
        pt_str_char(out, '`');
    pt_str_char(out, '\n');
}

/* The last lines of a log, in a fence that none of them can close. */
static void put_log(struct pt_str *out, const char *const *lines, pt_u32 n_lines, pt_u32 number)
{
    size_t ticks = 3;
    for (pt_u32 i = 0; i < n_lines; i++) {
        const size_t run = longest_run(lines[i], '`');
        ticks = run >= ticks ? run + 1 : ticks;
    }
    if (!n_lines)
        return;
    pt_str_char(out, '\n');
    put_fence(out, number, ticks);
    for (pt_u32 i = 0; i < n_lines; i++) {
        PT_AUTO(pt_str_fini) struct pt_str cut = {0};
        pt_text_shorten(&cut, lines[i], LONGEST_LOG_LINE, "...");
        put_indent(out, number);
        pt_sanitize_terminal(out, pt_str_text(&cut));
        pt_str_char(out, '\n');
    }
    put_fence(out, number, ticks);
}

static void put_fact(struct pt_str *out, pt_u32 number, const char *label, const char *text)
{
    const struct pt_line line = {NULL, label, {PT_SHOW_TEXT, pt_text(text)}};
    put_indent(out, number);
    put_line(out, &line);
}

static void put_failure(struct pt_str *out, const struct pt_doc_failure *failure, pt_u32 number)
{
    pt_str_printf(out, "%u. **", number);
    put_value(out, pt_cell(PT_SHOW_TEXT, pt_text(failure->stage)));
    pt_str_add(out, ", ");
    put_value(out, failure->reason);
    pt_str_add(out, "**\n");
    if (failure->log)
        put_fact(out, number, "log", failure->log);
    put_log(out, failure->lines, failure->n_lines, number);
    put_log(out, failure->stacks, failure->n_stacks, number);
    pt_str_char(out, '\n');
}

static void put_finding(struct pt_str *out, const struct pt_doc_finding *finding)
{
    const struct pt_finding *of = finding->of;
    pt_str_printf(out, "%u. **", finding->number);
    if (of->gain_upper_s > 0) {
        pt_str_add(out, "up to ");
        put_value(out, pt_cell(PT_SHOW_SECONDS, pt_real(of->gain_upper_s)));
        pt_str_add(out, ", ");
        put_value(out, pt_cell(PT_SHOW_PERCENT, pt_real(of->gain_upper_percent)));
        pt_str_add(out, ", ");
    }
    if (pt_finding_has_time(of)) {
        put_value(out, pt_cell(PT_SHOW_SECONDS, pt_real(of->time_s)));
        pt_str_add(out, ", ");
        put_value(out, pt_cell(PT_SHOW_PERCENT, pt_real(of->time_percent)));
        pt_str_add(out, ", ");
    }
    if (finding->stage) {
        put_value(out, pt_cell(PT_SHOW_TEXT, pt_text(finding->stage->name)));
        pt_str_add(out, ", ");
    }
    put_value(out, pt_cell(PT_SHOW_TEXT, pt_text(of->title)));
    pt_str_add(out, "**\n");
    if (finding->where)
        put_fact(out, finding->number, "where", finding->where);
    for (size_t i = 0; i < finding->evidence.n; i++) {
        put_indent(out, finding->number);
        put_line(out, &finding->evidence.items[i]);
    }
    put_fact(out, finding->number, "confidence", pt_confidence_name(of->confidence));
    put_fact(out, finding->number, "try", pt_finding_try(of));
    if (finding->rows) {
        pt_str_char(out, '\n');
        put_table(out, finding->rows, false);
    }
    pt_str_char(out, '\n');
}

/* ---- sections ---- */

static void put_heading(struct pt_str *out, const char *title, int level)
{
    pt_str_char(out, '\n');
    for (int i = 0; i < level; i++)
        pt_str_char(out, '#');
    pt_str_char(out, ' ');
    pt_sanitize_markdown(out, title);
    /* The seeds of this format have the summary's table right below its heading. */
    pt_str_add(out, level == 2 ? "\n" : "\n\n");
}

static void put_body(struct pt_str *out, const struct pt_panel *panel)
{
    switch (panel->kind) {
    case PT_PANEL_LINES:
        put_lines(out, &panel->lines);
        break;
    case PT_PANEL_TABLE:
        put_table(out, panel, false);
        break;
    case PT_PANEL_TEXTS:
        put_texts(out, panel->texts, panel->n_texts);
        break;
    case PT_PANEL_LOG:
    case PT_PANEL_FLAME:
    case PT_PANEL_BARS:
        break;
    }
}

static bool is_shown(const struct pt_panel *panel)
{
    return panel && !panel->is_for_pages && panel->kind != PT_PANEL_FLAME && panel->kind != PT_PANEL_BARS;
}

static void put_panel(struct pt_str *out, const struct pt_panel *panel)
{
    if (!is_shown(panel))
        return;
    put_heading(out, panel->title, 2);
    put_body(out, panel);
}

static void put_fold(struct pt_str *out, const struct pt_panel *panel, const char *stage)
{
    PT_AUTO(pt_str_fini) struct pt_str title = {0};
    if (!is_shown(panel))
        return;
    pt_str_printf(&title, "%s%s%s", stage ? stage : "", stage ? ": " : "", panel->title);
    pt_str_add(out, "\n<details><summary>");
    pt_sanitize_markdown_html(out, pt_str_text(&title));
    pt_str_add(out, "</summary>\n");
    put_heading(out, pt_str_text(&title), 2);
    put_body(out, panel);
    pt_str_add(out, "\n</details>\n");
}

static void put_trace_quality(struct pt_str *out, const struct pt_doc *doc)
{
    put_heading(out, "Trace quality", 2);
    put_lines(out, &doc->trace_quality);
    if (doc->n_notes)
        put_heading(out, "Notes", 3);
    put_texts(out, doc->notes, doc->n_notes);
}

/* ---- the whole ---- */

struct paper {
    struct pt_str *out;
    size_t most_bytes;
    bool is_cut;
};

/* A section that does not fit is left out whole: half a table would not be one. False = it was left out. */
static bool take(struct paper *paper, struct pt_str *section)
{
    const bool fits = paper->out->n + section->n <= paper->most_bytes;
    if (fits)
        pt_str_add(paper->out, pt_str_text(section));
    paper->is_cut |= !fits;
    pt_str_fini(section);
    *section = (struct pt_str){0};
    return fits;
}

/* Programs look up their stages in it, so it has all of them where they fit. Of very many it has the first, for it to
 * be there at all. */
static void put_summary(struct pt_str *out, const struct pt_panel *summary)
{
    PT_AUTO(pt_str_fini) struct pt_str whole = {0};
    if (!summary)
        return;
    struct pt_panel shown = *summary;
    put_heading(out, summary->title, 2);
    put_table(&whole, &shown, true);
    if (whole.n <= MOST_SUMMARY_BYTES) {
        pt_str_add(out, pt_str_text(&whole));
        return;
    }
    shown.most = shown.most < MOST_SUMMARY_ROWS ? shown.most : MOST_SUMMARY_ROWS;
    put_table(out, &shown, true);
}

/* Each by itself: one that is too long takes no other with it. */
static void take_verdict(struct paper *paper, const struct pt_doc *doc)
{
    struct pt_str section = {0};
    if (doc->verdict) {
        put_value(&section, pt_cell(PT_SHOW_TEXT, pt_text(doc->verdict)));
        pt_str_add(&section, "\n\n");
    }
    put_lines(&section, &doc->head);
    take(paper, &section);
    put_summary(&section, doc->summary);
    take(paper, &section);
    put_heading(&section, "Quality", 2);
    put_lines(&section, &doc->grades);
    take(paper, &section);
}

static void say_how_many_more(struct paper *paper, size_t n)
{
    if (n)
        pt_str_printf(paper->out, "... and %s more, left out for size\n\n", pt_fmt_count(n).text);
}

static void take_failures(struct paper *paper, const struct pt_doc *doc)
{
    struct pt_str section = {0};
    size_t i = 0;
    if (doc->failures.n)
        put_heading(paper->out, "Failures", 2);
    for (; i < doc->failures.n; i++) {
        put_failure(&section, &doc->failures.items[i], (pt_u32)i + 1);
        if (!take(paper, &section))
            break;
    }
    say_how_many_more(paper, doc->failures.n - i);
    put_panel(&section, doc->skipped);
    take(paper, &section);
}

/* The first ones are those to begin with. */
static void take_each(struct paper *paper, const struct pt_doc_finding *findings, size_t n)
{
    struct pt_str section = {0};
    size_t i = 0;
    for (; i < n; i++) {
        put_finding(&section, &findings[i]);
        if (!take(paper, &section))
            break;
    }
    say_how_many_more(paper, n - i);
}

static void take_findings(struct paper *paper, const struct pt_doc *doc)
{
    const char *const nothing[] = {doc->observations.n ? PT_DOC_NO_KNOWN_PROBLEM "." : PT_DOC_NO_PROBLEM};
    put_heading(paper->out, doc->findings.n ? PT_DOC_FINDINGS : "Findings", 2);
    take_each(paper, doc->findings.items, doc->findings.n);
    if (!doc->findings.n)
        put_texts(paper->out, nothing, 1);
    if (doc->observations.n)
        put_heading(paper->out, "Where time goes without a known problem", 3);
    take_each(paper, doc->observations.items, doc->observations.n);
}

static void take_stage(struct paper *paper, const struct pt_doc *doc, const struct pt_doc_stage *stage)
{
    for (size_t i = 0; i < stage->panels.n; i++) {
        struct pt_str section = {0};
        put_fold(&section, stage->panels.items[i], doc->profile->stages.n > 1 ? stage->name : NULL);
        take(paper, &section);
    }
}

static void take_tables(struct paper *paper, const struct pt_doc *doc)
{
    struct pt_str section = {0};
    put_fold(&section, doc->resources, NULL);
    take(paper, &section);
    put_panel(&section, doc->time_account);
    put_panel(&section, doc->whose_time);
    take(paper, &section);
    for (int later = 0; later < 2; later++)
        for (size_t i = 0; i < doc->stages.n; i++)
            if (doc->stages.items[i]->is_longest == !later)
                take_stage(paper, doc, doc->stages.items[i]);
    put_fold(&section, doc->processes, NULL);
    take(paper, &section);
}

/* The slowest stage comes first: if not all fits, the most important one is there. So is how far it can be trusted: its
 * room is kept. */
void pt_render_md(const struct pt_doc *doc, const struct pt_render_options *options, struct pt_str *out)
{
    (void)options;
    struct pt_str trust = {0};
    put_panel(&trust, doc->not_traced);
    put_trace_quality(&trust, doc);
    const size_t kept_bytes = HEADINGS_BYTES + (trust.n < MOST_TRUST_BYTES ? trust.n : 0);
    struct paper paper = {.out = out, .most_bytes = MOST_BYTES - kept_bytes};
    pt_str_add(out, "# Pipeline Profile Report\n\n");
    take_verdict(&paper, doc);
    take_failures(&paper, doc);
    take_findings(&paper, doc);
    take_tables(&paper, doc);
    paper.most_bytes = MOST_BYTES;
    take(&paper, &trust);
    if (paper.is_cut)
        pt_str_add(out, "\nSome parts were left out for size; report.json has them all.\n");
    pt_str_add(out, "\n<!-- proftrace:report -->\n");
}

/* The verdict, what it is about, and what to know about it. */
static void put_lead(struct pt_str *out, const struct pt_doc *doc)
{
    if (doc->verdict) {
        put_value(out, pt_cell(PT_SHOW_TEXT, pt_text(doc->verdict)));
        pt_str_add(out, "\n\n");
    }
    put_lines(out, &doc->head);
    for (pt_u32 i = 0; i < doc->n_notes; i++) {
        pt_str_add(out, "- note: ");
        put_value(out, pt_cell(PT_SHOW_TEXT, pt_text(doc->notes[i])));
        pt_str_char(out, '\n');
    }
}

void pt_render_md_panels(const struct pt_doc *doc, struct pt_str *out)
{
    if (doc->title)
        put_lead(out, doc);
    for (size_t i = 0; i < doc->stages.n; i++) {
        const struct pt_doc_stage *stage = doc->stages.items[i];
        put_heading(out, stage->name, 2);
        for (size_t j = 0; j < stage->panels.n; j++) {
            if (!is_shown(stage->panels.items[j]))
                continue;
            put_heading(out, stage->panels.items[j]->title, 3);
            put_body(out, stage->panels.items[j]);
        }
    }
}
