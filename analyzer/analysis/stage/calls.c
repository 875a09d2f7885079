/* SPDX-License-Identifier: MIT
 *
 * Calls by kind: how many, how long, how large. Counts, bytes and seconds come from the exact totals; only percentiles
 * and the table of sizes come from events, and miss what a full ring overwrote.
 *
 * Threads: one. Never: counts what the totals count already.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/events.h"
#include "analysis/analysis.h"
#include "facts/call_class.h"
#include "profile/histogram.h"

enum { SIZES_READ, SIZES_WRITE, SIZES__COUNT };

struct stage_calls {
    struct pt_histogram *latency[PT_ROW__COUNT]; /* NULL = no event yet */
    struct pt_histogram *sizes[SIZES__COUNT];
};

struct calls {
    struct pt_profile *profile;
    struct stage_calls *stages;
};

static void begin(void *state, struct pt_profile *profile)
{
    struct calls *calls = state;
    calls->profile = profile;
    calls->stages = pt_calloc(profile->stages.n, sizeof *calls->stages);
}

static struct pt_histogram *histogram_at(struct pt_histogram **at)
{
    if (!*at)
        *at = pt_calloc(1, sizeof **at);
    return *at;
}

static void event(void *state, const struct pt_event *e)
{
    struct calls *calls = state;
    if (e->desc->role != PT_ROLE_SPAN)
        return;
    struct stage_calls *stage = &calls->stages[pt_profile_stage_of(calls->profile, e->process)];
    const pt_u64 ns = e->duration_ns > 0 ? (pt_u64)e->duration_ns : 0;
    pt_histogram_add(histogram_at(&stage->latency[e->desc->row]), ns);
    const enum pt_call_class which = pt_call_class_of(e->desc->row);
    if (e->result >= 0 && (which == PT_CALL_READ || which == PT_CALL_WRITE))
        pt_histogram_add(histogram_at(&stage->sizes[which == PT_CALL_WRITE]), (pt_u64)e->result);
}

/* ---- results ---- */

struct call_row {
    pt_u32 row;
    struct pt_row_totals totals;
};

static int by_time(const void *a, const void *b)
{
    const struct call_row *x = a, *y = b;
    if (x->totals.ns != y->totals.ns)
        return x->totals.ns < y->totals.ns ? 1 : -1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static struct pt_value quantile(const struct pt_histogram *histogram, double q)
{
    return histogram ? pt_seconds((pt_i64)pt_histogram_quantile(histogram, q)) : pt_unknown("no events kept");
}

static void table_of_calls(const struct calls *calls, pt_u32 stage, struct pt_metrics *metrics)
{
    static const struct pt_column columns[] = {
        {"call", "Call", PT_SHOW_TEXT},    {"calls", "Calls", PT_SHOW_COUNT},     {"errors", "Errors", PT_SHOW_COUNT},
        {"bytes", "Bytes", PT_SHOW_BYTES}, {"total_s", "Total", PT_SHOW_SECONDS}, {"p50_s", "p50", PT_SHOW_SECONDS},
        {"p95_s", "p95", PT_SHOW_SECONDS}, {"p99_s", "p99", PT_SHOW_SECONDS},
    };
    struct pt_table *table =
        pt_metrics_table(metrics, pt_scope_stage(stage), "calls", "Calls", columns, sizeof columns / sizeof *columns);
    struct call_row rows[PT_ROW__COUNT];
    pt_u32 n = 0;
    for (pt_u32 row = 0; row < PT_ROW__COUNT; row++) {
        const struct pt_row_totals totals = pt_profile_stage_row(calls->profile, stage, row);
        if (pt_call_class_of(row) != PT_CALL_NONE && totals.calls)
            rows[n++] = (struct call_row){row, totals};
    }
    qsort(rows, n, sizeof *rows, by_time);
    for (pt_u32 i = 0; i < n; i++) {
        const struct pt_histogram *latency = calls->stages[stage].latency[rows[i].row];
        struct pt_value *cells = pt_table_add_row(table);
        cells[0] = pt_text(pt_call_name(rows[i].row));
        cells[1] = pt_integer(rows[i].totals.calls);
        cells[2] = pt_integer(rows[i].totals.errors);
        cells[3] = pt_integer(rows[i].totals.bytes);
        cells[4] = pt_seconds((pt_i64)rows[i].totals.ns);
        cells[5] = quantile(latency, 0.50);
        cells[6] = quantile(latency, 0.95);
        cells[7] = quantile(latency, 0.99);
    }
}

static const char *size_label(struct pt_metrics *metrics, pt_u32 power)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (!power)
        return "0 B";
    const pt_u64 low = 1ull << (power - 1);
    const pt_u32 unit = (power - 1) / 10;
    return pt_metrics_format(metrics, "%llu %s ..", (unsigned long long)(low >> (unit * 10)), units[unit]);
}

