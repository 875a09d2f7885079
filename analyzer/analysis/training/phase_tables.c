/* SPDX-License-Identifier: MIT
 *
 * Owns: the tables of phases, and of what they are of. Threads: one. Never: counts a phase within one of its kind.
 */
#include "phase_tables.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 100 };

struct phase_row {
    const char *phase;
    pt_u64 calls;
    double total_s, self_s;
    struct pt_value share_percent;
    double p50_s, p95_s;
};

static const struct pt_column phase_columns[] = {
    PT_COLUMN(struct phase_row, phase, TEXT, "Phase"),
    PT_COLUMN(struct phase_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct phase_row, total_s, SECONDS, "Total"),
    PT_COLUMN(struct phase_row, self_s, SECONDS, "Self"),
    PT_COLUMN(struct phase_row, share_percent, PERCENT, "Share"),
    PT_COLUMN(struct phase_row, p50_s, SECONDS, "p50"),
    PT_COLUMN(struct phase_row, p95_s, SECONDS, "p95"),
};
static const struct pt_table_kind by_phase = {PT_VIEW_phases, .most = PT_N_PHASES, PT_COLUMNS(phase_columns)};

struct named_row {
    const char *phase, *name;
    pt_u64 calls;
    double total_s, self_s, p50_s, p95_s;
};

static const struct pt_column named_columns[] = {
    PT_COLUMN(struct named_row, phase, TEXT, "Phase"),    PT_COLUMN(struct named_row, name, TEXT, "Of"),
    PT_COLUMN(struct named_row, calls, COUNT, "Calls"),   PT_COLUMN(struct named_row, total_s, SECONDS, "Total"),
    PT_COLUMN(struct named_row, self_s, SECONDS, "Self"), PT_COLUMN(struct named_row, p50_s, SECONDS, "p50"),
    PT_COLUMN(struct named_row, p95_s, SECONDS, "p95"),
};
static const struct pt_table_kind by_name = {PT_VIEW_phases_by_name, .most = MOST_NAMED, PT_COLUMNS(named_columns)};

struct stage_phase {
    struct pt_phase_sum sum;
    pt_i64 lived_ns; /* by all threads that had it, as long as their processes */
};

static void add_process(struct stage_phase *phase, const struct pt_phase_process *from, pt_u32 kind,
                        const struct pt_process *process)
{
    const struct pt_phase_sum *sum = &from->sums[kind];
    phase->sum.calls += sum->calls;
    phase->sum.total_ns += sum->total_ns;
    phase->sum.self_ns += sum->self_ns;
    phase->lived_ns += (process->end_ns - process->start_ns) * from->n_threads[kind];
}

static void put_phases(const struct pt_trainings *results, pt_u32 stage)
{
    struct pt_rows rows = pt_rows(&results->profile->metrics, pt_scope_stage(stage), &by_phase);
    for (pt_u32 kind = 1; kind < PT_N_PHASES; kind++) {
        struct stage_phase phase = {0};
        for (pt_u32 i = 0; i < results->sums->n_processes; i++) {
            const struct pt_process *process = results->profile->session->processes[i];
            if (results->sums->processes[i] && pt_profile_stage_of(results->profile, process) == stage)
                add_process(&phase, results->sums->processes[i], kind, process);
        }
        const struct pt_times *durations = results->sums->durations[stage * PT_N_PHASES + kind];
        if (!durations)
            continue;
        pt_rows_add(&rows,
                    &(struct phase_row){
                        .phase = pt_phase_names[kind],
                        .calls = phase.sum.calls,
                        .total_s = (double)phase.sum.total_ns / 1e9,
                        .self_s = (double)phase.sum.self_ns / 1e9,
                        .share_percent = phase.lived_ns > 0 ? pt_real(pt_percent_of(phase.sum.total_ns, phase.lived_ns))
                                                            : pt_unknown(pt_end_unknown_reason),
                        .p50_s = pt_times_quantile_s(durations, 0.5),
                        .p95_s = pt_times_quantile_s(durations, 0.95),
                    });
    }
}

static int by_total(const void *a, const void *b)
{
    const struct pt_named_phase *x = *(const struct pt_named_phase *const *)a;
    const struct pt_named_phase *y = *(const struct pt_named_phase *const *)b;
    if (x->sum.total_ns != y->sum.total_ns)
        return x->sum.total_ns < y->sum.total_ns ? 1 : -1;
    return x->kind != y->kind ? (x->kind > y->kind ? 1 : -1) : strcmp(x->name, y->name);
}

static void put_named(const struct pt_trainings *results, pt_u32 stage)
{
    struct pt_metrics *metrics = &results->profile->metrics;
    struct pt_rows rows = pt_rows(metrics, pt_scope_stage(stage), &by_name);
    const struct pt_named_phase **sorted = pt_calloc(results->sums->named.n, sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; i < results->sums->named.n; i++)
        if (results->sums->named.items[i].stage == stage && results->sums->named.items[i].sum.calls)
            sorted[n++] = &results->sums->named.items[i];
    if (n)
        qsort(sorted, n, sizeof *sorted, by_total);
    for (size_t i = 0; i < n; i++)
        if (pt_rows_have_room(&rows))
            pt_rows_add(&rows, &(struct named_row){
                                   .phase = pt_phase_names[sorted[i]->kind],
                                   .name = pt_metrics_text(metrics, sorted[i]->name),
                                   .calls = sorted[i]->sum.calls,
                                   .total_s = (double)sorted[i]->sum.total_ns / 1e9,
                                   .self_s = (double)sorted[i]->sum.self_ns / 1e9,
                                   .p50_s = pt_times_quantile_s(sorted[i]->durations, 0.5),
                                   .p95_s = pt_times_quantile_s(sorted[i]->durations, 0.95),
                               });
    free(sorted);
}

void pt_training_phase_tables(const struct pt_trainings *results, pt_u32 stage)
{
    put_phases(results, stage);
    put_named(results, stage);
}
