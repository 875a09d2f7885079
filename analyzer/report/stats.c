/* SPDX-License-Identifier: MIT
 *
 * Owns: the tables of `proftrace stats`: those that views.def names for it, and two that are made from totals. Threads:
 * one. Never: takes a count from events where an exact total exists.
 */
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/events.h"
#include "proftrace/format.h"
#include "facts/call_class.h"

struct stats {
    const struct pt_profile *profile;
    struct pt_doc *doc;
    struct pt_doc_stage *stage; /* at hand */
    size_t top;
};

/* ---- threads ---- */

struct thread_sum {
    const struct pt_thread *thread;
    struct pt_kind_totals io, meta, stdio;
    pt_u64 ns;
};

static int by_time(const void *a, const void *b)
{
    const struct thread_sum *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    if (x->thread->heap_allocs != y->thread->heap_allocs)
        return x->thread->heap_allocs < y->thread->heap_allocs ? 1 : -1;
    if (x->thread->process->index != y->thread->process->index)
        return x->thread->process->index < y->thread->process->index ? -1 : 1;
    return x->thread->index < y->thread->index ? -1 : 1;
}

static struct thread_sum sum_of(const struct pt_thread *thread)
{
    struct thread_sum sum = {.thread = thread};
    for (pt_u32 i = 0; i < PT_KIND__COUNT; i++) {
        const enum pt_call_class which = pt_call_class_of(i);
        if (which == PT_CALL_NONE)
            continue;
        sum.ns += pt_totals_of(thread->totals, i)->ns;
        if (which == PT_CALL_READ || which == PT_CALL_WRITE || which == PT_CALL_COPY || which == PT_CALL_SYNC)
            pt_kind_totals_add(&sum.io, pt_totals_of(thread->totals, i));
        else if (which == PT_CALL_STDIO_READ || which == PT_CALL_STDIO_WRITE || which == PT_CALL_STDIO_OTHER)
            pt_kind_totals_add(&sum.stdio, pt_totals_of(thread->totals, i));
        else
            pt_kind_totals_add(&sum.meta, pt_totals_of(thread->totals, i));
    }
    return sum;
}

struct thread_row {
    pt_u32 pid, tid;
    const char *comm;
    double total_s;
    pt_u64 io_calls, io_bytes, other_calls, stdio_calls;
    struct pt_value allocs, alloc_bytes, frees;
};

static struct pt_value heap_count(const struct pt_thread *thread, pt_u64 count)
{
    const char *why = pt_process_why_no_heap(thread->process);
    return why ? pt_unknown(why) : pt_integer(count);
}

static void add_thread(struct pt_table *table, const struct thread_sum *t)
{
    pt_table_add(table, &(struct thread_row){
                            .pid = t->thread->process->pid,
                            .tid = t->thread->tid,
                            .comm = t->thread->process->comm,
                            .total_s = (double)t->ns / 1e9,
                            .io_calls = t->io.calls,
                            .io_bytes = t->io.bytes,
                            .other_calls = t->meta.calls,
                            .stdio_calls = t->stdio.calls,
                            .allocs = heap_count(t->thread, t->thread->heap_allocs),
                            .alloc_bytes = heap_count(t->thread, t->thread->heap_bytes),
                            .frees = heap_count(t->thread, t->thread->heap_frees),
                        });
}

static struct pt_panel *threads_panel(const struct stats *s)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct thread_row, pid, NUMBER, "Pid"),
        PT_COLUMN(struct thread_row, tid, NUMBER, "Tid"),
        PT_COLUMN(struct thread_row, comm, TEXT, "Process"),
        PT_COLUMN(struct thread_row, total_s, SECONDS, "In calls"),
        PT_COLUMN(struct thread_row, io_calls, COUNT, "Transfers"),
        PT_COLUMN(struct thread_row, io_bytes, BYTES, "Bytes"),
        PT_COLUMN(struct thread_row, other_calls, COUNT, "Other calls"),
        PT_COLUMN(struct thread_row, stdio_calls, COUNT, "stdio"),
        PT_COLUMN(struct thread_row, allocs, COUNT, "Allocs"),
        PT_COLUMN(struct thread_row, alloc_bytes, BYTES, "Allocated"),
        PT_COLUMN(struct thread_row, frees, COUNT, "Frees"),
    };
    struct pt_table *table;
    struct pt_panel *panel =
        pt_doc_table(s->doc, "threads", "Threads", columns, sizeof columns / sizeof *columns, &table);
    struct {
        PT_VEC(struct thread_sum);
    } sums = {0};
    for (pt_u32 i = 0; i < s->profile->session->n_processes; i++) {
        const struct pt_process *process = s->profile->session->processes[i];
        const bool is_here = pt_profile_stage_of(s->profile, process) == s->stage->index;
        for (pt_u32 j = 0; j < process->n_threads && is_here; j++)
            if (process->threads[j].tid < PT_DEVICE_TID) /* records of GPUs lie there */
                pt_vec_push(&sums, sum_of(&process->threads[j]));
    }
    if (sums.n)
        qsort(sums.items, sums.n, sizeof *sums.items, by_time);
    table->most = s->top;
    for (size_t i = 0; i < sums.n; i++)
        add_thread(table, &sums.items[i]);
    free(sums.items);
    return panel;
}

