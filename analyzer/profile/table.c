/* SPDX-License-Identifier: MIT
 *
 * Owns: the rows of tables. Threads: one per table. Never: interprets what they hold.
 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/vec.h"

struct pt_table *pt_table_new(const struct pt_table_kind *kind)
{
    struct pt_table *table = pt_calloc(1, sizeof *table);
    table->view = kind->view;
    table->most = kind->most;
    table->n_columns = kind->n_columns < PT_MAX_COLUMNS ? kind->n_columns : PT_MAX_COLUMNS;
    memcpy(table->columns, kind->columns, table->n_columns * sizeof *kind->columns);
    return table;
}

void pt_table_free(struct pt_table *table)
{
    free(table->values);
    free(table);
}

void pt_table_drop_column(struct pt_table *table, const char *key)
{
    const pt_u32 at = pt_table_column(table, key);
    if (at == table->n_columns)
        return;
    table->n_columns--;
    memmove(&table->columns[at], &table->columns[at + 1], (table->n_columns - at) * sizeof *table->columns);
}

void pt_table_relabel(struct pt_table *table, const char *key, const char *label)
{
    const pt_u32 at = pt_table_column(table, key);
    if (at < table->n_columns)
        table->columns[at].label = label;
}

bool pt_table_has_room(struct pt_table *table)
{
    const bool has_room = !table->most || table->n_rows < table->most;
    table->rows_left_out += !has_room;
    return has_room;
}

static struct pt_value value_of(const struct pt_column *column, const void *row)
{
    const void *field = (const char *)row + column->offset;
    switch (column->type) {
    case PT_FIELD_VALUE:
        return *(const struct pt_value *)field;
    case PT_FIELD_TEXT:
        return pt_text(*(const char *const *)field);
    case PT_FIELD_U64:
        return pt_integer(*(const pt_u64 *)field);
    case PT_FIELD_U32:
        return pt_integer(*(const pt_u32 *)field);
    case PT_FIELD_DOUBLE:
        return pt_real(*(const double *)field);
    case PT_FIELD_BOOL:
        return pt_bool(*(const bool *)field);
    }
    return pt_unknown(NULL);
}

static struct pt_value *new_row(struct pt_table *table)
{
    table->values =
        pt_vec_grow(table->values, table->n_rows, &table->row_capacity, table->n_columns * sizeof *table->values);
    return table->values + table->n_rows++ * table->n_columns;
}

void pt_table_add(struct pt_table *table, const void *row)
{
    if (!pt_table_has_room(table))
        return;
    struct pt_value *values = new_row(table);
    for (pt_u32 i = 0; i < table->n_columns; i++)
        values[i] = value_of(&table->columns[i], row);
}

void pt_table_copy_row(struct pt_table *table, const struct pt_table *from, size_t row)
{
    memcpy(new_row(table), pt_table_row(from, row), table->n_columns * sizeof *table->values);
}

pt_u32 pt_table_column(const struct pt_table *table, const char *key)
{
    pt_u32 i = 0;
    while (i < table->n_columns && strcmp(table->columns[i].key, key) != 0)
        i++;
    return i;
}

struct pt_value pt_table_cell(const struct pt_table *table, size_t row, const char *key)
{
    const pt_u32 column = pt_table_column(table, key);
    return column < table->n_columns ? pt_table_row(table, row)[column] : pt_unknown(NULL);
}