/* Power-of-two rows out of the finer buckets. */
static void table_of_sizes(const struct calls *calls, pt_u32 stage, struct pt_metrics *metrics)
{
    static const struct pt_column columns[] = {
        {"size", "Size", PT_SHOW_TEXT},
        {"size_min_bytes", "From", PT_SHOW_BYTES},
        {"reads", "Reads", PT_SHOW_COUNT},
        {"writes", "Writes", PT_SHOW_COUNT},
    };
    pt_u64 counts[65][SIZES__COUNT] = {{0}};
    for (int i = 0; i < SIZES__COUNT; i++) {
        const struct pt_histogram *sizes = calls->stages[stage].sizes[i];
        for (pt_u32 bucket = 0; sizes && bucket < PT_HISTOGRAM_BUCKETS; bucket++) {
            const pt_u64 low = pt_histogram_bucket_low(bucket);
            counts[low ? 64 - __builtin_clzll(low) : 0][i] += sizes->buckets[bucket];
        }
    }
    struct pt_table *table = pt_metrics_table(metrics, pt_scope_stage(stage), "io.sizes", "I/O sizes", columns, 4);
    for (pt_u32 power = 0; power < 65; power++) {
        if (!counts[power][SIZES_READ] && !counts[power][SIZES_WRITE])
            continue;
        struct pt_value *cells = pt_table_add_row(table);
        cells[0] = pt_text(size_label(metrics, power));
        cells[1] = pt_integer(power ? 1ull << (power - 1) : 0);
        cells[2] = pt_integer(counts[power][SIZES_READ]);
        cells[3] = pt_integer(counts[power][SIZES_WRITE]);
    }
}

static void sums(const struct calls *calls, pt_u32 stage, struct pt_metrics *metrics)
{
    static const struct {
        enum pt_call_class which;
        const char *calls, *bytes, *seconds, *errors;
    } names[] = {
        {PT_CALL_READ, "io.read.calls", "io.read.bytes", "io.read.wait_s", "io.read.errors"},
        {PT_CALL_WRITE, "io.write.calls", "io.write.bytes", "io.write.wait_s", "io.write.errors"},
        {PT_CALL_OPEN, "io.open.calls", NULL, "io.open.wait_s", "io.open.errors"},
        {PT_CALL_SYNC, "io.sync.calls", NULL, "io.sync.wait_s", "io.sync.errors"},
        {PT_CALL_STDIO_READ, "stdio.read.calls", "stdio.read.bytes", "stdio.read.wait_s", NULL},
        {PT_CALL_STDIO_WRITE, "stdio.write.calls", "stdio.write.bytes", "stdio.write.wait_s", NULL},
    };
    const struct pt_scope scope = pt_scope_stage(stage);
    const char *missing = pt_profile_counters_missing(calls->profile, stage);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pt_row_totals sum = {0};
        for (pt_u32 row = 0; row < PT_ROW__COUNT; row++) {
            const struct pt_row_totals totals = pt_profile_stage_row(calls->profile, stage, row);
            if (pt_call_class_of(row) == names[i].which)
                pt_row_totals_add(&sum, &totals);
        }
        const struct pt_value unknown = pt_unknown(missing);
        pt_metrics_set(metrics, scope, names[i].calls, missing ? unknown : pt_integer(sum.calls));
        pt_metrics_set(metrics, scope, names[i].seconds, missing ? unknown : pt_seconds((pt_i64)sum.ns));
        if (names[i].bytes)
            pt_metrics_set(metrics, scope, names[i].bytes, missing ? unknown : pt_integer(sum.bytes));
        if (names[i].errors)
            pt_metrics_set(metrics, scope, names[i].errors, missing ? unknown : pt_integer(sum.errors));
    }
}

static void finish(void *state, struct pt_profile *profile)
{
    struct calls *calls = state;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        sums(calls, stage, &profile->metrics);
        table_of_calls(calls, stage, &profile->metrics);
        table_of_sizes(calls, stage, &profile->metrics);
        for (pt_u32 row = 0; row < PT_ROW__COUNT; row++)
            free(calls->stages[stage].latency[row]);
        for (int i = 0; i < SIZES__COUNT; i++)
            free(calls->stages[stage].sizes[i]);
    }
    free(calls->stages);
}

const struct pt_analysis pt_analysis_calls = {
    .name = "calls",
    .summary = "calls by kind: counts, errors, bytes, time, percentiles, sizes",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_META | PT_CATEGORY_STDIO | PT_CATEGORY_MAP | PT_CATEGORY_PROC |
                  PT_CATEGORY_WAIT | PT_CATEGORY_NET,
    .state_size = sizeof(struct calls),
    .begin = begin,
    .event = event,
    .finish = finish,
};
