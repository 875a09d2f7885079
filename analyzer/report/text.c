/* SPDX-License-Identifier: MIT
 *
 * Owns: the report for a terminal: width-aware tables, plain ASCII where the terminal has no UTF-8, colour only when
 * asked. Threads: any. Never: lets a recorded name reach the terminal unsanitised.
 */
#include <string.h>

#include "report/doc/grid.h"
#include "util/auto.h"
#include "util/text/sanitize.h"
#include "render.h"

struct text {
    const struct pt_render_options *options;
    struct pt_str *out;
};

/* Sanitised, and in ASCII where needed. */
static void put_text(const struct text *t, const char *text)
{
    if (t->options->utf8) {
        pt_str_add(t->out, text);
        return;
    }
    for (; *text; text++)
        if (((unsigned char)*text & 0xc0) != 0x80)
            pt_str_char(t->out, (unsigned char)*text < 0x80 ? *text : '?');
}

static void put_spaces(const struct text *t, pt_u32 n)
{
    while (n--)
        pt_str_char(t->out, ' ');
}

static void put_heading(const struct text *t, const char *heading)
{
    if (t->out->n)
        pt_str_char(t->out, '\n');
    /* A heading may begin with the name of a stage. */
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_sanitize_terminal(&text, heading);
    pt_str_add(t->out, t->options->color ? "\033[1m" : "");
    put_text(t, pt_str_text(&text));
    pt_str_add(t->out, t->options->color ? "\033[0m\n" : "\n");
}

/* ---- tables ---- */

enum { NARROWEST_NAME = 32, NARROWEST_TEXT = 12, WIDEST_TEXT = 100, GAP = 2 };

static pt_u32 total_width(const struct pt_grid *grid)
{
    pt_u32 width = 0;
    for (pt_u32 i = 0; i < grid->n_columns; i++)
        width += grid->width[i] + (i ? GAP : 0);
    return width;
}

/* Cut long texts first, then leave out columns from the right. */
static pt_u32 fit(struct pt_grid *grid, pt_u32 limit)
{
    pt_u32 n = grid->n_columns;
    for (pt_u32 i = 0; i < n; i++)
        if (grid->width[i] > WIDEST_TEXT)
            grid->width[i] = WIDEST_TEXT;
    if (!limit)
        return n;
    for (;;) {
        struct pt_grid shown = *grid;
        shown.n_columns = n;
        pt_u32 width = total_width(&shown);
        for (pt_u32 i = 0; i < n && width > limit; i++) {
            /* Text in the first column names the row: it keeps more, unless there is nothing else to leave out. */
            const pt_u32 least = i || n <= 2 ? NARROWEST_TEXT : NARROWEST_NAME;
            if (pt_show_is_number(grid->columns[i]) || grid->width[i] <= least)
                continue;
            const pt_u32 spare = grid->width[i] - least, over = width - limit;
            if (spare < over && n > 2)
                continue;
            grid->width[i] -= spare < over ? spare : over;
            width -= spare < over ? spare : over;
        }
        if (width <= limit || n <= 2)
            return n;
        n--;
    }
}

/* A path says more at its end. */
static void put_cell(const struct text *t, const char *cell, pt_u32 width, bool right, bool last)
{
    const pt_u32 have = pt_text_width(cell);
    if (have > width) {
        const pt_u32 keep = width > 3 ? width - 3 : 0, head = cell[0] == '/' ? keep / 3 : keep;
        PT_AUTO(pt_str_fini) struct pt_str cut = {0};
        pt_str_bytes(&cut, cell, pt_text_prefix(cell, head));
        pt_str_add(&cut, "...");
        pt_str_add(&cut, cell + pt_text_prefix(cell, have - (keep - head)));
        put_text(t, pt_str_text(&cut));
        return;
    }
    if (right)
        put_spaces(t, width - have);
    put_text(t, cell);
    if (!right && !last)
        put_spaces(t, width - have);
}

