/* SPDX-License-Identifier: MIT
 *
 * The program's own annotations: ranges with total and self time, steps, epochs, marks.
 *
 * Threads: one. State: a stack of open ranges per thread that uses them, a sum per name and stage (at most MAX_NAMES).
 * Never: requires a range to end: an open one ends with its thread, or with its process if another thread could have
 * ended it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "profile/histogram.h"

enum { MAX_DEPTH = 64, MAX_NAMES = 4096, MAX_ROWS = 50, MAX_OVERLAPPING = 1024 };

struct range {
    const char *name;
    pt_u32 stage;
    pt_u64 calls;
    pt_i64 total_ns, self_ns;
    bool overlaps; /* some overlap others or span threads: they have no self time */
    struct pt_histogram *durations;
};

struct open_range {
    pt_u32 range;
    pt_i64 start_ns, inner_ns;
};

struct overlapping_range {
    pt_u64 id;
    const struct pt_process *process;
    struct open_range open;
};

struct user_thread {
    const struct pt_thread *thread;
    pt_u32 depth; /* also counts ranges deeper than MAX_DEPTH */
    struct open_range open[MAX_DEPTH];
    pt_i64 step_ns; /* when the step that runs began; -1 = none */
};

struct stage_steps {
    pt_u64 steps, epochs, marks;
    struct pt_histogram durations;
};

struct ranges {
    struct pt_profile *profile;
    PT_VEC(struct range);
    struct {
        PT_VEC(struct user_thread *);
    } threads;
    struct pt_map by_thread; /* address of the thread -> index in threads, plus 1 */
    struct pt_map by_name;   /* stage, interned name -> index, plus 1 */
    struct pt_intern names;
    struct stage_steps *stages;
    struct {
        PT_VEC(struct overlapping_range);
    } overlapping; /* that are open now */
};

static void begin(void *state, struct pt_profile *profile)
{
    struct ranges *ranges = state;
    ranges->profile = profile;
    ranges->stages = pt_calloc(profile->stages.n, sizeof *ranges->stages);
}

static struct user_thread *thread_of(struct ranges *ranges, const struct pt_event *e)
{
    pt_u64 *slot = pt_map_at(&ranges->by_thread, (pt_u64)(uintptr_t)e->thread);
    if (!*slot) {
        struct user_thread *thread = pt_calloc(1, sizeof *thread);
        thread->thread = e->thread;
        thread->step_ns = -1;
        pt_vec_push(&ranges->threads, thread);
        *slot = ranges->threads.n;
    }
    return ranges->threads.items[*slot - 1];
}

/* ProfilerStep#0, ProfilerStep#1 ... are one range, as often as there were steps. */
static const char *family_of(struct ranges *ranges, const char *text)
{
    const char *hash = strrchr(text, '#');
    char family[256];
    if (!hash || !hash[1] || hash[1 + strspn(hash + 1, "0123456789")] || (size_t)(hash - text) > sizeof family - 3)
        return pt_intern_text(&ranges->names, text);
    snprintf(family, sizeof family, "%.*s#*", (int)(hash - text), text);
    return pt_intern_text(&ranges->names, family);
}

static pt_u32 range_of(struct ranges *ranges, pt_u32 stage, const char *text)
{
    const char *name = ranges->n < MAX_NAMES ? family_of(ranges, text ? text : "(unknown)") : NULL;
    pt_u64 *slot = pt_map_at(&ranges->by_name, (pt_u64)stage << 48 ^ (pt_u64)(uintptr_t)name);
    if (!*slot) {
        pt_vec_push(ranges, ((struct range){.name = name ? name : "(other ranges)", .stage = stage}));
        ranges->items[ranges->n - 1].durations = pt_calloc(1, sizeof(struct pt_histogram));
        *slot = ranges->n;
    }
    return (pt_u32)(*slot - 1);
}

static void push(struct ranges *ranges, struct user_thread *thread, const struct pt_event *e, pt_u32 stage)
{
    if (thread->depth < MAX_DEPTH)
        thread->open[thread->depth] = (struct open_range){
            .range = range_of(ranges, stage, pt_process_string(e->process, pt_event_as(e, range_begin)->name)),
            .start_ns = e->start_ns,
        };
    thread->depth++;
}

static void pop(struct ranges *ranges, struct user_thread *thread, pt_i64 end_ns)
{
    if (!thread->depth || --thread->depth >= MAX_DEPTH)
        return;
    const struct open_range *open = &thread->open[thread->depth];
    const pt_i64 ns = end_ns > open->start_ns ? end_ns - open->start_ns : 0;
    struct range *range = &ranges->items[open->range];
    range->calls++;
    range->total_ns += ns;
    range->self_ns += ns > open->inner_ns ? ns - open->inner_ns : 0;
    pt_histogram_add(range->durations, (pt_u64)ns);
    if (thread->depth)
        thread->open[thread->depth - 1].inner_ns += ns;
}

/* ---- ranges that overlap ---- */

static void open_overlapping(struct ranges *ranges, const struct pt_event *e, pt_u32 stage)
{
    if (ranges->overlapping.n >= MAX_OVERLAPPING)
        return;
    const struct open_range open = {range_of(ranges, stage, pt_process_string(e->process, e->aux)), e->start_ns, 0};
    pt_vec_push(&ranges->overlapping, ((struct overlapping_range){pt_event_as(e, range_open)->id, e->process, open}));
}

static void end_overlapping(struct ranges *ranges, const struct open_range *open, pt_i64 end_ns)
{
    const pt_i64 ns = end_ns > open->start_ns ? end_ns - open->start_ns : 0;
    struct range *range = &ranges->items[open->range];
    range->calls++;
    range->total_ns += ns;
    range->overlaps = true;
    pt_histogram_add(range->durations, (pt_u64)ns);
}

