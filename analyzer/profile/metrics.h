/* SPDX-License-Identifier: MIT
 *
 * metrics.h - what the analyses found: named values and named tables, each for the run, a stage or a process.
 *
 * Names are dotted, the unit last: io.read.bytes, meta.cost_s, heap.live_peak.bytes. A value is known, or unknown with
 * the reason; it is never 0 instead of unknown. Rules and reports see only this, never events. Zeroed = empty.
 */
#ifndef PT_PROFILE_METRICS_H
#define PT_PROFILE_METRICS_H

#include "util/arena.h"
#include "util/map.h"
#include "util/vec.h"
#include "table.h"
#include "value.h"
#include "views.h"

struct pt_metric {
    struct pt_scope scope;
    const char *name;
    struct pt_value value;
};

struct pt_metrics {
    struct {
        PT_VEC(struct pt_metric);
    } values;
    struct {
        PT_VEC(struct pt_table *);
    } tables;
    struct pt_map by_key;  /* hash of scope and name -> index in values, plus 1 */
    struct pt_arena texts; /* of everything that a value or table names */
};

/* `name` is a literal. Setting twice replaces. */
void pt_metrics_set(struct pt_metrics *metrics, struct pt_scope scope, const char *name, struct pt_value value);
/* Unknown, with the reason, when no analysis set it. */
struct pt_value pt_metrics_get(const struct pt_metrics *metrics, struct pt_scope scope, const char *name);
/* Whether any analysis set it, known or not. */
bool pt_metrics_has(const struct pt_metrics *metrics, struct pt_scope scope, const char *name);

/* ---- tables ---- */

/* A new table, which reports know by its view. */
struct pt_table *pt_metrics_add_table(struct pt_metrics *metrics, struct pt_scope scope,
                                      const struct pt_table_kind *kind);

/* A table that there is only when it has a row. */
struct pt_rows {
    struct pt_metrics *metrics;
    struct pt_scope scope;
    const struct pt_table_kind *kind;
    const char *without;    /* key of a column that is left out; NULL = none */
    struct pt_table *table; /* NULL = no row yet */
};
static inline struct pt_rows pt_rows(struct pt_metrics *metrics, struct pt_scope scope,
                                     const struct pt_table_kind *kind)
{
    return (struct pt_rows){.metrics = metrics, .scope = scope, .kind = kind};
}
/* As pt_table_has_room and pt_table_add. */
bool pt_rows_have_room(struct pt_rows *rows);
void pt_rows_add(struct pt_rows *rows, const void *row);
/* So many more were found, of which nothing else is known. */
void pt_rows_leave_out(struct pt_rows *rows, pt_u64 n);

/* NULL when there is none. */
const struct pt_table *pt_metrics_find_table(const struct pt_metrics *metrics, struct pt_scope scope, const char *name);
/* The table of a view; NULL = no analysis made one. */
const struct pt_table *pt_view_table(const struct pt_metrics *metrics, pt_u32 stage, enum pt_view view);
/* The same; NULL when it has no rows, too. */
const struct pt_table *pt_view_rows(const struct pt_metrics *metrics, pt_u32 stage, enum pt_view view);
/* The value of a view for a stage, in the unit of the view. */
struct pt_value pt_view_value(const struct pt_metrics *metrics, pt_u32 stage, const struct pt_metric_view *view);

/* Texts that live as long as the metrics. */
__attribute__((format(printf, 2, 3))) const char *pt_metrics_format(struct pt_metrics *metrics, const char *format,
                                                                    ...);
const char *pt_metrics_text(struct pt_metrics *metrics, const char *text);

void pt_metrics_free(struct pt_metrics *metrics);

#endif
