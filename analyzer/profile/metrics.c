/* SPDX-License-Identifier: MIT
 *
 * Owns: the store of named values and tables. Threads: one at a time. Never: interprets what it stores.
 */
#include "metrics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

#define MIB (1024.0 * 1024.0)

static bool same_scope(struct pt_scope a, struct pt_scope b)
{
    return a.kind == b.kind && a.index == b.index;
}

static pt_u64 key_of(struct pt_scope scope, const char *name, pt_u32 probe)
{
    return pt_hash_text(name, PT_HASH_OF_TEXT ^ ((pt_u64)scope.kind << 32 | scope.index) ^ (pt_u64)probe << 48);
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

/* ---- tables ---- */

struct pt_table *pt_metrics_add_table(struct pt_metrics *metrics, struct pt_scope scope,
                                      const struct pt_table_kind *kind)
{
    struct pt_table *table = pt_table_new(kind);
    pt_vec_push(&metrics->tables, table);
    table->scope = scope;
    return table;
}

static struct pt_table *table_of(struct pt_rows *rows)
{
    if (rows->table)
        return rows->table;
    rows->table = pt_metrics_add_table(rows->metrics, rows->scope, rows->kind);
    if (rows->without)
        pt_table_drop_column(rows->table, rows->without);
    return rows->table;
}

bool pt_rows_have_room(struct pt_rows *rows)
{
    return pt_table_has_room(table_of(rows));
}

void pt_rows_add(struct pt_rows *rows, const void *row)
{
    pt_table_add(table_of(rows), row);
}

void pt_rows_leave_out(struct pt_rows *rows, pt_u64 n)
{
    if (n)
        table_of(rows)->rows_left_out += n;
}

static const struct pt_table *find_table(const struct pt_metrics *metrics, struct pt_scope scope, enum pt_view view)
{
    for (size_t i = 0; i < metrics->tables.n; i++) {
        const struct pt_table *table = metrics->tables.items[i];
        if (same_scope(table->scope, scope) && table->view == view)
            return table;
    }
    return NULL;
}

const struct pt_table *pt_metrics_find_table(const struct pt_metrics *metrics, struct pt_scope scope, const char *name)
{
    for (enum pt_view view = 0; view < PT_VIEW__COUNT; view++)
        if (!strcmp(pt_table_views[view].name, name))
            return find_table(metrics, scope, view);
    return NULL;
}

const struct pt_table *pt_view_table(const struct pt_metrics *metrics, pt_u32 stage, enum pt_view view)
{
    return find_table(metrics, pt_scope_stage(stage), view);
}

const struct pt_table *pt_view_rows(const struct pt_metrics *metrics, pt_u32 stage, enum pt_view view)
{
    const struct pt_table *table = pt_view_table(metrics, stage, view);
    return table && table->n_rows ? table : NULL;
}

struct pt_value pt_view_value(const struct pt_metrics *metrics, pt_u32 stage, const struct pt_metric_view *view)
{
    const struct pt_value value = pt_metrics_get(metrics, pt_scope_stage(stage), view->metric);
    if (view->show != PT_SHOW_MIB || value.type == PT_VALUE_UNKNOWN)
        return value;
    return pt_real(pt_value_number(value) / MIB);
}

const char *pt_metrics_text(struct pt_metrics *metrics, const char *text)
{
    return text ? pt_arena_text(&metrics->texts, text, strlen(text)) : NULL;
}

const char *pt_metrics_format(struct pt_metrics *metrics, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = pt_arena_vformat(&metrics->texts, format, arguments);
    va_end(arguments);
    return text;
}

void pt_metrics_free(struct pt_metrics *metrics)
{
    for (size_t i = 0; i < metrics->tables.n; i++)
        pt_table_free(metrics->tables.items[i]);
    free(metrics->tables.items);
    free(metrics->values.items);
    pt_map_fini(&metrics->by_key);
    pt_arena_fini(&metrics->texts);
    *metrics = (struct pt_metrics){0};
}
