/* SPDX-License-Identifier: MIT
 *
 * Owns: the text of table cells while a table is rendered. Threads: one per grid. Never: prints.
 */
#include "grid.h"

#include <stdlib.h>

#include "util/mem.h"
#include "util/text/width.h"

static bool is_empty(const struct pt_grid *grid, const struct pt_column *column)
{
    for (size_t row = 0; row < grid->n_rows; row++) {
        const struct pt_value value = pt_grid_value(grid, row, column).value;
        if (value.type == PT_VALUE_UNKNOWN)
            continue;
        if (value.type == PT_VALUE_TEXT ? value.text[0] != 0 : pt_value_number(value) != 0)
            return false;
    }
    return true;
}

/* The columns that people see, in the order of the panel. */
static void take_columns(struct pt_grid *grid, const struct pt_panel *panel, bool leave_out_empty)
{
    const pt_u32 n = panel->columns ? panel->n_columns : panel->table->n_columns;
    for (pt_u32 i = 0; i < n; i++) {
        const struct pt_column *column = &panel->table->columns[panel->columns ? panel->columns[i] : i];
        if (!column->label)
            continue;
        if (leave_out_empty && grid->n_columns && is_empty(grid, column))
            grid->left_out[grid->n_left_out++] = column;
        else
            grid->columns[grid->n_columns++] = column;
    }
}

static void fill_cell(struct pt_str *text, struct pt_cell cell, enum pt_show_style style, pt_sanitizer *sanitize)
{
    struct pt_str raw = {0};
    pt_show_value(&raw, cell, style);
    sanitize(text, pt_str_text(&raw));
    pt_str_fini(&raw);
}

void pt_grid_fill(struct pt_grid *grid, const struct pt_panel *panel, enum pt_show_style style, pt_sanitizer *sanitize,
                  bool leave_out_empty)
{
    const struct pt_table *table = panel->table;
    *grid = (struct pt_grid){.table = table, .n_rows = table->n_rows < panel->most ? table->n_rows : panel->most};
    grid->rows_left_out = table->rows_left_out + (table->n_rows - grid->n_rows);
    take_columns(grid, panel, leave_out_empty);
    grid->cells = pt_calloc(grid->n_rows * grid->n_columns, sizeof *grid->cells);
    for (pt_u32 i = 0; i < grid->n_columns; i++) {
        sanitize(&grid->headings[i], grid->columns[i]->label);
        grid->width[i] = pt_text_width(pt_str_text(&grid->headings[i]));
    }
    struct pt_str *text = grid->cells;
    for (size_t row = 0; row < grid->n_rows; row++) {
        for (pt_u32 i = 0; i < grid->n_columns; i++, text++) {
            fill_cell(text, pt_grid_value(grid, row, grid->columns[i]), style, sanitize);
            const pt_u32 width = pt_text_width(pt_str_text(text));
            if (width > grid->width[i])
                grid->width[i] = width;
        }
    }
}

void pt_grid_fini(struct pt_grid *grid)
{
    for (pt_u32 i = 0; i < grid->n_columns; i++)
        pt_str_fini(&grid->headings[i]);
    for (size_t i = 0; i < grid->n_rows * grid->n_columns; i++)
        pt_str_fini(&grid->cells[i]);
    free(grid->cells);
}
