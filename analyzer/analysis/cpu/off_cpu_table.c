/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of waits by stack and reason. Threads: one. Never: hides time of which no stack was taken: it is a
 * row.
 */
#include "off_cpu_table.h"

#include <stdlib.h>

#include "facts/cpu_code.h"
#include "facts/state.h"
#include "tables.h"

enum { MOST_ROWS = 1000 };

struct row {
    const char *reason;
    pt_u32 frame;
    bool is_unsampled;
    double s, main_s;
    pt_u64 samples;
};

struct rows {
    PT_VEC(struct row);
    struct pt_map by_key; /* frame and reason -> index, plus 1 */
    double s;
};

static void add_wait(struct rows *rows, const struct pt_cpu_view *view, const struct pt_cpu_state *wait, double s,
                     bool is_main)
{
    const char *reason = pt_off_cpu_reason(wait);
    const pt_u32 frame = view->frame_of[wait->node];
    pt_u64 *slot = pt_map_at(&rows->by_key, (pt_u64)frame << 32 ^ (pt_u32)(uintptr_t)reason);
    if (!*slot) {
        pt_vec_push(rows, ((struct row){.reason = reason, .frame = frame}));
        *slot = rows->n;
    }
    struct row *row = &rows->items[*slot - 1];
    row->s += s;
    row->main_s += is_main ? s : 0;
    row->samples++;
    rows->s += s;
}

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->s != y->s)
        return x->s < y->s ? 1 : -1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void fill(struct pt_metrics *metrics, const struct pt_cpu_view *view, const struct rows *rows,
                 const struct row *row, struct pt_value *to)
{
    static const char none[] = "of these waits no stack was taken";
    /* That a sleep ends in libc says the reason: where the program called it comes first. */
    to[0] = rows->s > 0 ? pt_real(100 * row->s / rows->s) : pt_unknown("nothing waited");
    to[1] = pt_real(row->s);
    to[2] = row->is_unsampled ? pt_unknown(none) : pt_real(row->main_s);
    to[3] = pt_integer(row->samples);
    to[4] = pt_text(row->reason);
    to[5] = row->is_unsampled ? pt_unknown(none)
                              : pt_text(pt_cpu_stack_text(metrics, view, pt_cpu_program_frame(view, row->frame)));
}

static void add_table(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_cpu_view *view,
                      struct rows *rows)
{
    static const struct pt_column columns[] = {
        {"percent", "Off CPU", PT_SHOW_PERCENT},    {"off_s", "Time", PT_SHOW_SECONDS},
        {"main_s", "Main thread", PT_SHOW_SECONDS}, {"samples", "Samples", PT_SHOW_COUNT},
        {"reason", "Reason", PT_SHOW_TEXT},         {"stack", "Stack", PT_SHOW_TEXT},
    };
    struct pt_table *table = pt_metrics_table(metrics, scope, "cpu.off_stacks", "Off-CPU by stack and reason", columns,
                                              sizeof columns / sizeof *columns);
    qsort(rows->items, rows->n, sizeof *rows->items, by_time);
    for (size_t i = 0; i < rows->n && i < MOST_ROWS; i++)
        fill(metrics, view, rows, &rows->items[i], pt_table_add_row(table));
    table->rows_left_out = rows->n > MOST_ROWS ? rows->n - MOST_ROWS : 0;
}

static void add_thread(struct rows *rows, const struct pt_facts *facts, pt_u32 stage, pt_u32 thread, bool is_main,
                       double unsampled_s[PT_PART__COUNT])
{
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, stage);
    const struct pt_off_weights weights = pt_off_cpu_weigh(cpu, thread);
    for (size_t i = cpu->first[thread]; i < cpu->first[thread + 1]; i++)
        if (cpu->states[i].flags & PT_CPU_HAS_STACK)
            add_wait(rows, &facts->views[stage], &cpu->states[i], pt_off_cpu_s(&weights, &cpu->states[i]), is_main);
    rows->s += pt_off_cpu_unsampled_s(&facts->cpu.off_calls[stage], thread, &weights, unsampled_s);
}

void pt_off_cpu_table(struct pt_profile *profile, pt_u32 stage, pt_u32 main_thread)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_cpu_view *view = &profile->facts->views[stage];
    double unsampled_s[PT_PART__COUNT] = {0};
    struct rows rows = {0};
    if (!(view->data->header.flags & PT_CPU_WAITS)) {
        pt_metrics_set(metrics, scope, "cpu.off_s",
                       pt_unknown("stacks of waits need the right to look into the kernel: "
                                  "kernel.perf_event_paranoid=1, or CAP_PERFMON"));
        return;
    }
    for (pt_u32 i = 1; i < view->data->n_threads; i++)
        add_thread(&rows, profile->facts, stage, i, i == main_thread, unsampled_s);
    for (int part = 0; part < PT_PART__COUNT; part++)
        if (unsampled_s[part] > 0)
            pt_vec_push(&rows, ((struct row){.reason = pt_off_cpu_unsampled_reason((enum pt_time_part)part),
                                             .s = unsampled_s[part],
                                             .is_unsampled = true}));
    pt_metrics_set(metrics, scope, "cpu.off_s", pt_real(rows.s));
    if (rows.n)
        add_table(metrics, scope, view, &rows);
    free(rows.items);
    pt_map_fini(&rows.by_key);
}
