/* SPDX-License-Identifier: MIT
 *
 * Owns: the tables of `proftrace stats`: those that views.def names for it, and two that are made from totals. Threads:
 * one. Never: takes a count from events where an exact total exists.
 */
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/events.h"
#include "facts/call_class.h"

struct stats {
    const struct pt_profile *profile;
    struct pt_doc *doc;
    struct pt_doc_stage *stage; /* at hand */
    size_t top;
};

/* ---- threads ---- */

struct thread_row {
    const struct pt_thread *thread;
    struct pt_row_totals io, meta, stdio;
    pt_u64 ns;
};

static int by_time(const void *a, const void *b)
{
    const struct thread_row *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    if (x->thread->heap_allocs != y->thread->heap_allocs)
        return x->thread->heap_allocs < y->thread->heap_allocs ? 1 : -1;
    if (x->thread->process->index != y->thread->process->index)
        return x->thread->process->index < y->thread->process->index ? -1 : 1;
    return x->thread->index < y->thread->index ? -1 : 1;
}

static struct thread_row row_of(const struct pt_thread *thread)
{
    struct thread_row row = {.thread = thread};
    for (pt_u32 i = 0; i < PT_ROW__COUNT; i++) {
        const enum pt_call_class which = pt_call_class_of(i);
        if (which == PT_CALL_NONE)
            continue;
        row.ns += thread->rows[i].ns;
        if (which == PT_CALL_READ || which == PT_CALL_WRITE || which == PT_CALL_COPY || which == PT_CALL_SYNC)
            pt_row_totals_add(&row.io, &thread->rows[i]);
        else if (which == PT_CALL_STDIO_READ || which == PT_CALL_STDIO_WRITE || which == PT_CALL_STDIO_OTHER)
            pt_row_totals_add(&row.stdio, &thread->rows[i]);
        else
            pt_row_totals_add(&row.meta, &thread->rows[i]);
    }
    return row;
}

static void add_thread(struct pt_table *table, const struct thread_row *t)
{
    const struct pt_value cells[] = {
        pt_integer(t->thread->process->pid), pt_integer(t->thread->tid),        pt_text(t->thread->process->comm),
        pt_seconds((pt_i64)t->ns),           pt_integer(t->io.calls),           pt_integer(t->io.bytes),
        pt_integer(t->meta.calls),           pt_integer(t->stdio.calls),        pt_integer(t->thread->heap_allocs),
        pt_integer(t->thread->heap_bytes),   pt_integer(t->thread->heap_frees),
    };
    memcpy(pt_table_add_row(table), cells, sizeof cells);
}

static struct pt_panel *threads_panel(const struct stats *s)
{
    static const struct pt_column columns[] = {
        {"pid", "Pid", PT_SHOW_NUMBER},
        {"tid", "Tid", PT_SHOW_NUMBER},
        {"comm", "Process", PT_SHOW_TEXT},
        {"total_s", "In calls", PT_SHOW_SECONDS},
        {"io_calls", "Transfers", PT_SHOW_COUNT},
        {"io_bytes", "Bytes", PT_SHOW_BYTES},
        {"other_calls", "Other calls", PT_SHOW_COUNT},
        {"stdio_calls", "stdio", PT_SHOW_COUNT},
        {"allocs", "Allocs", PT_SHOW_COUNT},
        {"alloc_bytes", "Allocated", PT_SHOW_BYTES},
        {"frees", "Frees", PT_SHOW_COUNT},
    };
    struct pt_table *table;
    struct pt_panel *panel =
        pt_doc_table(s->doc, "threads", "Threads", columns, sizeof columns / sizeof *columns, &table);
    struct {
        PT_VEC(struct thread_row);
    } rows = {0};
    for (pt_u32 i = 0; i < s->profile->session->n_processes; i++) {
        const struct pt_process *process = s->profile->session->processes[i];
        const bool is_here = pt_profile_stage_of(s->profile, process) == s->stage->index;
        for (pt_u32 j = 0; j < process->n_threads && is_here; j++)
            pt_vec_push(&rows, row_of(&process->threads[j]));
    }
    if (rows.n)
        qsort(rows.items, rows.n, sizeof *rows.items, by_time);
    for (size_t i = 0; i < rows.n && i < s->top; i++)
        add_thread(table, &rows.items[i]);
    table->rows_left_out = rows.n > s->top ? rows.n - s->top : 0;
    free(rows.items);
    return panel;
}

/* ---- heap sizes ---- */

static void sum_classes(const struct stats *s, struct pt_heap_class sums[PT_HEAP_CLASSES])
{
    for (pt_u32 i = 0; i < s->profile->session->n_processes; i++) {
        const struct pt_process *process = s->profile->session->processes[i];
        const bool is_here = pt_profile_stage_of(s->profile, process) == s->stage->index;
        for (pt_u32 j = 0; j < PT_HEAP_CLASSES && is_here; j++) {
            sums[j].count += process->heap.classes[j].count;
            sums[j].bytes += process->heap.classes[j].bytes;
        }
    }
}

static struct pt_panel *heap_sizes_panel(const struct stats *s)
{
    static const struct pt_column columns[] = {
        {"up_to_bytes", "Up to", PT_SHOW_BYTES},
        {"allocs", "Allocations", PT_SHOW_COUNT},
        {"bytes", "Bytes", PT_SHOW_BYTES},
    };
    struct pt_heap_class sums[PT_HEAP_CLASSES] = {{0}};
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(s->doc, "heap_sizes", "Heap sizes", columns, 3, &table);
    sum_classes(s, sums);
    for (pt_u32 j = 0; j < PT_HEAP_CLASSES; j++) {
        if (!sums[j].count)
            continue;
        struct pt_value *row = pt_table_add_row(table);
        row[0] = j == PT_HEAP_CLASSES - 1 ? pt_unknown("no limit") : pt_integer(pt_heap_class_limit(j));
        row[1] = pt_integer(sums[j].count);
        row[2] = pt_integer(sums[j].bytes);
    }
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
        if (view == PT_VIEW_thread_time) /* what threads did in calls stands beside where their time went */
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