static void put_table(const struct text *t, const struct pt_node *list, const char *indent)
{
    struct pt_grid grid;
    pt_grid_fill(&grid, list, PT_STYLE_TERMINAL, pt_sanitize_terminal, true);
    const pt_u32 room = t->options->width > strlen(indent) ? t->options->width - (pt_u32)strlen(indent) : 0;
    const pt_u32 n = fit(&grid, room);
    pt_str_add(t->out, indent);
    for (pt_u32 i = 0; i < n; i++) {
        put_spaces(t, i ? GAP : 0);
        put_cell(t, grid.columns[i]->label, grid.width[i], pt_show_is_number(grid.columns[i]), i + 1 == n);
    }
    for (size_t row = 0; row < grid.n_rows; row++) {
        pt_str_char(t->out, '\n');
        pt_str_add(t->out, indent);
        for (pt_u32 i = 0; i < n; i++) {
            put_spaces(t, i ? GAP : 0);
            put_cell(t, pt_str_text(pt_grid_cell(&grid, row, i)), grid.width[i], pt_show_is_number(grid.columns[i]),
                     i + 1 == n);
        }
    }
    pt_str_char(t->out, '\n');
    if (list->rows_left_out)
        pt_str_printf(t->out, "%s... and %s more\n", indent, pt_fmt_count(list->rows_left_out).text);
    pt_grid_fini(&grid);
}

/* ---- the rest ---- */

static void put_value(const struct text *t, const struct pt_node *node)
{
    PT_AUTO(pt_str_fini) struct pt_str raw = {0};
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    pt_show_value(&raw, node, PT_STYLE_TERMINAL);
    pt_sanitize_terminal(&clean, pt_str_text(&raw));
    put_text(t, pt_str_text(&clean));
}

/* Width of the labels of a run of lines, so that their values stand below each other. */
static int label_width(const struct pt_node *first)
{
    pt_u32 width = 12;
    for (const struct pt_node *node = first; node; node = node->next) {
        const pt_u32 here = node->kind == PT_NODE_VALUE && node->label ? pt_text_width(node->label) : 0;
        width = here > width && !node->column ? here : width;
    }
    return (int)width;
}

/* Clean text, broken at spaces; later lines begin at column `indent`. */
static void put_wrapped(const struct text *t, const char *text, pt_u32 indent)
{
    const pt_u32 room = t->options->width > indent + 20 ? t->options->width - indent : ~0u;
    pt_u32 at = 0;
    while (*text) {
        const size_t bytes = strcspn(text, " ");
        PT_AUTO(pt_str_fini) struct pt_str word = {0};
        pt_str_bytes(&word, text, bytes);
        const pt_u32 width = pt_text_width(pt_str_text(&word));
        if (at && at + 1 + width > room) {
            pt_str_char(t->out, '\n');
            put_spaces(t, indent);
            at = 0;
        } else if (at) {
            pt_str_char(t->out, ' ');
            at++;
        }
        put_text(t, pt_str_text(&word));
        at += width;
        text += bytes;
        text += *text == ' ';
    }
}

static void put_line(const struct text *t, const struct pt_node *node, const char *indent, int width)
{
    PT_AUTO(pt_str_fini) struct pt_str raw = {0};
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    pt_show_value(&raw, node, PT_STYLE_TERMINAL);
    if (node->value.type == PT_VALUE_UNKNOWN && node->value.reason)
        pt_str_printf(&raw, " (%s)", node->value.reason);
    pt_sanitize_terminal(&clean, pt_str_text(&raw));
    PT_AUTO(pt_str_fini) struct pt_str label = {0};
    pt_sanitize_terminal(&label, node->label); /* a metric's key is the user's */
    const pt_u32 have = pt_text_width(pt_str_text(&label));
    pt_str_add(t->out, indent);
    put_text(t, pt_str_text(&label));
    put_spaces(t, have < (pt_u32)width ? (pt_u32)width - have + 2 : 2);
    put_wrapped(t, pt_str_text(&clean), (pt_u32)strlen(indent) + (pt_u32)width + 2);
    pt_str_char(t->out, '\n');
}

