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
#include "facts/state.h"
#include "facts/workers.h"
#include "profile/histogram.h"

enum { SIZES_READ, SIZES_WRITE, SIZES__COUNT };

struct stage_calls {
    struct pt_histogram *latency[PT_KIND__COUNT];  /* NULL = no event yet */
    struct pt_histogram *of_mains[PT_KIND__COUNT]; /* of it, the main threads', but workers' */
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

/* What idle threads hang in: waits for work, not for locks that others hold. */
static bool may_be_idle(pt_u32 kind)
{
    const enum pt_call_class which = pt_call_class_of(kind);
    return which == PT_CALL_WAIT || kind == PT_KIND_lock_cond || kind == PT_KIND_lock_sem ||
           kind == PT_KIND_wait_thread || kind == PT_KIND_net_accept;
}

static void event(void *state, const struct pt_event *e)
{
    struct calls *calls = state;
    if (e->desc->role != PT_ROLE_SPAN)
        return;
    struct stage_calls *stage = &calls->stages[pt_profile_stage_of(calls->profile, e->process)];
    const pt_u64 ns = e->duration_ns > 0 ? (pt_u64)e->duration_ns : 0;
    pt_histogram_add(histogram_at(&stage->latency[e->desc->kind]), ns);
    if (may_be_idle(e->desc->kind) && pt_is_main_thread(e) && !pt_is_worker(e->process))
        pt_histogram_add(histogram_at(&stage->of_mains[e->desc->kind]), ns);
    const enum pt_call_class which = pt_call_class_of(e->desc->kind);
    if (e->result >= 0 && (which == PT_CALL_READ || which == PT_CALL_WRITE))
        pt_histogram_add(histogram_at(&stage->sizes[which == PT_CALL_WRITE]), (pt_u64)e->result);
}

/* ---- results ---- */

/* Calls of all threads; times without those that idle threads hung in. */
struct call_sum {
    pt_u32 kind;
    struct pt_kind_totals totals;
    pt_u64 idle_calls;
};

static int by_time(const void *a, const void *b)
{
    const struct call_sum *x = a, *y = b;
    if (x->totals.ns != y->totals.ns)
        return x->totals.ns < y->totals.ns ? 1 : -1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static const char not_timed[] = "counted only: it is not timed";

static const char among_idle[] = "no lengths are kept without those of the calls that idle threads hung in";

static struct pt_value quantile(const struct pt_histogram *histogram, double q)
{
    return histogram ? pt_seconds((pt_i64)pt_histogram_quantile(histogram, q)) : pt_unknown("no events kept");
}

struct call_row {
    const char *call;
    struct pt_value calls, errors;
    pt_u64 bytes;
    struct pt_value total_s, p50_s, p95_s, p99_s;
};

static const struct pt_column call_columns[] = {
    PT_COLUMN(struct call_row, call, TEXT, "Call"),        PT_COLUMN(struct call_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct call_row, errors, COUNT, "Errors"),   PT_COLUMN(struct call_row, bytes, BYTES, "Bytes"),
    PT_COLUMN(struct call_row, total_s, SECONDS, "Total"), PT_COLUMN(struct call_row, p50_s, SECONDS, "p50"),
    PT_COLUMN(struct call_row, p95_s, SECONDS, "p95"),     PT_COLUMN(struct call_row, p99_s, SECONDS, "p99"),
};
static const struct pt_table_kind by_call = {PT_VIEW_calls, PT_COLUMNS(call_columns)};

static void add_idle_waits(const struct pt_thread *thread, struct pt_kind_totals idle[PT_KIND__COUNT],
                           struct pt_kind_totals *sum)
{
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
        if (may_be_idle(kind)) {
            pt_kind_totals_add(&idle[kind], pt_totals_of(thread->totals, kind));
            pt_kind_totals_add(sum, pt_totals_of(thread->totals, kind));
        }
}

/* The waits of threads that only waited for work, by kind; returns the sum of all. */
static struct pt_kind_totals idle_waits(const struct pt_profile *profile, pt_u32 stage,
                                        struct pt_kind_totals idle[PT_KIND__COUNT])
{
    struct pt_kind_totals sum = {0};
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        for (pt_u32 j = 0; j < process->n_threads && pt_profile_stage_of(profile, process) == stage; j++)
            if (pt_is_idle_helper(profile->facts, &process->threads[j]))
                add_idle_waits(&process->threads[j], idle, &sum);
    }
    return sum;
}

/* Their calls are in the rows of those calls: a count of calls is what any other tracer counts. */
static void add_idle(struct pt_table *table, const struct pt_kind_totals *idle)
{
    const struct pt_value counted = pt_unknown("counted in the rows of these calls");
    const struct pt_value none = pt_unknown("waits for work, of threads that nobody waited for");
    if (idle->calls)
        pt_table_add(table, &(struct call_row){.call = "(idle threads)",
                                               .calls = counted,
                                               .errors = counted,
                                               .total_s = pt_seconds((pt_i64)idle->ns),
                                               .p50_s = none,
                                               .p95_s = none,
                                               .p99_s = none});
}

static void add_call(struct pt_table *table, const struct stage_calls *stage, const struct call_sum *sum)
{
    const struct pt_histogram *latency = sum->idle_calls ? stage->of_mains[sum->kind] : stage->latency[sum->kind];
    const pt_u64 busy_calls = sum->totals.calls > sum->idle_calls ? sum->totals.calls - sum->idle_calls : 0;
    const bool timed = pt_call_is_timed(sum->kind);
    const bool mixed = sum->idle_calls && !(latency && latency->count == busy_calls);
    const struct pt_value none = pt_unknown(timed ? among_idle : not_timed);
    pt_table_add(table, &(struct call_row){
                            .call = pt_call_name(sum->kind),
                            .calls = pt_integer(sum->totals.calls),
                            .errors = pt_integer(sum->totals.errors),
                            .bytes = sum->totals.bytes,
                            .total_s = timed && busy_calls ? pt_seconds((pt_i64)sum->totals.ns)
                                       : timed             ? pt_unknown("only idle threads made such calls")
                                                           : none,
                            .p50_s = timed && !mixed ? quantile(latency, 0.50) : none,
                            .p95_s = timed && !mixed ? quantile(latency, 0.95) : none,
                            .p99_s = timed && !mixed ? quantile(latency, 0.99) : none,
                        });
}

static void table_of_calls(const struct calls *calls, pt_u32 stage, struct pt_metrics *metrics)
{
    struct pt_table *table = pt_metrics_add_table(metrics, pt_scope_stage(stage), &by_call);
    struct call_sum sums[PT_KIND__COUNT];
    struct pt_kind_totals idle[PT_KIND__COUNT] = {{0}};
    const struct pt_kind_totals all_idle = idle_waits(calls->profile, stage, idle);
    pt_u32 n = 0;
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        struct pt_kind_totals totals = pt_profile_stage_totals(calls->profile, stage, kind);
        totals.ns -= idle[kind].ns < totals.ns ? idle[kind].ns : totals.ns;
        if (pt_call_class_of(kind) != PT_CALL_NONE && totals.calls)
            sums[n++] = (struct call_sum){kind, totals, idle[kind].calls};
    }
    qsort(sums, n, sizeof *sums, by_time);
    for (pt_u32 i = 0; i < n; i++)
        add_call(table, &calls->stages[stage], &sums[i]);
    add_idle(table, &all_idle);
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

struct size_row {
    const char *size;
    pt_u64 size_min_bytes, reads, writes;
};

static const struct pt_column size_columns[] = {
    PT_COLUMN(struct size_row, size, TEXT, "Size"),
    PT_COLUMN(struct size_row, size_min_bytes, BYTES, "From"),
    PT_COLUMN(struct size_row, reads, COUNT, "Reads"),
    PT_COLUMN(struct size_row, writes, COUNT, "Writes"),
};
static const struct pt_table_kind by_size = {PT_VIEW_io_sizes, PT_COLUMNS(size_columns)};

/* Power-of-two rows out of the finer buckets. */
static void table_of_sizes(const struct calls *calls, pt_u32 stage, struct pt_metrics *metrics)
{
    pt_u64 counts[65][SIZES__COUNT] = {{0}};
    for (int i = 0; i < SIZES__COUNT; i++) {
        const struct pt_histogram *sizes = calls->stages[stage].sizes[i];
        for (pt_u32 bucket = 0; sizes && bucket < PT_HISTOGRAM_BUCKETS; bucket++) {
            const pt_u64 low = pt_histogram_bucket_low(bucket);
            counts[low ? 64 - __builtin_clzll(low) : 0][i] += sizes->buckets[bucket];
        }
    }
    struct pt_table *table = pt_metrics_add_table(metrics, pt_scope_stage(stage), &by_size);
    for (pt_u32 power = 0; power < 65; power++)
        if (counts[power][SIZES_READ] || counts[power][SIZES_WRITE])
            pt_table_add(table, &(struct size_row){
                                    .size = size_label(metrics, power),
                                    .size_min_bytes = power ? 1ull << (power - 1) : 0,
                                    .reads = counts[power][SIZES_READ],
                                    .writes = counts[power][SIZES_WRITE],
                                });
}

static void sums(const struct calls *calls, pt_u32 stage, struct pt_metrics *metrics)
{
    struct pt_kind_totals of_class[PT_CALL__COUNT] = {{0}};
    const struct pt_scope scope = pt_scope_stage(stage);
    const char *missing = pt_profile_counters_missing(calls->profile, stage);
    const struct pt_value unknown = pt_unknown(missing);
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const struct pt_kind_totals totals = pt_profile_stage_totals(calls->profile, stage, kind);
        pt_kind_totals_add(&of_class[pt_call_class_of(kind)], &totals);
    }
    const struct pt_kind_totals *read = &of_class[PT_CALL_READ];
    const struct pt_kind_totals *copy = &of_class[PT_CALL_COPY]; /* sendfile() reads, too */
    pt_metrics_set(metrics, scope, "io.read.calls", missing ? unknown : pt_integer(read->calls + copy->calls));
    pt_metrics_set(metrics, scope, "io.read.bytes", missing ? unknown : pt_integer(read->bytes + copy->bytes));
    pt_metrics_set(metrics, scope, "io.read.wait_s", missing ? unknown : pt_seconds((pt_i64)read->ns));
    pt_metrics_set(metrics, scope, "io.write.calls", missing ? unknown : pt_integer(of_class[PT_CALL_WRITE].calls));
    pt_metrics_set(metrics, scope, "io.open.calls", missing ? unknown : pt_integer(of_class[PT_CALL_OPEN].calls));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct calls *calls = state;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        sums(calls, stage, &profile->metrics);
        table_of_calls(calls, stage, &profile->metrics);
        table_of_sizes(calls, stage, &profile->metrics);
        for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
            free(calls->stages[stage].latency[kind]);
            free(calls->stages[stage].of_mains[kind]);
        }
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
