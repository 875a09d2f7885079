/* SPDX-License-Identifier: MIT
 *
 * Owns: the tables of `proftrace stats`. Threads: one. Never: takes a count from events where an exact total exists.
 */
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/call_class.h"

struct stats {
    const struct pt_profile *profile;
    struct pt_doc *doc;
    struct pt_node *list; /* of the stage at hand */
    size_t top;
};

static struct pt_node *new_row(const struct stats *s)
{
    return pt_doc_group(s->doc, s->list, NULL, NULL, PT_LAYOUT_LINES);
}

static void cell(const struct stats *s, struct pt_node *row, const char *key, const char *label, enum pt_show show,
                 struct pt_value value)
{
    const pt_u32 column = row->last ? row->last->column + 1 : 1;
    pt_doc_value(s->doc, row, key, label, show, value)->column = column;
}

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

static void add_thread(const struct stats *s, const struct thread_row *t)
{
    struct pt_node *row = new_row(s);
    cell(s, row, "pid", "Pid", PT_SHOW_NUMBER, pt_integer(t->thread->process->pid));
    cell(s, row, "tid", "Tid", PT_SHOW_NUMBER, pt_integer(t->thread->tid));
    cell(s, row, "comm", "Process", PT_SHOW_TEXT, pt_text(t->thread->process->comm));
    cell(s, row, "total_s", "In calls", PT_SHOW_SECONDS, pt_seconds((pt_i64)t->ns));
    cell(s, row, "io_calls", "Transfers", PT_SHOW_COUNT, pt_integer(t->io.calls));
    cell(s, row, "io_bytes", "Bytes", PT_SHOW_BYTES, pt_integer(t->io.bytes));
    cell(s, row, "other_calls", "Other calls", PT_SHOW_COUNT, pt_integer(t->meta.calls));
    cell(s, row, "stdio_calls", "stdio", PT_SHOW_COUNT, pt_integer(t->stdio.calls));
    cell(s, row, "allocs", "Allocs", PT_SHOW_COUNT, pt_integer(t->thread->heap_allocs));
    cell(s, row, "alloc_bytes", "Allocated", PT_SHOW_BYTES, pt_integer(t->thread->heap_bytes));
    cell(s, row, "frees", "Frees", PT_SHOW_COUNT, pt_integer(t->thread->heap_frees));
}

static void add_threads(const struct stats *s, pt_u32 stage)
{
    struct {
        PT_VEC(struct thread_row);
    } rows = {0};
    for (pt_u32 i = 0; i < s->profile->session->n_processes; i++) {
        const struct pt_process *process = s->profile->session->processes[i];
        for (pt_u32 j = 0; j < process->n_threads && pt_profile_stage_of(s->profile, process) == stage; j++)
            pt_vec_push(&rows, row_of(&process->threads[j]));
    }
    if (rows.n)
        qsort(rows.items, rows.n, sizeof *rows.items, by_time);
    for (size_t i = 0; i < rows.n && i < s->top; i++)
        add_thread(s, &rows.items[i]);
    s->list->rows_left_out = rows.n > s->top ? rows.n - s->top : 0;
    free(rows.items);
}

/* ---- heap sizes ---- */

static void add_heap_sizes(const struct stats *s, pt_u32 stage)
{
    struct pt_heap_class sums[PT_HEAP_CLASSES] = {{0}};
    for (pt_u32 i = 0; i < s->profile->session->n_processes; i++) {
        const struct pt_process *process = s->profile->session->processes[i];
        for (pt_u32 j = 0; j < PT_HEAP_CLASSES && pt_profile_stage_of(s->profile, process) == stage; j++) {
            sums[j].count += process->heap.classes[j].count;
            sums[j].bytes += process->heap.classes[j].bytes;
        }
    }
    for (pt_u32 j = 0; j < PT_HEAP_CLASSES; j++) {
        if (!sums[j].count)
            continue;
        struct pt_node *row = new_row(s);
        const bool is_last = j == PT_HEAP_CLASSES - 1;
        cell(s, row, "up_to_bytes", "Up to", PT_SHOW_BYTES,
             is_last ? pt_unknown("no limit") : pt_integer(pt_heap_class_limit(j)));
        cell(s, row, "allocs", "Allocations", PT_SHOW_COUNT, pt_integer(sums[j].count));
        cell(s, row, "bytes", "Bytes", PT_SHOW_BYTES, pt_integer(sums[j].bytes));
    }
}

/* ---- one stage ---- */

static struct pt_node *add_list(const struct stats *s, struct pt_node *item, const char *key, const char *label,
                                pt_u32 stage)
{
    char title[256];
    snprintf(title, sizeof title, "%s: %s", s->profile->stages.items[stage].name, label);
    return pt_doc_list(s->doc, item, key, title, PT_LAYOUT_TABLE);
}

static void add_table(const struct stats *s, struct pt_node *item, const char *name, const char *key, pt_u32 stage)
{
    char title[256];
    const struct pt_table *table = pt_metrics_find_table(&s->profile->metrics, pt_scope_stage(stage), name);
    if (!table)
        return;
    snprintf(title, sizeof title, "%s: %s", s->profile->stages.items[stage].name, table->title);
    pt_doc_table(s->doc, item, key, title, table, s->top);
}

static void add_stage(struct stats *s, struct pt_node *item, enum pt_stats_by by, pt_u32 stage)
{
    pt_doc_value(s->doc, item, "stage", NULL, PT_SHOW_TEXT, pt_text(s->profile->stages.items[stage].name));
    switch (by) {
    case PT_STATS_CALL:
        add_table(s, item, "calls", "calls", stage);
        break;
    case PT_STATS_FILE:
        add_table(s, item, "io.files", "files", stage);
        break;
    case PT_STATS_STACK:
        add_table(s, item, "cpu.stacks", "cpu_stacks", stage);
        add_table(s, item, "cpu.off_stacks", "off_cpu_stacks", stage);
        add_table(s, item, "heap.stacks", "heap_stacks", stage);
        break;
    case PT_STATS_THREAD:
        add_table(s, item, "threads", "thread_time", stage);
        s->list = add_list(s, item, "threads", "Threads", stage);
        add_threads(s, stage);
        add_table(s, item, "cpu.threads", "cpu_threads", stage);
        add_table(s, item, "cpu.thread_functions", "cpu_thread_functions", stage);
        break;
    case PT_STATS_SIZE:
        add_table(s, item, "io.sizes", "io_sizes", stage);
        s->list = add_list(s, item, "heap_sizes", "Heap sizes", stage);
        add_heap_sizes(s, stage);
        break;
    }
}

struct pt_doc *pt_stats_build(const struct pt_profile *profile, enum pt_stats_by by, const char *stage, size_t top)
{
    struct stats s = {.profile = profile, .doc = pt_doc_new(), .top = top};
    pt_doc_value(s.doc, s.doc->root, "schema_version", NULL, PT_SHOW_TEXT, pt_text("1.0"));
    struct pt_node *stages = pt_doc_list(s.doc, s.doc->root, "stages", NULL, PT_LAYOUT_TABLE);
    for (pt_u32 i = 0; i < profile->stages.n; i++)
        if (!stage || !strcmp(stage, profile->stages.items[i].name))
            add_stage(&s, pt_doc_group(s.doc, stages, NULL, NULL, PT_LAYOUT_LINES), by, i);
    return s.doc;
}