/* The last lines of a log, as they are. */
static void put_quoted(const struct text *t, const struct pt_node *list, const char *indent)
{
    for (const struct pt_node *item = list->first; item; item = item->next) {
        pt_str_printf(t->out, "%s| ", indent);
        put_value(t, item);
        pt_str_char(t->out, '\n');
    }
}

static void put_callout(const struct text *t, const struct pt_node *finding, pt_u32 number)
{
    pt_str_printf(t->out, "%2u  ", number);
    for (const struct pt_node *node = finding->first; node; node = node->next) {
        if (!node->column)
            continue;
        if (node->column > 1)
            pt_str_add(t->out, "  ");
        if (node->show == PT_SHOW_SECONDS)
            pt_str_add(t->out, "up to ");
        put_value(t, node);
    }
    pt_str_char(t->out, '\n');
    int width = label_width(finding->first);
    for (const struct pt_node *node = finding->first; node; node = node->next)
        if (!node->column && node->label && node->kind == PT_NODE_GROUP && label_width(node->first) > width)
            width = label_width(node->first);
    for (const struct pt_node *node = finding->first; node; node = node->next) {
        if (node->column || !node->label)
            continue;
        if (node->kind == PT_NODE_VALUE)
            put_line(t, node, "    ", width);
        if (node->kind == PT_NODE_LIST) {
            put_quoted(t, node, "    ");
            continue;
        }
        for (const struct pt_node *fact = node->first; fact; fact = fact->next)
            if (fact->kind == PT_NODE_VALUE)
                put_line(t, fact, "    ", width);
    }
    for (const struct pt_node *node = finding->first; node; node = node->next)
        for (const struct pt_node *fact = node->first; fact; fact = fact->next)
            if (fact->kind == PT_NODE_LIST)
                put_table(t, fact, "      ");
}

static void put_list(const struct text *t, const struct pt_node *list)
{
    pt_u32 number = 0;
    switch (list->layout) {
    case PT_LAYOUT_TABLE:
        put_table(t, list, "");
        break;
    case PT_LAYOUT_CALLOUTS:
        for (const struct pt_node *item = list->first; item; item = item->next)
            put_callout(t, item, ++number);
        break;
    case PT_LAYOUT_LINES:
    case PT_LAYOUT_PLAIN: {
        /* A folder of thousands of damaged files has a note for each; report.json keeps them all. */
        enum { MOST_LINES = 20 };
        pt_u32 n = 0, left = 0;
        for (const struct pt_node *item = list->first; item; item = item->next) {
            if (n++ >= MOST_LINES) {
                left++;
                continue;
            }
            pt_str_add(t->out, "  ");
            put_value(t, item);
            pt_str_char(t->out, '\n');
        }
        if (left)
            pt_str_printf(t->out, "  ... and %s more\n", pt_fmt_count(left).text);
        break;
    }
    }
}

static void put_node(const struct text *t, const struct pt_node *node, int width)
{
    if (!node->label)
        return;
    switch (node->kind) {
    case PT_NODE_CHART:
    case PT_NODE_FLAME:
        break;
    case PT_NODE_VALUE:
        put_line(t, node, "", width);
        break;
    case PT_NODE_LIST:
        if (!node->first)
            break;
        put_heading(t, node->label);
        put_list(t, node);
        break;
    case PT_NODE_GROUP:
        put_heading(t, node->label);
        for (const struct pt_node *child = node->first; child; child = child->next)
            put_node(t, child, label_width(node->first));
        break;
    }
}

void pt_render_text_nodes(const struct pt_node *first, const struct pt_render_options *options, struct pt_str *out)
{
    const struct text t = {options, out};
    for (const struct pt_node *node = first; node; node = node->next)
        put_node(&t, node, label_width(first));
}

void pt_render_text(const struct pt_doc *doc, const struct pt_render_options *options, struct pt_str *out)
{
    pt_render_text_nodes(doc->root->first, options, out);
}