static void close_overlapping(struct ranges *ranges, const struct pt_event *e)
{
    const pt_u64 id = pt_event_as(e, range_close)->id;
    size_t i = ranges->overlapping.n;
    while (i && (ranges->overlapping.items[i - 1].id != id || ranges->overlapping.items[i - 1].process != e->process))
        i--;
    if (!i)
        return;
    const struct open_range open = ranges->overlapping.items[i - 1].open;
    ranges->overlapping.items[i - 1] = ranges->overlapping.items[--ranges->overlapping.n];
    end_overlapping(ranges, &open, e->start_ns);
}

/* ---- events ---- */

static void step(struct stage_steps *stage, struct user_thread *thread, pt_i64 at_ns)
{
    if (thread->step_ns >= 0 && at_ns >= thread->step_ns)
        pt_histogram_add(&stage->durations, (pt_u64)(at_ns - thread->step_ns));
    thread->step_ns = at_ns;
    stage->steps++;
}

static void event(void *state, const struct pt_event *e)
{
    struct ranges *ranges = state;
    const pt_u32 stage = pt_profile_stage_of(ranges->profile, e->process);
    struct user_thread *thread = thread_of(ranges, e);
    switch (e->desc->kind) {
    case PT_KIND_range_begin:
        push(ranges, thread, e, stage);
        break;
    case PT_KIND_range_end:
        pop(ranges, thread, e->start_ns);
        break;
    case PT_KIND_range_open:
        open_overlapping(ranges, e, stage);
        break;
    case PT_KIND_range_close:
        close_overlapping(ranges, e);
        break;
    case PT_KIND_step:
        step(&ranges->stages[stage], thread, e->start_ns);
        break;
    case PT_KIND_epoch:
        ranges->stages[stage].epochs++;
        break;
    case PT_KIND_mark:
        ranges->stages[stage].marks++;
        break;
    default:
        break;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return strcmp(x->name, y->name);
}

struct range_row {
    const char *name;
    pt_u64 calls;
    double total_s, p50_s, p95_s;
    struct pt_value self_s;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct range_row, name, TEXT, "Range"),       PT_COLUMN(struct range_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct range_row, total_s, SECONDS, "Total"), PT_COLUMN(struct range_row, self_s, SECONDS, "Self"),
    PT_COLUMN(struct range_row, p50_s, SECONDS, "p50"),     PT_COLUMN(struct range_row, p95_s, SECONDS, "p95"),
};
static const struct pt_table_kind by_name = {PT_VIEW_ranges, .most = MAX_ROWS, PT_COLUMNS(columns)};

static void table_of_ranges(const struct ranges *ranges, pt_u32 stage, struct pt_metrics *metrics)
{
    struct pt_rows rows = pt_rows(metrics, pt_scope_stage(stage), &by_name);
    for (size_t i = 0; i < ranges->n; i++) {
        const struct range *range = &ranges->items[i];
        if (range->stage != stage || !range->calls || !pt_rows_have_room(&rows))
            continue;
        pt_rows_add(&rows,
                    &(struct range_row){
                        .name = pt_metrics_text(metrics, range->name),
                        .calls = range->calls,
                        .total_s = (double)range->total_ns / 1e9,
                        .self_s = range->overlaps ? pt_unknown("it overlaps other ranges") : pt_seconds(range->self_ns),
                        .p50_s = (double)pt_histogram_quantile(range->durations, 0.50) / 1e9,
                        .p95_s = (double)pt_histogram_quantile(range->durations, 0.95) / 1e9,
                    });
    }
}

static void steps_results(const struct stage_steps *steps, pt_u32 stage, struct pt_metrics *metrics)
{
    const struct pt_scope scope = pt_scope_stage(stage);
    pt_metrics_set(metrics, scope, "steps.count", pt_integer(steps->steps));
    pt_metrics_set(metrics, scope, "epochs.count", pt_integer(steps->epochs));
    if (!steps->durations.count)
        return;
    pt_metrics_set(metrics, scope, "steps.p50_s", pt_seconds((pt_i64)pt_histogram_quantile(&steps->durations, 0.50)));
    pt_metrics_set(metrics, scope, "steps.p95_s", pt_seconds((pt_i64)pt_histogram_quantile(&steps->durations, 0.95)));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct ranges *ranges = state;
    for (size_t i = 0; i < ranges->threads.n; i++) {
        struct user_thread *thread = ranges->threads.items[i];
        while (thread->depth)
            pop(ranges, thread, thread->thread->end_ns);
        free(thread);
    }
    for (size_t i = 0; i < ranges->overlapping.n; i++)
        end_overlapping(ranges, &ranges->overlapping.items[i].open, ranges->overlapping.items[i].process->end_ns);
    if (ranges->n)
        qsort(ranges->items, ranges->n, sizeof *ranges->items, by_time);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        table_of_ranges(ranges, stage, &profile->metrics);
        steps_results(&ranges->stages[stage], stage, &profile->metrics);
    }
    for (size_t i = 0; i < ranges->n; i++)
        free(ranges->items[i].durations);
    free(ranges->items);
    free(ranges->threads.items);
    free(ranges->stages);
    pt_map_fini(&ranges->by_thread);
    pt_map_fini(&ranges->by_name);
    free(ranges->overlapping.items);
    pt_intern_fini(&ranges->names);
}

const struct pt_analysis pt_analysis_ranges = {
    .name = "ranges",
    .summary = "the program's own ranges, steps and epochs",
    .categories = PT_CATEGORY_USER,
    .state_size = sizeof(struct ranges),
    .begin = begin,
    .event = event,
    .finish = finish,
};
