/* SPDX-License-Identifier: MIT
 *
 * metrics.h - what the analyses found: named values and named tables, each for the run, a stage or a process.
 *
 * Names are dotted, the unit last: io.read.bytes, meta.cost_s, heap.live_peak.bytes. A value is known, or unknown with
 * the reason; it is never a stand-in 0. Rules and reports see only this, never events. Zeroed = empty.
 */
#ifndef PT_PROFILE_METRICS_H
#define PT_PROFILE_METRICS_H

#include <stdbool.h>

#include "proftrace/types.h"
#include "util/arena.h"
#include "util/map.h"
#include "util/vec.h"

/* How a value is shown to people; the raw value is always in the base unit (seconds, bytes, plain counts). */
enum pt_show {
    PT_SHOW_COUNT,
    PT_SHOW_BYTES,
    PT_SHOW_SECONDS,
    PT_SHOW_PERCENT,
    PT_SHOW_PER_SECOND,
    PT_SHOW_BYTES_PER_SECOND,
    PT_SHOW_NUMBER,
    PT_SHOW_MIB,  /* raw value in MiB, as the report's *_mb_* keys carry it */
    PT_SHOW_TEXT, /* a name: may be hostile, renderers sanitise */
    PT_SHOW_BOOL,
};

enum pt_value_type { PT_VALUE_UNKNOWN, PT_VALUE_INTEGER, PT_VALUE_REAL, PT_VALUE_TEXT, PT_VALUE_BOOL };

struct pt_value {
    enum pt_value_type type;
    union {
        pt_i64 integer; /* also BOOL */
        double real;
        const char *text; /* lives as long as the metrics or the session */
    };
    union {
        const char *reason; /* UNKNOWN: why; NULL = the absence says all */
        const char *label;  /* TEXT: how people read it; NULL = as it is */
    };
};

static inline struct pt_value pt_integer(pt_u64 integer)
{
    const pt_u64 largest = INT64_MAX;
    return (struct pt_value){.type = PT_VALUE_INTEGER, .integer = (pt_i64)(integer > largest ? largest : integer)};
}

static inline struct pt_value pt_unknown(const char *reason)
{
    return (struct pt_value){.type = PT_VALUE_UNKNOWN, .reason = reason};
}

/* Not a number and infinities become unknown: no report carries them. */
static inline struct pt_value pt_real(double real)
{
    if (!__builtin_isfinite(real))
        return pt_unknown("not a number");
    return (struct pt_value){.type = PT_VALUE_REAL, .real = real};
}

static inline struct pt_value pt_seconds(pt_i64 ns)
{
    return pt_real((double)ns / 1e9);
}

static inline struct pt_value pt_text(const char *text)
{
    return text ? (struct pt_value){.type = PT_VALUE_TEXT, .text = text} : pt_unknown(NULL);
}

/* A word of ours: an id for report.json, and a label for people. */
static inline struct pt_value pt_named(const char *id, const char *label)
{
    return (struct pt_value){.type = PT_VALUE_TEXT, .text = id, .label = label};
}

/* A text as people read it. */
static inline const char *pt_value_label(struct pt_value value)
{
    return value.label ? value.label : value.text;
}

static inline struct pt_value pt_bool(bool truth)
{
    return (struct pt_value){.type = PT_VALUE_BOOL, .integer = truth};
}

/* As a number; 0 when unknown or text. */
double pt_value_number(struct pt_value value);

struct pt_scope {
    enum pt_scope_kind { PT_SCOPE_RUN, PT_SCOPE_STAGE, PT_SCOPE_PROCESS } kind;
    pt_u32 index;
};

static inline struct pt_scope pt_scope_run(void)
{
    return (struct pt_scope){PT_SCOPE_RUN, 0};
}

static inline struct pt_scope pt_scope_stage(pt_u32 index)
{
    return (struct pt_scope){PT_SCOPE_STAGE, index};
}

static inline struct pt_scope pt_scope_process(pt_u32 index)
{
    return (struct pt_scope){PT_SCOPE_PROCESS, index};
}

/* ---- tables ---- */
struct pt_column {
    const char *key;   /* as in JSON, unit last */
    const char *label; /* as people read it; NULL = for JSON only */
    enum pt_show show;
};

#define PT_MAX_COLUMNS 32

struct pt_table {
    const char *name; /* dotted: io.files, heap.sites */
    const char *title;
    struct pt_scope scope;
    struct pt_column columns[PT_MAX_COLUMNS];
    pt_u32 n_columns;
    size_t n_rows, row_capacity;
    struct pt_value *values; /* n_rows x n_columns */
    pt_u64 rows_left_out;    /* found, but below the cut */
};

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

/* A new table; columns are copied. */
struct pt_table *pt_metrics_table(struct pt_metrics *metrics, struct pt_scope scope, const char *name,
                                  const char *title, const struct pt_column *columns, pt_u32 n_columns);
/* NULL when there is none. */
const struct pt_table *pt_metrics_find_table(const struct pt_metrics *metrics, struct pt_scope scope, const char *name);
/* A new row of unknown values, to be filled by the caller; valid until the next row. */
struct pt_value *pt_table_add_row(struct pt_table *table);
/* The number of a column; n_columns = there is none of that key. */
pt_u32 pt_table_column(const struct pt_table *table, const char *key);
static inline const struct pt_value *pt_table_row(const struct pt_table *table, size_t row)
{
    return table->values + row * table->n_columns;
}

/* Texts that live as long as the metrics. */
__attribute__((format(printf, 2, 3))) const char *pt_metrics_format(struct pt_metrics *metrics, const char *format,
                                                                    ...);
const char *pt_metrics_text(struct pt_metrics *metrics, const char *text);

void pt_metrics_free(struct pt_metrics *metrics);

#endif
