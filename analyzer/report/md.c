/* SPDX-License-Identifier: MIT
 *
 * Owns: report.md, laid out for a pull request comment: below 60 KB, details folded. Threads: any. Never: lets a
 * recorded name make markup.
 */
#include <string.h>

#include "report/doc/grid.h"
#include "util/auto.h"
#include "util/text/sanitize.h"
#include "render.h"

enum { MOST_BYTES = 58 * 1024, LONGEST_CELL = 160, LONGEST_LOG_LINE = 500 };

/* Cut before it is escaped, so that no escape is torn apart. */
static void cut_text(struct pt_str *out, const char *text, pt_u32 most)
{
    const size_t bytes = pt_text_prefix(text, most);
    pt_str_bytes(out, text, bytes);
    if (text[bytes])
        pt_str_add(out, "...");
}

static void sanitize_cell(struct pt_str *out, const char *text)
{
    PT_AUTO(pt_str_fini) struct pt_str cut = {0};
    cut_text(&cut, text, LONGEST_CELL);
    pt_sanitize_markdown(out, pt_str_text(&cut));
}

static void put_value(struct pt_str *out, const struct pt_node *node)
{
    PT_AUTO(pt_str_fini) struct pt_str raw = {0};
    pt_show_value(&raw, node, PT_STYLE_COMPACT);
    pt_sanitize_markdown(out, pt_str_text(&raw));
}

static void put_table(struct pt_str *out, const struct pt_node *list, bool is_first_table)
{
    struct pt_grid grid;
    pt_grid_fill(&grid, list, PT_STYLE_COMPACT, sanitize_cell, !is_first_table);
    for (pt_u32 i = 0; i < grid.n_columns; i++)
        pt_str_printf(out, "| %s ", grid.columns[i]->label);
    pt_str_add(out, "|\n");
    for (pt_u32 i = 0; i < grid.n_columns; i++) {
        pt_str_char(out, '|');
        for (pt_u32 dashes = pt_text_width(grid.columns[i]->label) + 2; dashes; dashes--)
            pt_str_char(out, '-');
    }
    pt_str_add(out, "|\n");
    for (size_t row = 0; row < grid.n_rows; row++) {
        for (pt_u32 i = 0; i < grid.n_columns; i++)
            pt_str_printf(out, "| %s ", pt_str_text(pt_grid_cell(&grid, row, i)));
        pt_str_add(out, "|\n");
    }
    if (list->rows_left_out)
        pt_str_printf(out, "\n... and %s more\n", pt_fmt_count(list->rows_left_out).text);
    pt_grid_fini(&grid);
}

static void put_line(struct pt_str *out, const struct pt_node *node)
{
    pt_str_add(out, "- ");
    pt_sanitize_markdown(out, node->label); /* a metric's key is the user's */
    pt_str_add(out, ": ");
    put_value(out, node);
    if (node->value.type == PT_VALUE_UNKNOWN && node->value.reason) {
        pt_str_add(out, " (");
        pt_sanitize_markdown(out, node->value.reason);
        pt_str_char(out, ')');
    }
    pt_str_char(out, '\n');
}

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

static const char *line_of(const struct pt_node *item)
{
    return item->value.type == PT_VALUE_TEXT ? item->value.text : "";
}

/* The last lines of a log, in a fence that none of them can close. */
static void put_quoted(struct pt_str *out, const struct pt_node *list, pt_u32 number)
{
    size_t ticks = 3;
    for (const struct pt_node *item = list->first; item; item = item->next) {
        const size_t run = longest_run(line_of(item), '`');
        ticks = run >= ticks ? run + 1 : ticks;
    }
    if (!list->first)
        return;
    pt_str_char(out, '\n');
    put_fence(out, number, ticks);
    for (const struct pt_node *item = list->first; item; item = item->next) {
        PT_AUTO(pt_str_fini) struct pt_str cut = {0};
        cut_text(&cut, line_of(item), LONGEST_LOG_LINE);
        put_indent(out, number);
        pt_sanitize_terminal(out, pt_str_text(&cut));
        pt_str_char(out, '\n');
    }
    put_fence(out, number, ticks);
}

static void put_facts(struct pt_str *out, const struct pt_node *group, pt_u32 number)
{
    for (const struct pt_node *fact = group->first; fact; fact = fact->next) {
        if (fact->kind != PT_NODE_VALUE)
            continue;
        put_indent(out, number);
        put_line(out, fact);
    }
}

