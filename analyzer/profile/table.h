/* SPDX-License-Identifier: MIT
 *
 * table.h - a table: columns that are bound to the fields of a row struct, and rows of values.
 *
 * What makes a table declares a struct for its rows and one PT_COLUMN per field; it hands over such structs. No row is
 * a list of values in the order of a list of columns. Readers ask for a column by its key.
 */
#ifndef PT_PROFILE_TABLE_H
#define PT_PROFILE_TABLE_H

#include <stddef.h>

#include "value.h"
#include "views.h"

enum pt_field_type { PT_FIELD_VALUE, PT_FIELD_TEXT, PT_FIELD_U64, PT_FIELD_U32, PT_FIELD_DOUBLE, PT_FIELD_BOOL };

struct pt_column {
    const char *key;   /* as in JSON, unit last */
    const char *label; /* as people read it; NULL = not for them */
    enum pt_show show;
    enum pt_field_type type; /* of the field that holds it, and where that lies in the row */
    pt_u32 offset;
};

/* A column of `row` (a struct), from its field of the type that its value has. Seconds are double; NULL is an unknown
 * text; what is unknown for a reason is a struct pt_value. */
#define PT_COLUMN_AT(row, field, key, show, label)                                                                       \
    {                                                                                                                    \
        key, label, PT_SHOW_##show,                                                                                    \
            _Generic((row){}.field,                                                                                      \
                struct pt_value: PT_FIELD_VALUE,                                                                       \
                const char *: PT_FIELD_TEXT,                                                                           \
                pt_u64: PT_FIELD_U64,                                                                                  \
                pt_u32: PT_FIELD_U32,                                                                                  \
                double: PT_FIELD_DOUBLE,                                                                               \
                bool: PT_FIELD_BOOL),                                                                                  \
            offsetof(row, field) \
    }
/* The same, of a field that has the name of its key. */
#define PT_COLUMN(row, field, show, label) PT_COLUMN_AT(row, field, #field, show, label)

#define PT_MAX_COLUMNS 40

/* What a table is, before it has rows. */
struct pt_table_kind {
    enum pt_view view;
    size_t most; /* rows that are kept: the others are counted; 0 = all */
    const struct pt_column *columns;
    pt_u32 n_columns;
};
/* The last two, of an array of columns. */
#define PT_COLUMNS(array) .columns = (array), .n_columns = sizeof(array) / sizeof *(array)

struct pt_table {
    enum pt_view view; /* PT_VIEW__COUNT = none: a table of a document */
    struct pt_scope scope;
    struct pt_column columns[PT_MAX_COLUMNS];
    pt_u32 n_columns;
    size_t n_rows, row_capacity, most; /* most: 0 = all */
    struct pt_value *values;           /* n_rows x n_columns */
    pt_u64 rows_left_out;              /* found, but below the cut */
};

/* A new one; columns are copied. */
struct pt_table *pt_table_new(const struct pt_table_kind *kind);
void pt_table_free(struct pt_table *table);

/* Before the first row: a table without one of its columns, or with another label for it. */
void pt_table_drop_column(struct pt_table *table, const char *key);
void pt_table_relabel(struct pt_table *table, const char *key, const char *label);

/* False = it has as many rows as are kept, and one more is counted as left out: for rows that are costly to make. */
bool pt_table_has_room(struct pt_table *table);
/* A row from the struct that the columns are bound to; counted only when there is no room. */
void pt_table_add(struct pt_table *table, const void *row);
/* A row of a table with the same columns. */
void pt_table_copy_row(struct pt_table *table, const struct pt_table *from, size_t row);

/* The number of a column; n_columns = there is none of that key. */
pt_u32 pt_table_column(const struct pt_table *table, const char *key);
static inline const struct pt_value *pt_table_row(const struct pt_table *table, size_t row)
{
    return table->values + row * table->n_columns;
}
/* Unknown when there is no such column. */
struct pt_value pt_table_cell(const struct pt_table *table, size_t row, const char *key);
/* The same as a number; 0 where it is unknown. */
static inline double pt_table_number(const struct pt_table *table, size_t row, const char *key)
{
    return pt_value_number(pt_table_cell(table, row, key));
}

#endif
