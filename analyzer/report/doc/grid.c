/* SPDX-License-Identifier: MIT
 *
 * Owns: the text of table cells while a table is rendered. Threads: one per grid. Never: prints.
 */
#include "grid.h"

#include <stdlib.h>

pt_u32 pt_text_width(const char *text)
{
    pt_u32 width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

size_t pt_text_prefix(const char *text, pt_u32 characters)
{
    size_t bytes = 0;
    for (; text[bytes]; bytes++)
        if (((unsigned char)text[bytes] & 0xc0) != 0x80 && !characters--)
            break;
    return bytes;
}

static bool is_empty(const struct pt_node *list, const struct pt_node *column)
{
    for (const struct pt_node *item = list->first; item; item = item->next) {
        const struct pt_node *cell = pt_node_child(item, column->key);
        if (!cell || cell->value.type == PT_VALUE_UNKNOWN)
            continue;
        if (cell->value.type == PT_VALUE_TEXT ? cell->value.text[0] != 0 : pt_value_number(cell->value) != 0)
            return false;
    }
    return true;
}

static void drop_empty(struct pt_grid *grid, const struct pt_node *list)
{
    pt_u32 kept = 1;
    for (pt_u32 i = 1; i < grid->n_columns; i++)
        if (!is_empty(list, grid->columns[i]))
            grid->columns[kept++] = grid->columns[i];
    grid->n_columns = kept;
}

static void fill_cell(struct pt_str *cell, const struct pt_node *node, enum pt_show_style style, pt_sanitizer *sanitize)
{
    struct pt_str raw = {0};
    if (node)
        pt_show_value(&raw, node, style);
    sanitize(cell, pt_str_text(&raw));
    pt_str_fini(&raw);
}

void pt_grid_fill(struct pt_grid *grid, const struct pt_node *list, enum pt_show_style style, pt_sanitizer *sanitize,
                  bool leave_out_empty)
{
    *grid = (struct pt_grid){0};
    grid->n_columns = pt_node_columns(list, grid->columns, PT_GRID_COLUMNS);
    if (leave_out_empty && grid->n_columns)
        drop_empty(grid, list);
    for (const struct pt_node *item = list->first; item; item = item->next)
        grid->n_rows++;
    grid->cells = pt_calloc(grid->n_rows * grid->n_columns, sizeof *grid->cells);
    for (pt_u32 i = 0; i < grid->n_columns; i++)
        grid->width[i] = pt_text_width(grid->columns[i]->label);
    struct pt_str *cell = grid->cells;
    for (const struct pt_node *item = list->first; item; item = item->next) {
        for (pt_u32 i = 0; i < grid->n_columns; i++, cell++) {
            fill_cell(cell, pt_node_child(item, grid->columns[i]->key), style, sanitize);
            const pt_u32 width = pt_text_width(pt_str_text(cell));
            if (width > grid->width[i])
                grid->width[i] = width;
        }
    }
}

void pt_grid_fini(struct pt_grid *grid)
{
    for (size_t i = 0; i < grid->n_rows * grid->n_columns; i++)
        pt_str_fini(&grid->cells[i]);
    free(grid->cells);
}
