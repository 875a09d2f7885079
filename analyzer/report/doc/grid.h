/* SPDX-License-Identifier: MIT
 *
 * grid.h - the cells of a list as sanitised text, with their widths: what both table renderers start from.
 */
#ifndef PT_REPORT_DOC_GRID_H
#define PT_REPORT_DOC_GRID_H

#include "show.h"

enum { PT_GRID_COLUMNS = 32 };

struct pt_grid {
    const struct pt_node *columns[PT_GRID_COLUMNS];
    pt_u32 width[PT_GRID_COLUMNS]; /* in characters, heading included */
    pt_u32 n_columns;
    size_t n_rows;
    struct pt_str *cells; /* n_rows x n_columns */
};

typedef void pt_sanitizer(struct pt_str *out, const char *text);

/* leave_out_empty: without the columns (but the first) in which no row has anything but zero or unknown. */
void pt_grid_fill(struct pt_grid *grid, const struct pt_node *list, enum pt_show_style style, pt_sanitizer *sanitize,
                  bool leave_out_empty);
void pt_grid_fini(struct pt_grid *grid);
static inline const struct pt_str *pt_grid_cell(const struct pt_grid *grid, size_t row, pt_u32 column)
{
    return &grid->cells[row * grid->n_columns + column];
}

/* Characters of a text (code points; names with combining characters come out a little narrow). */
pt_u32 pt_text_width(const char *text);
/* Bytes of the first `characters` characters. */
size_t pt_text_prefix(const char *text, pt_u32 characters);

#endif
