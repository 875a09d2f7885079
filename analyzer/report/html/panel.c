/* SPDX-License-Identifier: MIT
 *
 * Owns: the layout of each kind of panel on a page. Threads: any. Never: computes anything but shares and sums of what
 * the document has.
 */
#include "panel.h"

#include <math.h>

#include "report/svg/svg.h"
#include "util/text/fmt.h"
#include "flame.h"
#include "table.h"
#include "value.h"

enum { PAPER_BARS = 8 }; /* page.css knows it, too */

void pt_html_lines(struct pt_str *out, const struct pt_lines *lines)
{
    pt_str_add(out, lines->n ? "<dl class=\"kv\">" : "");
    for (size_t i = 0; i < lines->n; i++) {
        pt_html_element(out, "dt", NULL, lines->items[i].label);
        pt_str_add(out, "<dd>");
        pt_html_cell_and_reason(out, lines->items[i].cell);
        pt_str_add(out, "</dd>");
    }
    pt_str_add(out, lines->n ? "</dl>" : "");
}

void pt_html_texts(struct pt_str *out, const char *const *texts, pt_u32 n)
{
    enum { OPEN = 5 };
    for (pt_u32 i = 0; i < n && i < PT_HTML_MOST_ROWS; i++) {
        pt_str_add(out, i == 0 ? "<ul class=\"plain\">" : "");
        pt_str_add(out, i == OPEN ? "</ul><details><summary>more</summary><ul class=\"plain\">" : "");
        pt_html_element(out, "li", NULL, texts[i]);
    }
    if (n > PT_HTML_MOST_ROWS)
        pt_str_printf(out, "<li>… and %s more</li>", pt_fmt_count(n - PT_HTML_MOST_ROWS).text);
    pt_str_add(out, n ? "</ul>" : "");
    pt_str_add(out, n > OPEN ? "</details>" : "");
}

static void put_pre(struct pt_str *out, const char *const *lines, pt_u32 n)
{
    pt_str_add(out, "<pre>");
    for (pt_u32 i = 0; i < n; i++) {
        pt_html_text(out, lines[i]);
        pt_str_char(out, '\n');
    }
    pt_str_add(out, "</pre>");
}

/* The end of a log is the most useful; the rest is folded. */
void pt_html_log(struct pt_str *out, const char *const *lines, pt_u32 n)
{
    enum { OPEN = 8 };
    const pt_u32 before = n > OPEN ? n - OPEN : 0;
    if (before) {
        pt_str_printf(out, "<details><summary>%u lines before</summary>", before);
        put_pre(out, lines, before);
        pt_str_add(out, "</details>");
    }
    if (n)
        put_pre(out, lines + before, n - before);
}

/* ---- bars ---- */

void pt_html_bar(struct pt_str *out, const struct pt_bar *bar, double scale_s)
{
    pt_str_add(out, "<div class=\"row\"><div class=\"name\">");
    pt_html_text(out, bar->name);
    pt_str_add(out, "</div><div class=\"plot\">");
    pt_svg_bar(out, bar, scale_s);
    pt_str_add(out, "</div><div class=\"num\">");
    pt_html_cell(out, bar->length);
    pt_str_add(out, "</div></div>\n");
}

void pt_html_legend(struct pt_str *out, const struct pt_bar *const *bars, size_t n)
{
    enum { COLORS = 32 };
    double sums_s[COLORS] = {0}, total_s = 0;
    const char *labels[COLORS] = {0};
    for (size_t i = 0; i < n; i++) {
        const double length_s = pt_cell_number(bars[i]->length);
        total_s += isfinite(length_s) ? length_s : 0;
        for (pt_u32 j = 0; j < bars[i]->n_parts; j++) {
            const struct pt_bar_part *part = &bars[i]->parts[j];
            labels[part->color % COLORS] = part->label;
            sums_s[part->color % COLORS] += part->seconds;
        }
    }
    pt_str_add(out, "<ul class=\"legend\">");
    for (pt_u32 color = 1; color < COLORS; color++) {
        if (!labels[color])
            continue;
        pt_str_add(out, "<li>");
        pt_svg_part_swatch(out, color);
        pt_html_text(out, labels[color]);
        pt_str_printf(out, " <b>%s</b> <span class=\"dim\">%s</span></li>",
                      pt_fmt_duration((int64_t)llround(sums_s[color] * 1e9)).text,
                      pt_svg_percent(sums_s[color], total_s).text);
    }
    pt_str_add(out, "</ul>");
}

