/* SPDX-License-Identifier: MIT
 *
 * Tables of the host: CUDA calls, synchronisations, overheads of the driver, and steps. Threads: one. Never: adds calls
 * that wrappers saw to those that CUPTI recorded.
 */
#include "tables_calls.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/demangle.h"
#include "util/auto.h"

enum { MAX_ROWS = 100 };

static const char *overhead_name(pt_u32 kind)
{
    static const struct {
        pt_u32 kind;
        const char *name;
    } names[] = {
        {PT_CUDA_OVERHEAD_COMPILER, "just-in-time compiling"},
        {PT_CUDA_OVERHEAD_BUFFER_FLUSH, "tracing: flushing buffers"},
        {PT_CUDA_OVERHEAD_INSTRUMENTATION, "tracing: instrumentation"},
        {PT_CUDA_OVERHEAD_RESOURCE, "tracing: resources"},
        {PT_CUDA_OVERHEAD_MODULE_LOADING, "module loading"},
        {PT_CUDA_OVERHEAD_LAZY_LOADING, "lazy loading"},
        {PT_CUDA_OVERHEAD_QUEUE_FULL, "queue of commands full"},
        {PT_CUDA_OVERHEAD_ACTIVITY_BUFFER, "tracing: asking for buffers"},
        {PT_CUDA_OVERHEAD_UVM, "managed memory"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].kind == kind)
            return names[i].name;
    return "other";
}

static const char *name_of(const struct pt_gpu_sum *sum)
{
    return sum->of.what == PT_GPU_SUM_OVERHEAD ? overhead_name(sum->of.kind) : sum->of.name;
}

static int by_time(const void *a, const void *b)
{
    const struct pt_gpu_sum *x = *(const struct pt_gpu_sum *const *)a, *y = *(const struct pt_gpu_sum *const *)b;
    if (x->durations.sum != y->durations.sum)
        return x->durations.sum < y->durations.sum ? 1 : -1;
    const int names = strcmp(name_of(x), name_of(y));
    return names ? names : (x->of.kind > y->of.kind) - (x->of.kind < y->of.kind);
}

struct sum_row {
    const char *name;
    pt_u64 calls, errors;
    double total_s, mean_s, p50_s, p95_s, max_s;
};

static const struct pt_column sum_columns[] = {
    PT_COLUMN(struct sum_row, name, TEXT, "Call"),      PT_COLUMN(struct sum_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct sum_row, errors, COUNT, "Errors"), PT_COLUMN(struct sum_row, total_s, SECONDS, "Total"),
    PT_COLUMN(struct sum_row, mean_s, SECONDS, "Mean"), PT_COLUMN(struct sum_row, p50_s, SECONDS, "p50"),
    PT_COLUMN(struct sum_row, p95_s, SECONDS, "p95"),   PT_COLUMN(struct sum_row, max_s, SECONDS, "Longest"),
};

static void add_sum(struct pt_table *table, struct pt_metrics *metrics, const struct pt_gpu_sum *sum)
{
    const struct pt_histogram *durations = &sum->durations;
    PT_AUTO(pt_freep) char *kernel = sum->of.what == PT_GPU_SUM_WRAPPED ? pt_demangle(name_of(sum)) : NULL;
    pt_table_add(table, &(struct sum_row){
                            .name = pt_metrics_text(metrics, kernel ? kernel : name_of(sum)),
                            .calls = durations->count,
                            .errors = sum->errors,
                            .total_s = (double)durations->sum / 1e9,
                            .mean_s = (double)durations->sum / 1e9 / (double)durations->count,
                            .p50_s = (double)pt_histogram_quantile(durations, 0.50) / 1e9,
                            .p95_s = (double)pt_histogram_quantile(durations, 0.95) / 1e9,
                            .max_s = (double)durations->max / 1e9,
                        });
}

static void sums_table(struct pt_gpu *gpu, pt_u32 stage, enum pt_gpu_sum_kind what, enum pt_view view,
                       const char *label)
{
    const struct pt_table_kind kind = {view, .most = MAX_ROWS, PT_COLUMNS(sum_columns)};
    struct pt_metrics *metrics = &gpu->profile->metrics;
    struct pt_table *table = pt_metrics_add_table(metrics, pt_scope_stage(stage), &kind);
    pt_table_relabel(table, "name", label);
    for (size_t i = 0; i < gpu->sums.n; i++) {
        const struct pt_gpu_sum *sum = gpu->sums.items[i];
        if (sum->of.stage == stage && sum->of.what == what && pt_table_has_room(table))
            add_sum(table, metrics, sum);
    }
}

