/* SPDX-License-Identifier: MIT
 *
 * Tables of the host's side: CUDA calls, synchronisations, what the driver did beside the program, and steps. Threads:
 * one. Never: adds calls that wrappers saw to those that CUPTI told of.
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

static const char *name_of(const struct gpu_sum *sum)
{
    return sum->of.what == GPU_SUM_OVERHEAD ? overhead_name(sum->of.kind) : sum->of.name;
}

static int by_time(const void *a, const void *b)
{
    const struct gpu_sum *x = *(const struct gpu_sum *const *)a, *y = *(const struct gpu_sum *const *)b;
    if (x->durations.sum != y->durations.sum)
        return x->durations.sum < y->durations.sum ? 1 : -1;
    const int names = strcmp(name_of(x), name_of(y));
    return names ? names : (x->of.kind > y->of.kind) - (x->of.kind < y->of.kind);
}

static void sums_table(struct gpu *gpu, pt_u32 stage, enum gpu_sum_kind what, const char *name, const char *title,
                       const char *label)
{
    const struct pt_column columns[] = {
        {"name", label, PT_SHOW_TEXT},       {"calls", "Calls", PT_SHOW_COUNT},
        {"errors", "Errors", PT_SHOW_COUNT}, {"total_s", "Total", PT_SHOW_SECONDS},
        {"mean_s", "Mean", PT_SHOW_SECONDS}, {"p50_s", "p50", PT_SHOW_SECONDS},
        {"p95_s", "p95", PT_SHOW_SECONDS},   {"max_s", "Longest", PT_SHOW_SECONDS},
    };
    struct pt_table *table = pt_metrics_table(&gpu->profile->metrics, pt_scope_stage(stage), name, title, columns,
                                              sizeof columns / sizeof *columns);
    for (size_t i = 0; i < gpu->sums.n; i++) {
        const struct gpu_sum *sum = gpu->sums.items[i];
        const struct pt_histogram *durations = &sum->durations;
        if (sum->of.stage != stage || sum->of.what != what)
            continue;
        if (table->n_rows == MAX_ROWS) {
            table->rows_left_out++;
            continue;
        }
        struct pt_value *row = pt_table_add_row(table);
        PT_AUTO(pt_freep) char *kernel = what == GPU_SUM_WRAPPED ? pt_demangle(name_of(sum)) : NULL;
        row[0] = pt_text(pt_metrics_text(&gpu->profile->metrics, kernel ? kernel : name_of(sum)));
        row[1] = pt_integer(durations->count);
        row[2] = pt_integer(sum->errors);
        row[3] = pt_seconds((pt_i64)durations->sum);
        row[4] = pt_real((double)durations->sum / 1e9 / (double)durations->count);
        row[5] = pt_seconds((pt_i64)pt_histogram_quantile(durations, 0.50));
        row[6] = pt_seconds((pt_i64)pt_histogram_quantile(durations, 0.95));
        row[7] = pt_seconds((pt_i64)durations->max);
    }
}

static void add_pace(struct pt_value *row, const struct gpu_process *process, pt_i64 origin_ns)
{
    const struct gpu_pace *pace = process->pace;
    const struct pt_histogram *durations = &pace->durations;
    const struct pt_value none = pt_unknown("there was only one step");
    row[0] = pt_integer(process->step);
    row[1] = durations->count ? pt_seconds((pt_i64)pt_histogram_quantile(durations, 0.50)) : none;
    row[2] = durations->count ? pt_seconds((pt_i64)pt_histogram_quantile(durations, 0.95)) : none;
    row[3] = durations->count ? pt_seconds(pace->first_ns) : none;
    row[4] = pt_seconds((pt_i64)pt_histogram_quantile(&pace->gpu, 0.50));
    row[5] = pt_seconds((pt_i64)pt_histogram_quantile(&pace->gpu, 0.95));
    row[6] = pt_integer(pt_histogram_quantile(&pace->activities, 0.50));
    row[7] = durations->count ? pt_seconds((pt_i64)durations->max) : none;
    row[8] = durations->count ? pt_seconds(pace->slowest_at_ns - origin_ns) : none;
}

static void pace_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"pid", "PID", PT_SHOW_NUMBER},
        {"rank", "Rank", PT_SHOW_NUMBER},
        {"steps", "Steps", PT_SHOW_COUNT},
        {"p50_s", "p50", PT_SHOW_SECONDS},
        {"p95_s", "p95", PT_SHOW_SECONDS},
        {"first_s", "First", PT_SHOW_SECONDS},
        {"gpu_p50_s", "GPU time p50", PT_SHOW_SECONDS},
        {"gpu_p95_s", "GPU time p95", PT_SHOW_SECONDS},
        {"activities_p50", "Pieces of work p50", PT_SHOW_COUNT},
        {"max_s", "Slowest", PT_SHOW_SECONDS},
        {"slowest_at_s", "It began at", PT_SHOW_SECONDS},
    };
    const struct pt_session *session = gpu->profile->session;
    struct pt_table *table = pt_metrics_table(&gpu->profile->metrics, pt_scope_stage(stage), "gpu.pace",
                                              "Pace of the steps", columns, sizeof columns / sizeof *columns);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        if (!gpu->processes[i] || !gpu->processes[i]->pace || pt_gpu_stage_of(gpu, process) != stage)
            continue;
        if (table->n_rows == MAX_ROWS) {
            table->rows_left_out++;
            continue;
        }
        struct pt_value *row = pt_table_add_row(table);
        add_pace(row + 2, gpu->processes[i], gpu->profile->stages.items[stage].start_ns);
        row[0] = pt_integer(process->pid);
        row[1] = process->rank >= 0 ? pt_integer((pt_u64)process->rank) : pt_unknown("no launcher gave it one");
    }
}

void pt_gpu_call_tables(struct gpu *gpu, pt_u32 stage)
{
    if (gpu->sums.n)
        qsort(gpu->sums.items, gpu->sums.n, sizeof *gpu->sums.items, by_time);
    sums_table(gpu, stage, GPU_SUM_CALL, "gpu.calls", "CUDA calls", "Call");
    sums_table(gpu, stage, GPU_SUM_WRAPPED, "gpu.wrapped", "CUDA calls seen by wrappers", "Call or kernel");
    sums_table(gpu, stage, GPU_SUM_SYNC, "gpu.syncs", "Synchronisations", "Waited for");
    sums_table(gpu, stage, GPU_SUM_OVERHEAD, "gpu.overheads", "Time the driver took", "What for");
    pace_table(gpu, stage);
}
