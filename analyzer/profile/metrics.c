/* SPDX-License-Identifier: MIT
 *
 * Owns: the store of named values and tables. Threads: one at a time. Never: interprets what it stores.
 */
#include "metrics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double pt_value_number(struct pt_value value)
{
    switch (value.type) {
    case PT_VALUE_INTEGER:
    case PT_VALUE_BOOL:
        return (double)value.integer;
    case PT_VALUE_REAL:
        return value.real;
    case PT_VALUE_UNKNOWN:
    case PT_VALUE_TEXT:
        break;
    }
    return 0;
}

static bool same_scope(struct pt_scope a, struct pt_scope b)
{
    return a.kind == b.kind && a.index == b.index;
}

static pt_u64 key_of(struct pt_scope scope, const char *name, pt_u32 probe)
{
    pt_u64 hash = 0xcbf29ce484222325ull ^ ((pt_u64)scope.kind << 32 | scope.index) ^ (pt_u64)probe << 48;
    for (; *name; name++)
        hash = (hash ^ (pt_u8)*name) * 0x100000001b3ull;
    return hash;
}

/* Two names can share a hash: the next probe number gives the second one a key of its own. */
static struct pt_metric *find(const struct pt_metrics *metrics, struct pt_scope scope, const char *name,
                              pt_u64 *ret_free_key)
{
    for (pt_u32 probe = 0;; probe++) {
        const pt_u64 key = key_of(scope, name, probe);
        const pt_u64 *index = pt_map_find(&metrics->by_key, key);
        if (!index) {
            *ret_free_key = key;
            return NULL;
        }
        struct pt_metric *item = &metrics->values.items[*index - 1];
        if (same_scope(item->scope, scope) && !strcmp(item->name, name))
            return item;
    }
}

void pt_metrics_set(struct pt_metrics *metrics, struct pt_scope scope, const char *name, struct pt_value value)
{
    pt_u64 key;
    struct pt_metric *item = find(metrics, scope, name, &key);
    if (!item) {
        pt_vec_push(&metrics->values, ((struct pt_metric){scope, name, value}));
        *pt_map_at(&metrics->by_key, key) = metrics->values.n;
        return;
    }
    item->value = value;
}

bool pt_metrics_has(const struct pt_metrics *metrics, struct pt_scope scope, const char *name)
{
    pt_u64 key;
    return find(metrics, scope, name, &key) != NULL;
}

struct pt_value pt_metrics_get(const struct pt_metrics *metrics, struct pt_scope scope, const char *name)
{
    pt_u64 key;
    const struct pt_metric *item = find(metrics, scope, name, &key);
    return item ? item->value : pt_unknown("not measured");
}

struct pt_table *pt_metrics_table(struct pt_metrics *metrics, struct pt_scope scope, const char *name,
                                  const char *title, const struct pt_column *columns, pt_u32 n_columns)
{
    struct pt_table *table = pt_calloc(1, sizeof *table);
    pt_vec_push(&metrics->tables, table);
    table->name = name;
    table->title = title;
    table->scope = scope;
    table->n_columns = n_columns < PT_MAX_COLUMNS ? n_columns : PT_MAX_COLUMNS;
    memcpy(table->columns, columns, table->n_columns * sizeof *columns);
    return table;
}

const struct pt_table *pt_metrics_find_table(const struct pt_metrics *metrics, struct pt_scope scope, const char *name)
{
    for (size_t i = 0; i < metrics->tables.n; i++) {
        const struct pt_table *table = metrics->tables.items[i];
        if (same_scope(table->scope, scope) && !strcmp(table->name, name))
            return table;
    }
    return NULL;
}

struct pt_value *pt_table_add_row(struct pt_table *table)
{
    table->values =
        pt_vec_grow(table->values, table->n_rows, &table->row_capacity, table->n_columns * sizeof *table->values);
    struct pt_value *row = table->values + table->n_rows++ * table->n_columns;
    for (pt_u32 i = 0; i < table->n_columns; i++)
        row[i] = pt_unknown(NULL);
    return row;
}

pt_u32 pt_table_column(const struct pt_table *table, const char *key)
{
    pt_u32 i = 0;
    while (i < table->n_columns && strcmp(table->columns[i].key, key) != 0)
        i++;
    return i;
}

const char *pt_metrics_text(struct pt_metrics *metrics, const char *text)
{
    return text ? pt_arena_text(&metrics->texts, text, strlen(text)) : NULL;
}

const char *pt_metrics_format(struct pt_metrics *metrics, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    const char *copy = pt_arena_text(&metrics->texts, length < 0 ? "" : text, length < 0 ? 0 : (size_t)length);
    if (length >= 0)
        free(text);
    return copy;
}

void pt_metrics_free(struct pt_metrics *metrics)
{
    for (size_t i = 0; i < metrics->tables.n; i++) {
        free(metrics->tables.items[i]->values);
        free(metrics->tables.items[i]);
    }
    free(metrics->tables.items);
    free(metrics->values.items);
    pt_map_fini(&metrics->by_key);
    pt_arena_fini(&metrics->texts);
    *metrics = (struct pt_metrics){0};
}
