/* SPDX-License-Identifier: MIT
 *
 * Owns: values, tables and lists in HTML, and the one place where texts are escaped. Threads: any. Never: lets a
 * recorded name make markup; shows an unknown value as a number.
 */
#include <math.h>

#include "report/doc/grid.h"
#include "util/auto.h"
#include "util/text/sanitize.h"
#include "html.h"

/* Cut before it is escaped, so that no escape is torn apart. */
static void put_cut(struct pt_str *out, const char *text, pt_u32 longest)
{
    const size_t bytes = pt_text_prefix(text, longest);
    if (!text[bytes]) {
        pt_sanitize_html(out, text);
        return;
    }
    PT_AUTO(pt_str_fini) struct pt_str cut = {0};
    pt_str_bytes(&cut, text, bytes);
    pt_sanitize_html(out, pt_str_text(&cut));
    pt_str_add(out, "…");
}

void pt_html_text(struct pt_str *out, const char *text)
{
    put_cut(out, text, PT_HTML_LONGEST_TEXT);
}

static void put_value(struct pt_str *out, const struct pt_node *node, pt_u32 longest)
{
    if (!node || node->value.type == PT_VALUE_UNKNOWN) {
        pt_str_add(out, "<span class=\"u\" title=\"");
        pt_html_text(out, node && node->value.reason ? node->value.reason : "unknown");
        pt_str_add(out, "\">–</span>");
        return;
    }
    PT_AUTO(pt_str_fini) struct pt_str raw = {0};
    pt_show_value(&raw, node, PT_STYLE_TERMINAL);
    put_cut(out, pt_str_text(&raw), longest);
}

void pt_html_value(struct pt_str *out, const struct pt_node *node)
{
    put_value(out, node, PT_HTML_LONGEST_TEXT);
}

void pt_html_value_and_reason(struct pt_str *out, const struct pt_node *node)
{
    pt_html_value(out, node);
    if (!node || node->value.type != PT_VALUE_UNKNOWN || !node->value.reason)
        return;
    pt_str_add(out, " <span class=\"dim\">(");
    pt_html_text(out, node->value.reason);
    pt_str_add(out, ")</span>");
}

double pt_html_number(const struct pt_node *node, const char *key)
{
    const struct pt_node *child = pt_node_child(node, key);
    if (!child || (child->value.type != PT_VALUE_INTEGER && child->value.type != PT_VALUE_REAL))
        return NAN;
    return pt_value_number(child->value);
}

const char *pt_html_child_text(const struct pt_node *node, const char *key)
{
    const struct pt_node *child = pt_node_child(node, key);
    return child && child->kind == PT_NODE_VALUE && child->value.type == PT_VALUE_TEXT ? child->value.text : NULL;
}

/* ---- tables ---- */

/* The reasons that a table's dashes have, each once, so that paper tells them, too. */
struct reasons {
    struct {
        const char *column, *reason;
    } items[6];
    pt_u32 n;
};