/* ---- heap sizes ---- */

static void sum_classes(const struct stats *s, struct pt_heap_class sums[PT_HEAP_CLASSES])
{
    for (pt_u32 i = 0; i < s->profile->session->n_processes; i++) {
        const struct pt_process *process = s->profile->session->processes[i];
        const bool is_here = pt_profile_stage_of(s->profile, process) == s->stage->index;
        for (pt_u32 j = 0; j < PT_HEAP_CLASSES && is_here; j++) {
            sums[j].count += process->heap->classes[j].count;
            sums[j].bytes += process->heap->classes[j].bytes;
        }
    }
}

static int larger_first(const void *a, const void *b)
{
    const struct pt_heap_class *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* The rows are in the order of sizes; where there are too many, those with the most bytes are shown. */
static pt_u64 least_shown(const struct stats *s, const struct pt_heap_class sums[PT_HEAP_CLASSES])
{
    struct pt_heap_class ranked[PT_HEAP_CLASSES];
    if (!s->top || s->top > PT_HEAP_CLASSES)
        return 0;
    memcpy(ranked, sums, sizeof ranked);
    qsort(ranked, PT_HEAP_CLASSES, sizeof *ranked, larger_first);
    return ranked[s->top - 1].bytes;
}

/* Why no process of the stage has them. */
static const char *why_no_sizes(const struct stats *s)
{
    const char *why = NULL;
    for (pt_u32 i = 0; i < s->profile->session->n_processes; i++) {
        const struct pt_process *process = s->profile->session->processes[i];
        if (pt_profile_stage_of(s->profile, process) == s->stage->index)
            why = pt_process_why_no_heap(process) ? pt_process_why_no_heap(process) : why;
    }
    return why;
}

struct size_row {
    struct pt_value up_to_bytes;
    pt_u64 allocs, bytes;
};

static struct pt_panel *heap_sizes_panel(const struct stats *s)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct size_row, up_to_bytes, BYTES, "Up to"),
        PT_COLUMN(struct size_row, allocs, COUNT, "Allocations"),
        PT_COLUMN(struct size_row, bytes, BYTES, "Bytes"),
    };
    struct pt_heap_class sums[PT_HEAP_CLASSES] = {{0}};
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(s->doc, "heap_sizes", "Heap sizes", columns, 3, &table);
    sum_classes(s, sums);
    const pt_u64 least_bytes = least_shown(s, sums);
    table->most = s->top;
    for (pt_u32 j = 0; j < PT_HEAP_CLASSES; j++) {
        const bool is_last = j == PT_HEAP_CLASSES - 1;
        if (sums[j].count && sums[j].bytes < least_bytes)
            table->rows_left_out++;
        else if (sums[j].count)
            pt_table_add(table,
                         &(struct size_row){
                             .up_to_bytes = is_last ? pt_unknown("no limit") : pt_integer(pt_heap_class_limit(j)),
                             .allocs = sums[j].count,
                             .bytes = sums[j].bytes,
                         });
    }
    panel->why_empty = why_no_sizes(s);
    return panel;
}

/* ---- one stage ---- */

static void add_views(const struct stats *s, enum pt_stats_by by)
{
    for (enum pt_view view = 0; view < PT_VIEW__COUNT; view++) {
        const struct pt_table_view *row = &pt_table_views[view];
        const struct pt_table *table = pt_view_table(&s->profile->metrics, s->stage->index, view);
        if (row->by != by)
            continue;
        if (table)
            pt_vec_push(&s->stage->panels, pt_doc_rows(s->doc, row->id, row->label, table, s->top));
        if (view == PT_VIEW_thread_time) /* calls by thread, next to the time accounts of threads */
            pt_vec_push(&s->stage->panels, threads_panel(s));
    }
    if (by == PT_STATS_SIZE)
        pt_vec_push(&s->stage->panels, heap_sizes_panel(s));
}

struct pt_doc *pt_stats_build(const struct pt_profile *profile, enum pt_stats_by by, const char *stage, size_t top)
{
    struct stats s = {.profile = profile, .doc = pt_doc_new(), .top = top};
    s.doc->profile = profile;
    for (pt_u32 i = 0; i < profile->stages.n; i++) {
        if (stage && strcmp(stage, profile->stages.items[i].name) != 0)
            continue;
        s.stage = pt_arena_alloc(&s.doc->arena, sizeof *s.stage);
        *s.stage = (struct pt_doc_stage){.index = i, .name = profile->stages.items[i].name};
        pt_vec_push(&s.doc->stages, s.stage);
        add_views(&s, by);
    }
    return s.doc;
}
