/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of waits by stack and reason. Threads: one. Never: hides time of which no stack was taken: it is a
 * sum.
 */
#include "off_cpu_table.h"

#include <stdlib.h>

#include "facts/cpu_code.h"
#include "facts/state.h"
#include "util/auto.h"
#include "util/mem.h"
#include "tables.h"

enum { MOST_ROWS = 1000 };

struct sum {
    const char *reason;
    enum pt_time_part part;
    pt_u32 frame;
    bool is_unsampled;
    double s, main_s;
    pt_u64 samples;
};

/* Of threads that wait for work all their lives: nobody can do anything about that, so they stand last. */
static const char idle_threads[] = "Idle threads";

struct sums {
    PT_VEC(struct sum);
    struct pt_map by_key; /* frame and part -> index, plus 1 */
    double s;
    const pt_u8 *is_idle; /* by thread */
};

static void add_wait(struct sums *sums, const struct pt_cpu_view *view, const struct pt_cpu_state *wait, double s,
                     bool is_main, bool is_idle)
{
    const enum pt_time_part part = is_idle ? PT_PART_idle : pt_off_cpu_part(wait);
    const pt_u32 frame = view->frame_of[wait->node];
    pt_u64 *slot = pt_map_at(&sums->by_key, (pt_u64)frame << 32 | part);
    if (!*slot) {
        pt_vec_push(
            sums,
            ((struct sum){.reason = is_idle ? idle_threads : pt_off_cpu_reason(wait), .part = part, .frame = frame}));
        *slot = sums->n;
    }
    struct sum *sum = &sums->items[*slot - 1];
    sum->s += s;
    sum->main_s += is_main ? s : 0;
    sum->samples++;
    sums->s += s;
}

static int by_time(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    if ((x->reason == idle_threads) != (y->reason == idle_threads))
        return x->reason == idle_threads ? 1 : -1;
    if (x->s != y->s)
        return x->s < y->s ? 1 : -1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

struct stack_row {
    struct pt_value percent, main_s, stack;
    double off_s;
    pt_u64 samples;
    const char *reason;
    pt_u32 part; /* of the time account: what the reason is called there */
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct stack_row, percent, PERCENT, "Off CPU"),
    PT_COLUMN(struct stack_row, off_s, SECONDS, "Time"),
    PT_COLUMN(struct stack_row, main_s, SECONDS, "Main thread"),
    PT_COLUMN(struct stack_row, samples, COUNT, "Samples"),
    PT_COLUMN(struct stack_row, reason, TEXT, "Reason"),
    PT_COLUMN(struct stack_row, stack, TEXT, "Stack"),
    PT_COLUMN(struct stack_row, part, NOWHERE, NULL),
};
static const struct pt_table_kind by_stack = {PT_VIEW_off_cpu_stacks, .most = MOST_ROWS, PT_COLUMNS(columns)};

static struct stack_row row_of(struct pt_metrics *metrics, const struct pt_cpu_view *view, const struct sums *sums,
                               const struct sum *sum)
{
    const struct pt_value none = pt_unknown("of these waits no stack was taken");
    struct stack_row row = {
        .percent = sums->s > 0 ? pt_real(100 * sum->s / sums->s) : pt_unknown("nothing waited"),
        .off_s = sum->s,
        .main_s = none,
        .samples = sum->samples,
        .reason = sum->reason,
        .part = sum->part,
        .stack = none,
    };
    if (!sum->is_unsampled) {
        /* That a sleep ends in libc says the reason: where the program called it comes first. */
        pt_u32 line;
        const pt_u32 frame = pt_cpu_program_frame(view, sum->frame, &line);
        row.main_s = pt_real(sum->main_s);
        row.stack = pt_text(pt_cpu_stack_text(metrics, view, frame, line));
    }
    return row;
}

static void add_table(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_cpu_view *view,
                      struct sums *sums)
{
    struct pt_rows rows = pt_rows(metrics, scope, &by_stack);
    qsort(sums->items, sums->n, sizeof *sums->items, by_time);
    for (size_t i = 0; i < sums->n; i++) {
        if (!pt_rows_have_room(&rows))
            continue;
        const struct stack_row row = row_of(metrics, view, sums, &sums->items[i]);
        pt_rows_add(&rows, &row);
    }
}

static void add_thread(struct sums *sums, const struct pt_facts *facts, pt_u32 stage, pt_u32 thread,
                       const struct pt_path_thread *on_path, double unsampled_s[PT_PART__COUNT])
{
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, stage);
    const struct pt_off_weights weights = pt_off_cpu_weigh(cpu, thread);
    for (size_t i = cpu->first[thread]; i < cpu->first[thread + 1]; i++)
        if (cpu->states[i].flags & PT_CPU_HAS_STACK)
            add_wait(sums, &facts->views[stage], &cpu->states[i], pt_off_cpu_s(&weights, &cpu->states[i]),
                     pt_path_thread_is_critical(facts, on_path, cpu->states[i].start_ns, cpu->states[i].end_ns,
                                                pt_off_cpu_part(&cpu->states[i])),
                     sums->is_idle[thread]);
    sums->s += pt_off_cpu_unsampled_s(&facts->cpu.off_calls[stage], thread, &weights, unsampled_s);
}

void pt_off_cpu_table(struct pt_profile *profile, pt_u32 stage, const struct pt_path_thread *threads)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_cpu_view *view = &profile->facts->views[stage];
    double unsampled_s[PT_PART__COUNT] = {0};
    PT_AUTO(pt_freep) pt_u8 *is_idle = pt_calloc(view->data->n_threads, sizeof *is_idle);
    struct sums sums = {.is_idle = is_idle};
    if (!(view->data->header.flags & PT_CPU_WAITS)) {
        pt_metrics_set(metrics, scope, "cpu.off_s",
                       pt_unknown("stacks of waits need the right to look into the kernel: "
                                  "kernel.perf_event_paranoid=1, or CAP_PERFMON"));
        return;
    }
    pt_mark_idle_helpers(profile, stage, is_idle, true);
    for (pt_u32 i = 1; i < view->data->n_threads; i++)
        add_thread(&sums, profile->facts, stage, i, &threads[i], unsampled_s);
    for (int part = 0; part < PT_PART__COUNT; part++)
        if (unsampled_s[part] > 0)
            pt_vec_push(&sums, ((struct sum){.reason = pt_off_cpu_unsampled_reason((enum pt_time_part)part),
                                             .part = (enum pt_time_part)part,
                                             .s = unsampled_s[part],
                                             .is_unsampled = true}));
    pt_metrics_set(metrics, scope, "cpu.off_s", pt_real(sums.s));
    if (sums.n)
        add_table(metrics, scope, view, &sums);
    free(sums.items);
    pt_map_fini(&sums.by_key);
}