static void note_reason(struct reasons *reasons, const struct pt_node *column, const struct pt_node *cell)
{
    enum { ROOM = sizeof reasons->items / sizeof *reasons->items };
    if (!cell || cell->value.type != PT_VALUE_UNKNOWN || !cell->value.reason || reasons->n == ROOM)
        return;
    for (pt_u32 i = 0; i < reasons->n; i++)
        if (!strcmp(reasons->items[i].reason, cell->value.reason) && !strcmp(reasons->items[i].column, column->label))
            return;
    reasons->items[reasons->n].column = column->label;
    reasons->items[reasons->n++].reason = cell->value.reason;
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

static const char *reason_of(const struct pt_node *node)
{
    return node->value.type == PT_VALUE_UNKNOWN && node->value.reason ? node->value.reason : "";
}

/* Columns without anything are not shown, but named; neighbours share their reason. */
static void put_left_out(struct pt_str *out, const struct pt_node *list, const struct pt_grid *grid)
{
    const struct pt_node *all[PT_GRID_COLUMNS];
    const pt_u32 n = pt_node_columns(list, all, PT_GRID_COLUMNS);
    pt_u32 shown = 0, left = 0;
    for (pt_u32 i = 0; i < n; i++) {
        if (shown < grid->n_columns && grid->columns[shown] == all[i])
            shown++;
        else
            all[left++] = all[i];
    }
    for (pt_u32 i = 0; i < left; i++) {
        pt_str_add(out, i ? ", " : "<p class=\"note\">Nothing in any row: ");
        pt_html_text(out, all[i]->label);
        const char *reason = reason_of(all[i]);
        if (!*reason || (i + 1 < left && !strcmp(reason, reason_of(all[i + 1]))))
            continue;
        pt_str_add(out, " (");
        pt_html_text(out, reason);
        pt_str_char(out, ')');
    }
    pt_str_add(out, left ? ".</p>" : "");
}

static const char *cell_class(const struct pt_node *column)
{
    return pt_show_is_number(column) ? "n" : "s";
}

static void put_row(struct pt_str *out, const struct pt_grid *grid, const struct pt_node *item, struct reasons *reasons)
{
    pt_str_add(out, "<tr>");
    for (pt_u32 i = 0; i < grid->n_columns; i++) {
        const struct pt_node *cell = pt_node_child(item, grid->columns[i]->key);
        pt_str_printf(out, i ? "<td class=\"%s\">" : "<th scope=\"row\" class=\"%s\">", cell_class(grid->columns[i]));
        put_value(out, cell, PT_HTML_LONGEST_CELL);
        pt_str_add(out, i ? "</td>" : "</th>");
        note_reason(reasons, grid->columns[i], cell);
    }
    pt_str_add(out, "</tr>\n");
}

void pt_html_table(struct pt_str *out, const struct pt_node *list, const char *caption)
{
    struct pt_grid grid;
    struct reasons reasons = {0};
    pt_grid_fill(&grid, list, PT_STYLE_TERMINAL, pt_sanitize_html, true);
    const bool is_cut = list->is_detail && grid.n_rows > PT_HTML_PAPER_ROWS;
    pt_str_printf(out, "<div class=\"t%s\" role=\"region\" tabindex=\"0\" aria-label=\"", is_cut ? " cut" : "");
    pt_html_text(out, caption);
    pt_str_add(out, "\"><table><caption>");
    pt_html_text(out, caption);
    pt_str_add(out, "</caption><thead><tr>");
    for (pt_u32 i = 0; i < grid.n_columns; i++) {
        pt_str_printf(out, "<th scope=\"col\" class=\"%s\">", cell_class(grid.columns[i]));
        pt_html_text(out, grid.columns[i]->label);
        pt_str_add(out, "</th>");
    }
    pt_str_add(out, "</tr></thead><tbody>\n");
    pt_u64 n = 0;
    for (const struct pt_node *item = list->first; item; item = item->next)
        if (n++ < PT_HTML_MOST_ROWS)
            put_row(out, &grid, item, &reasons);
    pt_str_add(out, "</tbody></table></div>");
    const pt_u64 more = list->rows_left_out + (n > PT_HTML_MOST_ROWS ? n - PT_HTML_MOST_ROWS : 0);
    if (more)
        pt_str_printf(out, "<p class=\"note%s\">… and %s more</p>", is_cut ? " np" : "", pt_fmt_count(more).text);
    if (is_cut)
        pt_str_printf(out, "<p class=\"note paper\">The first %d of %s rows; the page on a screen has more.</p>",
                      PT_HTML_PAPER_ROWS, pt_fmt_count(grid.n_rows + list->rows_left_out).text);
    put_reasons(out, &reasons);
    put_left_out(out, list, &grid);
    pt_grid_fini(&grid);
}

/* ---- the rest ---- */

void pt_html_lines(struct pt_str *out, const struct pt_node *first)
{
    pt_u32 n = 0;
    for (const struct pt_node *node = first; node; node = node->next) {
        if (node->kind != PT_NODE_VALUE || !node->label || node->column)
            continue;
        pt_str_add(out, n++ ? "<dt>" : "<dl class=\"kv\"><dt>");
        pt_html_text(out, node->label);
        pt_str_add(out, "</dt><dd>");
        pt_html_value_and_reason(out, node);
        pt_str_add(out, "</dd>");
    }
    pt_str_add(out, n ? "</dl>" : "");
    for (const struct pt_node *node = first; node; node = node->next) {
        if (node->kind == PT_NODE_VALUE || !node->label || !node->first)
            continue;
        if (node->kind == PT_NODE_GROUP || node->layout != PT_LAYOUT_TABLE) {
            pt_str_add(out, "<h3>");
            pt_html_text(out, node->label);
            pt_str_add(out, "</h3>");
        }
        pt_html_body(out, node);
    }
}

void pt_html_plain(struct pt_str *out, const struct pt_node *list)
{
    enum { OPEN = 5 };
    pt_u32 n = 0;
    for (const struct pt_node *item = list->first; item && n < PT_HTML_MOST_ROWS; item = item->next) {
        pt_str_add(out, n == 0 ? "<ul class=\"plain\">" : "");
        pt_str_add(out, n == OPEN ? "</ul><details><summary>more</summary><ul class=\"plain\">" : "");
        pt_str_add(out, "<li>");
        pt_html_value(out, item);
        pt_str_add(out, "</li>");
        n++;
    }
    pt_str_add(out, n ? "</ul>" : "");
    pt_str_add(out, n > OPEN ? "</details>" : "");
}

void pt_html_body(struct pt_str *out, const struct pt_node *node)
{
    if (node->kind == PT_NODE_GROUP) {
        pt_html_lines(out, node->first);
        return;
    }
    if (node->kind == PT_NODE_FLAME)
        pt_html_flame(out, node->flame);
    if (node->kind != PT_NODE_LIST)
        return;
    switch (node->layout) {
    case PT_LAYOUT_TABLE:
        pt_html_table(out, node, node->label);
        break;
    case PT_LAYOUT_CALLOUTS:
        pt_html_findings(out, node);
        break;
    case PT_LAYOUT_LINES:
    case PT_LAYOUT_PLAIN:
        pt_html_plain(out, node);
        break;
    }
}
