/* SPDX-License-Identifier: MIT
 *
 * Owns: how a table looks on a page. Threads: any. Never: leaves a dash without its reason.
 */
#include "table.h"

#include <string.h>

#include "report/doc/grid.h"
#include "util/text/sanitize.h"
#include "value.h"

/* The reasons of a table's dashes, each once as text, for paper. */
struct reasons {
    struct {
        const char *column, *reason;
    } items[6];
    pt_u32 n;
};

static void note_reason(struct reasons *reasons, const struct pt_column *column, struct pt_value value)
{
    enum { ROOM = sizeof reasons->items / sizeof *reasons->items };
    if (value.type != PT_VALUE_UNKNOWN || !value.reason || reasons->n == ROOM)
        return;
    for (pt_u32 i = 0; i < reasons->n; i++)
        if (!strcmp(reasons->items[i].reason, value.reason) && !strcmp(reasons->items[i].column, column->label))
            return;
    reasons->items[reasons->n].column = column->label;
    reasons->items[reasons->n++].reason = value.reason;
}

static void put_reasons(struct pt_str *out, const struct reasons *reasons)
{
    for (pt_u32 i = 0; i < reasons->n; i++) {
        pt_str_add(out, i ? "; " : "<p class=\"note\">– ");
        pt_html_text(out, reasons->items[i].column);
        pt_str_add(out, ": ");
        pt_html_text(out, reasons->items[i].reason);
    }
    pt_str_add(out, reasons->n ? "</p>" : "");
}

/* Of a column without anything: the first row's. */
static const char *reason_of(const struct pt_grid *grid, const struct pt_column *column)
{
    const struct pt_value value = grid->n_rows ? pt_grid_value(grid, 0, column).value : pt_unknown(NULL);
    return value.type == PT_VALUE_UNKNOWN && value.reason ? value.reason : "";
}

/* Columns without anything are not shown, but named; neighbours share their reason. */
static void put_left_out(struct pt_str *out, const struct pt_grid *grid)
{
    for (pt_u32 i = 0; i < grid->n_left_out; i++) {
        pt_str_add(out, i ? ", " : "<p class=\"note\">Nothing in any row: ");
        pt_html_text(out, grid->left_out[i]->label);
        const char *reason = reason_of(grid, grid->left_out[i]);
        const bool is_next_same = i + 1 < grid->n_left_out && !strcmp(reason, reason_of(grid, grid->left_out[i + 1]));
        if (!*reason || is_next_same)
            continue;
        pt_str_add(out, " (");
        pt_html_text(out, reason);
        pt_str_char(out, ')');
    }
    pt_str_add(out, grid->n_left_out ? ".</p>" : "");
}

static const char *cell_class(const struct pt_column *column)
{
    return column->show == PT_SHOW_CODE ? "code" : pt_show_is_number(column->show) ? "n" : "s";
}

static void put_head(struct pt_str *out, const struct pt_grid *grid)
{
    pt_str_add(out, "<thead><tr>");
    for (pt_u32 i = 0; i < grid->n_columns; i++) {
        pt_str_printf(out, "<th scope=\"col\" class=\"%s\">", cell_class(grid->columns[i]));
        pt_html_text(out, grid->columns[i]->label);
        pt_str_add(out, "</th>");
    }
    pt_str_add(out, "</tr></thead>");
}

static void put_row(struct pt_str *out, const struct pt_grid *grid, size_t row, struct reasons *reasons)
{
    pt_str_add(out, "<tr>");
    for (pt_u32 i = 0; i < grid->n_columns; i++) {
        const struct pt_cell cell = pt_grid_value(grid, row, grid->columns[i]);
        pt_str_printf(out, i ? "<td class=\"%s\">" : "<th scope=\"row\" class=\"%s\">", cell_class(grid->columns[i]));
        pt_html_cell_cut(out, cell, PT_HTML_LONGEST_CELL);
        pt_str_add(out, i ? "</td>" : "</th>");
        note_reason(reasons, grid->columns[i], cell.value);
    }
    pt_str_add(out, "</tr>\n");
}

static void put_below(struct pt_str *out, const struct pt_grid *grid, bool is_cut)
{
    const pt_u64 hidden = grid->n_rows > PT_HTML_MOST_ROWS ? grid->n_rows - PT_HTML_MOST_ROWS : 0;
    const pt_u64 more = grid->rows_left_out + hidden;
    if (more)
        pt_str_printf(out, "<p class=\"note%s\">… and %s more</p>", is_cut ? " np" : "", pt_fmt_count(more).text);
    if (is_cut)
        pt_str_printf(out, "<p class=\"note paper\">The first %d of %s rows; the page on a screen has more.</p>",
                      PT_HTML_PAPER_ROWS, pt_fmt_count(grid->n_rows + grid->rows_left_out).text);
}

void pt_html_table(struct pt_str *out, const struct pt_panel *panel, bool is_long)
{
    struct pt_grid grid;
    struct reasons reasons = {0};
    pt_grid_fill(&grid, panel, PT_STYLE_TERMINAL, pt_sanitize_html, true);
    const bool is_cut = is_long && grid.n_rows > PT_HTML_PAPER_ROWS;
    pt_str_printf(out, "<div class=\"t%s\" role=\"region\" tabindex=\"0\" aria-label=\"", is_cut ? " cut" : "");
    pt_html_text(out, panel->title);
    pt_str_add(out, "\"><table><caption>");
    pt_html_text(out, panel->title);
    pt_str_add(out, "</caption>");
    put_head(out, &grid);
    pt_str_add(out, "<tbody>\n");
    for (size_t row = 0; row < grid.n_rows && row < PT_HTML_MOST_ROWS; row++)
        put_row(out, &grid, row, &reasons);
    pt_str_add(out, "</tbody></table></div>");
    put_below(out, &grid, is_cut);
    put_reasons(out, &reasons);
    put_left_out(out, &grid);
    pt_grid_fini(&grid);
}