/* Bars of one scale; the sum of those that have none of their own would dwarf them. */
static void put_bars(struct pt_str *out, const struct pt_panel *panel)
{
    const struct pt_bars *bars = &panel->bars;
    double scale_s = 0;
    for (size_t i = 0; i < bars->n; i++) {
        const double length_s = pt_cell_number(bars->items[i].length);
        scale_s = !bars->items[i].is_sum && length_s > scale_s ? length_s : scale_s;
    }
    pt_str_add(out, bars->n > PAPER_BARS ? "<div class=\"bars cut\">" : "<div class=\"bars\">");
    for (size_t i = 0; i < bars->n; i++) {
        const double length_s = pt_cell_number(bars->items[i].length);
        pt_html_bar(out, &bars->items[i], length_s > scale_s ? length_s : scale_s);
    }
    pt_str_add(out, "</div>");
    if (panel->has_legend || panel->section == PT_SECTION_GPU ||
        panel->section == PT_SECTION_TRAINING) /* its parts are not those of the legend of stages */
        for (size_t i = 0; i < bars->n; i++)
            pt_html_legend(out, (const struct pt_bar *const[]){&bars->items[i]}, 1);
    if (bars->n > PAPER_BARS)
        pt_str_printf(out, "<p class=\"note paper\">The first %d of %zu; the page on a screen has more.</p>",
                      PAPER_BARS, bars->n);
}

/* ---- panels ---- */

void pt_html_panel(struct pt_str *out, const struct pt_panel *panel)
{
    if (panel->note) {
        pt_html_element(out, "p", "note", panel->note);
    }
    switch (panel->kind) {
    case PT_PANEL_LINES:
        pt_html_lines(out, &panel->lines);
        break;
    case PT_PANEL_TABLE:
        pt_html_table(out, panel, true);
        break;
    case PT_PANEL_TEXTS:
        pt_html_texts(out, panel->texts, panel->n_texts);
        break;
    case PT_PANEL_LOG:
        pt_html_log(out, panel->texts, panel->n_texts);
        break;
    case PT_PANEL_FLAME:
        pt_html_flame(out, panel->flame);
        break;
    case PT_PANEL_BARS:
        put_bars(out, panel);
        break;
    }
}

static size_t rows_of(const struct pt_panel *panel)
{
    switch (panel->kind) {
    case PT_PANEL_TABLE:
        return panel->table->n_rows + panel->table->rows_left_out;
    case PT_PANEL_BARS:
        return panel->bars.n;
    case PT_PANEL_TEXTS:
    case PT_PANEL_LOG:
        return panel->n_texts;
    case PT_PANEL_LINES:
    case PT_PANEL_FLAME:
        break;
    }
    return 0;
}

void pt_html_fold(struct pt_str *out, const struct pt_panel *panel)
{
    const size_t rows = rows_of(panel);
    pt_str_add(out, panel->is_open ? "<details open=\"open\"><summary>" : "<details><summary>");
    pt_html_text(out, panel->title);
    if (rows)
        pt_str_printf(out, " <span class=\"dim\">(%s)</span>", pt_fmt_count(rows).text);
    pt_str_add(out, "</summary>");
    pt_html_panel(out, panel);
    pt_str_add(out, "</details>\n");
}