struct pace_row {
    pt_u32 pid;
    pt_u64 steps, activities_p50;
    double gpu_p50_s, gpu_p95_s;
    struct pt_value rank, p50_s, p95_s, first_s, max_s, slowest_at_s;
};

static const struct pt_column pace_columns[] = {
    PT_COLUMN(struct pace_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct pace_row, rank, NUMBER, "Rank"),
    PT_COLUMN(struct pace_row, steps, COUNT, "Steps"),
    PT_COLUMN(struct pace_row, p50_s, SECONDS, "p50"),
    PT_COLUMN(struct pace_row, p95_s, SECONDS, "p95"),
    PT_COLUMN(struct pace_row, first_s, SECONDS, "First"),
    PT_COLUMN(struct pace_row, gpu_p50_s, SECONDS, "GPU time p50"),
    PT_COLUMN(struct pace_row, gpu_p95_s, SECONDS, "GPU time p95"),
    PT_COLUMN(struct pace_row, activities_p50, COUNT, "Pieces of work p50"),
    PT_COLUMN(struct pace_row, max_s, SECONDS, "Slowest"),
    PT_COLUMN(struct pace_row, slowest_at_s, SECONDS, "It began at"),
};
static const struct pt_table_kind by_process = {PT_VIEW_gpu_pace, .most = MAX_ROWS, PT_COLUMNS(pace_columns)};

static void add_pace(struct pt_rows *rows, const struct pt_process *process, const struct pt_gpu_process *own,
                     pt_i64 origin_ns)
{
    const struct pt_gpu_pace *pace = own->pace;
    const struct pt_histogram *durations = &pace->durations;
    const bool has_several = durations->count;
    const struct pt_value none = pt_unknown("there was only one step");
    pt_rows_add(rows, &(struct pace_row){
                          .pid = process->pid,
                          .rank = process->rank >= 0 ? pt_integer((pt_u64)process->rank)
                                                     : pt_unknown("no launcher gave it one"),
                          .steps = own->step,
                          .p50_s = has_several ? pt_seconds((pt_i64)pt_histogram_quantile(durations, 0.50)) : none,
                          .p95_s = has_several ? pt_seconds((pt_i64)pt_histogram_quantile(durations, 0.95)) : none,
                          .first_s = has_several ? pt_seconds(pace->first_ns) : none,
                          .gpu_p50_s = (double)pt_histogram_quantile(&pace->gpu, 0.50) / 1e9,
                          .gpu_p95_s = (double)pt_histogram_quantile(&pace->gpu, 0.95) / 1e9,
                          .activities_p50 = pt_histogram_quantile(&pace->activities, 0.50),
                          .max_s = has_several ? pt_seconds((pt_i64)durations->max) : none,
                          .slowest_at_s = has_several ? pt_seconds(pace->slowest_at_ns - origin_ns) : none,
                      });
}

static void pace_table(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_session *session = gpu->profile->session;
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_process);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        if (gpu->processes[i] && gpu->processes[i]->pace && pt_gpu_stage_of(gpu, process) == stage)
            add_pace(&rows, process, gpu->processes[i], gpu->profile->stages.items[stage].start_ns);
    }
}

void pt_gpu_call_tables(struct pt_gpu *gpu, pt_u32 stage)
{
    if (gpu->sums.n)
        qsort(gpu->sums.items, gpu->sums.n, sizeof *gpu->sums.items, by_time);
    sums_table(gpu, stage, PT_GPU_SUM_CALL, PT_VIEW_gpu_calls, "Call");
    sums_table(gpu, stage, PT_GPU_SUM_WRAPPED, PT_VIEW_gpu_wrapped, "Call or kernel");
    sums_table(gpu, stage, PT_GPU_SUM_SYNC, PT_VIEW_gpu_syncs, "Waited for");
    sums_table(gpu, stage, PT_GPU_SUM_OVERHEAD, PT_VIEW_gpu_overheads, "What for");
    pace_table(gpu, stage);
}
