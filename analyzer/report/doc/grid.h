/* SPDX-License-Identifier: MIT
 *
 * grid.h - the cells of a table as sanitised text, with their widths: what all table renderers start from.
 */
#ifndef PT_REPORT_DOC_GRID_H
#define PT_REPORT_DOC_GRID_H

#include "show.h"

struct pt_grid {
    const struct pt_table *table;
    const struct pt_column *columns[PT_MAX_COLUMNS];
    struct pt_str headings[PT_MAX_COLUMNS]; /* sanitised: a quality metric's key is the user's */
    pt_u32 width[PT_MAX_COLUMNS];           /* in characters, heading included */
    pt_u32 n_columns;
    const struct pt_column *left_out[PT_MAX_COLUMNS]; /* columns without anything in any row */
    pt_u32 n_left_out;
    size_t n_rows;
    pt_u64 rows_left_out;
    struct pt_str *cells; /* n_rows x n_columns */
};

typedef void pt_sanitizer(struct pt_str *out, const char *text);

/* leave_out_empty: without the columns (but the first) in which no row has anything but zero or unknown. */
void pt_grid_fill(struct pt_grid *grid, const struct pt_panel *panel, enum pt_show_style style, pt_sanitizer *sanitize,
                  bool leave_out_empty);
void pt_grid_fini(struct pt_grid *grid);
static inline const struct pt_str *pt_grid_cell(const struct pt_grid *grid, size_t row, pt_u32 column)
{
    return &grid->cells[row * grid->n_columns + column];
}

/* The value of a cell. */
static inline struct pt_cell pt_grid_value(const struct pt_grid *grid, size_t row, const struct pt_column *column)
{
    return (struct pt_cell){column->show, pt_table_row(grid->table, row)[column - grid->table->columns]};
}

#endif