static void put_callout(struct pt_str *out, const struct pt_node *finding, pt_u32 number)
{
    pt_str_printf(out, "%u. **", number);
    for (const struct pt_node *node = finding->first; node; node = node->next) {
        if (!node->column)
            continue;
        pt_str_add(out, node->column > 1 ? ", " : "");
        pt_str_add(out, node->show == PT_SHOW_SECONDS ? "up to " : "");
        put_value(out, node);
    }
    pt_str_add(out, "**\n");
    for (const struct pt_node *node = finding->first; node; node = node->next) {
        if (node->column || !node->label)
            continue;
        if (node->kind == PT_NODE_VALUE) {
            put_indent(out, number);
            put_line(out, node);
        } else if (node->kind == PT_NODE_LIST) {
            put_quoted(out, node, number);
        } else {
            put_facts(out, node, number);
        }
    }
    for (const struct pt_node *node = finding->first; node; node = node->next) {
        for (const struct pt_node *fact = node->first; fact; fact = fact->next) {
            if (fact->kind != PT_NODE_LIST)
                continue;
            pt_str_char(out, '\n');
            put_table(out, fact, false);
        }
    }
    pt_str_char(out, '\n');
}

static void put_list(struct pt_str *out, const struct pt_node *list, bool is_first_table)
{
    pt_u32 number = 0;
    switch (list->layout) {
    case PT_LAYOUT_TABLE:
        put_table(out, list, is_first_table);
        break;
    case PT_LAYOUT_CALLOUTS:
        for (const struct pt_node *item = list->first; item; item = item->next)
            put_callout(out, item, ++number);
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
            pt_str_add(out, "- ");
            put_value(out, item);
            pt_str_char(out, '\n');
        }
        if (left)
            pt_str_printf(out, "- ... and %s more\n", pt_fmt_count(left).text);
        break;
    }
    }
}

static void put_heading(struct pt_str *out, const struct pt_node *node, int level)
{
    pt_str_char(out, '\n');
    for (int i = 0; i < level; i++)
        pt_str_char(out, '#');
    pt_str_char(out, ' ');
    pt_sanitize_markdown(out, node->label);
    /* The seeds of this format have the summary's table right below its heading. */
    pt_str_add(out, level == 2 ? "\n" : "\n\n");
}

static void put_node(struct pt_str *out, const struct pt_node *node, int level)
{
    if (!node->label || (node->kind == PT_NODE_LIST && !node->first))
        return;
    const bool is_summary = node->key && !strcmp(node->key, "stages");
    switch (node->kind) {
    case PT_NODE_CHART:
    case PT_NODE_FLAME:
        break;
    case PT_NODE_VALUE:
        put_line(out, node);
        break;
    case PT_NODE_LIST:
        put_heading(out, node, level);
        put_list(out, node, is_summary);
        break;
    case PT_NODE_GROUP:
        put_heading(out, node, level);
        for (const struct pt_node *child = node->first; child; child = child->next)
            put_node(out, child, level + 1);
        break;
    }
}

static void put_section(struct pt_str *out, const struct pt_node *node)
{
    if (!node->is_detail || !node->label || node->kind == PT_NODE_FLAME) {
        put_node(out, node, 2);
        return;
    }
    pt_str_add(out, "\n<details><summary>");
    pt_sanitize_markdown_html(out, node->label);
    pt_str_add(out, "</summary>\n");
    put_node(out, node, 2);
    pt_str_add(out, "\n</details>\n");
}

void pt_render_md(const struct pt_doc *doc, const struct pt_render_options *options, struct pt_str *out)
{
    (void)options;
    bool left_out = false;
    pt_str_add(out, "# Pipeline Profile Report\n\n");
    for (const struct pt_node *node = doc->root->first; node; node = node->next) {
        PT_AUTO(pt_str_fini) struct pt_str section = {0};
        put_section(&section, node);
        /* A section that does not fit is left out whole: half a table would not be one. */
        if (out->n + section.n > MOST_BYTES)
            left_out = true;
        else
            pt_str_add(out, pt_str_text(&section));
    }
    if (left_out)
        pt_str_add(out, "\nSome tables were left out for size; report.json has them all.\n");
    pt_str_add(out, "\n<!-- proftrace:report -->\n");
}
