/* SPDX-License-Identifier: MIT
 *
 * Tables of what GPUs did: kernels, copies and their sizes, collectives. Threads: one. Never: shows a mangled name that
 * can be read.
 */
#include "tables_work.h"

#include <stdlib.h>
#include <string.h>

#include "model/cuda_kinds.h"
#include "profile/process_name.h"
#include "symbols/demangle.h"
#include "util/auto.h"
#include "tables_memory.h"
#include "tables_ranges.h"

enum { MAX_KERNELS = 200, MAX_RANKS = 200 };

/* ---- kernels ---- */

static int by_kernel_time(const void *a, const void *b)
{
    const struct pt_gpu_kernel *x = *(const struct pt_gpu_kernel *const *)a,
                               *y = *(const struct pt_gpu_kernel *const *)b;
    if (x->durations.sum != y->durations.sum)
        return x->durations.sum < y->durations.sum ? 1 : -1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static const char *readable(struct pt_metrics *metrics, const char *name)
{
    PT_AUTO(pt_freep) char *demangled = name ? pt_demangle(name) : NULL;
    return pt_metrics_text(metrics, demangled ? demangled : name ? name : "(other kernels)");
}

struct kernel_row {
    const char *name;
    pt_u64 calls;
    double total_s, share_percent, mean_s, p50_s, p95_s, min_s, max_s;
    struct pt_value launch_mean_s, wait_mean_s, configurations;
    pt_u32 device;
};

static const struct pt_column kernel_columns[] = {
    PT_COLUMN(struct kernel_row, name, TEXT, "Kernel"),
    PT_COLUMN(struct kernel_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct kernel_row, total_s, SECONDS, "Total"),
    PT_COLUMN(struct kernel_row, share_percent, PERCENT, "Share"),
    PT_COLUMN(struct kernel_row, mean_s, SECONDS, "Mean"),
    PT_COLUMN(struct kernel_row, p50_s, SECONDS, "p50"),
    PT_COLUMN(struct kernel_row, p95_s, SECONDS, "p95"),
    PT_COLUMN(struct kernel_row, launch_mean_s, SECONDS, "Launch call"),
    PT_COLUMN(struct kernel_row, wait_mean_s, SECONDS, "In the queue"),
    PT_COLUMN(struct kernel_row, min_s, SECONDS, "Shortest"),
    PT_COLUMN(struct kernel_row, max_s, SECONDS, "Longest"),
    PT_COLUMN(struct kernel_row, configurations, COUNT, "Grids"),
    PT_COLUMN(struct kernel_row, device, NUMBER, "GPU"),
};
static const struct pt_table_kind by_kernel = {PT_VIEW_gpu_kernels, .most = MAX_KERNELS, PT_COLUMNS(kernel_columns)};

static struct pt_value mean_of(double sum_ns, pt_u64 launched)
{
    return launched ? pt_real(sum_ns / 1e9 / (double)launched) : pt_unknown("no launch of it was recorded");
}

static void add_kernel(struct pt_rows *rows, const struct pt_gpu_kernel *kernel, const struct pt_gpu_device *device,
                       double all_ns)
{
    const struct pt_histogram *durations = &kernel->durations;
    pt_rows_add(rows, &(struct kernel_row){
                          .name = readable(rows->metrics, kernel->name),
                          .calls = durations->count,
                          .total_s = (double)durations->sum / 1e9,
                          .share_percent = all_ns > 0 ? 100 * (double)durations->sum / all_ns : 0,
                          .mean_s = (double)durations->sum / 1e9 / (double)durations->count,
                          .p50_s = (double)pt_histogram_quantile(durations, 0.50) / 1e9,
                          .p95_s = (double)pt_histogram_quantile(durations, 0.95) / 1e9,
                          .launch_mean_s = mean_of((double)kernel->api_ns, kernel->launched),
                          .wait_mean_s = mean_of((double)kernel->wait_ns, kernel->launched),
                          .min_s = (double)durations->min / 1e9,
                          .max_s = (double)durations->max / 1e9,
                          .configurations = kernel->variants ? pt_integer(kernel->variants) : pt_unknown(NULL),
                          .device = device->number,
                      });
}

static void kernels_table(struct pt_gpu *gpu, pt_u32 stage)
{
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_kernel);
    double all_ns = 0;
    for (size_t i = 0; i < gpu->kernels.n; i++)
        if (gpu->devices.items[gpu->kernels.items[i]->device]->stage == stage)
            all_ns += (double)gpu->kernels.items[i]->durations.sum;
    for (size_t i = 0; i < gpu->kernels.n; i++) {
        const struct pt_gpu_device *device = gpu->devices.items[gpu->kernels.items[i]->device];
        if (device->stage == stage && pt_rows_have_room(&rows))
            add_kernel(&rows, gpu->kernels.items[i], device, all_ns);
    }
}

/* ---- their way ---- */

struct way {
    double s, p50_s, p95_s;
};

struct launch_row {
    pt_u32 device;
    pt_u64 kernels;
    struct way launch, queue, run;
};

static const struct pt_column launch_columns[] = {
    PT_COLUMN(struct launch_row, device, NUMBER, "GPU"),
    PT_COLUMN(struct launch_row, kernels, COUNT, "Kernels"),
    PT_COLUMN_AT(struct launch_row, launch.s, "launch_s", SECONDS, "Launching"),
    PT_COLUMN_AT(struct launch_row, launch.p50_s, "launch_p50_s", SECONDS, "p50"),
    PT_COLUMN_AT(struct launch_row, launch.p95_s, "launch_p95_s", SECONDS, "p95"),
    PT_COLUMN_AT(struct launch_row, queue.s, "queue_s", SECONDS, "In the queue"),
    PT_COLUMN_AT(struct launch_row, queue.p50_s, "queue_p50_s", SECONDS, "p50"),
    PT_COLUMN_AT(struct launch_row, queue.p95_s, "queue_p95_s", SECONDS, "p95"),
    PT_COLUMN_AT(struct launch_row, run.s, "run_s", SECONDS, "Running"),
    PT_COLUMN_AT(struct launch_row, run.p50_s, "run_p50_s", SECONDS, "p50"),
    PT_COLUMN_AT(struct launch_row, run.p95_s, "run_p95_s", SECONDS, "p95"),
};
static const struct pt_table_kind by_device = {PT_VIEW_gpu_launches, PT_COLUMNS(launch_columns)};

static struct way way_of(const struct pt_histogram *durations)
{
    return (struct way){
        .s = (double)durations->sum / 1e9,
        .p50_s = (double)pt_histogram_quantile(durations, 0.50) / 1e9,
        .p95_s = (double)pt_histogram_quantile(durations, 0.95) / 1e9,
    };
}

static void launches_table(struct pt_gpu *gpu, pt_u32 stage)
{
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_device);
    for (size_t i = 0; i < gpu->devices.n; i++) {
        const struct pt_gpu_device *device = gpu->devices.items[i];
        if (device->stage == stage && device->launches)
            pt_rows_add(&rows, &(struct launch_row){
                                   .device = device->number,
                                   .kernels = device->launches->call.count,
                                   .launch = way_of(&device->launches->call),
                                   .queue = way_of(&device->launches->queue),
                                   .run = way_of(&device->launches->run),
                               });
    }
}

/* ---- copies ---- */

static int by_copy_time(const void *a, const void *b)
{
    const struct pt_gpu_copies *x = *(const struct pt_gpu_copies *const *)a,
                               *y = *(const struct pt_gpu_copies *const *)b;
    if (x->durations.sum != y->durations.sum)
        return x->durations.sum < y->durations.sum ? 1 : -1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->kinds > y->kinds) - (x->kinds < y->kinds);
}

static const char *kind_of(const struct pt_gpu_copies *copies)
{
    return copies->kinds & PT_GPU_IS_SET ? "set" : pt_cuda_copy_kind(pt_cuda_copy_of(copies->kinds))->name;
}

static const char *memory_of(pt_u32 kind)
{
    return pt_cuda_memory_kind(kind)->name;
}

static struct pt_value is_pageable(const struct pt_gpu_copies *copies)
{
    const pt_u32 from = pt_cuda_copy_source(copies->kinds), to = pt_cuda_copy_target(copies->kinds);
    if (copies->kinds & PT_GPU_IS_SET)
        return pt_bool(to == PT_CUDA_MEMORY_PAGEABLE);
    if (!from || !to)
        return pt_unknown("the kind of memory is not known");
    return pt_bool(from == PT_CUDA_MEMORY_PAGEABLE || to == PT_CUDA_MEMORY_PAGEABLE);
}

struct copy_row {
    const char *kind, *from, *to;
    struct pt_value pageable, rate_bytes_per_s;
    bool asynchronous;
    pt_u64 calls, bytes;
    double total_s, p95_s, call_s;
    pt_u32 device;
};

static const struct pt_column copy_columns[] = {
    PT_COLUMN(struct copy_row, kind, TEXT, "Copy"),
    PT_COLUMN(struct copy_row, from, TEXT, "From"),
    PT_COLUMN(struct copy_row, to, TEXT, "To"),
    PT_COLUMN(struct copy_row, pageable, BOOL, "Pageable"),
    PT_COLUMN(struct copy_row, asynchronous, BOOL, "Asynchronous"),
    PT_COLUMN(struct copy_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct copy_row, bytes, BYTES, "Bytes"),
    PT_COLUMN(struct copy_row, total_s, SECONDS, "Total"),
    PT_COLUMN(struct copy_row, rate_bytes_per_s, BYTES_PER_SECOND, "Rate"),
    PT_COLUMN(struct copy_row, p95_s, SECONDS, "p95"),
    PT_COLUMN(struct copy_row, call_s, SECONDS, "In calls"),
    PT_COLUMN(struct copy_row, device, NUMBER, "GPU"),
};
static const struct pt_table_kind by_copy = {PT_VIEW_gpu_copies, PT_COLUMNS(copy_columns)};

static void copies_table(struct pt_gpu *gpu, pt_u32 stage)
{
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_copy);
    for (size_t i = 0; i < gpu->copies.n; i++) {
        const struct pt_gpu_copies *copies = gpu->copies.items[i];
        const struct pt_gpu_device *device = gpu->devices.items[copies->device];
        const double seconds = (double)copies->durations.sum / 1e9;
        if (device->stage != stage)
            continue;
        pt_rows_add(&rows,
                    &(struct copy_row){
                        .kind = kind_of(copies),
                        .from = copies->kinds & PT_GPU_IS_SET ? NULL : memory_of(pt_cuda_copy_source(copies->kinds)),
                        .to = memory_of(pt_cuda_copy_target(copies->kinds)),
                        .pageable = is_pageable(copies),
                        .asynchronous = copies->kinds & PT_CUDA_COPY_IS_ASYNC,
                        .calls = copies->durations.count,
                        .bytes = copies->bytes,
                        .total_s = seconds,
                        .rate_bytes_per_s =
                            seconds > 0 ? pt_real((double)copies->bytes / seconds) : pt_unknown("it took no time"),
                        .p95_s = (double)pt_histogram_quantile(&copies->durations, 0.95) / 1e9,
                        .call_s = (double)copies->api_ns / 1e9,
                        .device = device->number,
                    });
    }
}

struct size_row {
    const char *kind, *size;
    pt_u64 calls, bytes;
    double total_s;
    struct pt_value rate_bytes_per_s;
    pt_u32 device;
};

static const struct pt_column size_columns[] = {
    PT_COLUMN(struct size_row, kind, TEXT, "Copy"),
    PT_COLUMN(struct size_row, size, TEXT, "Size"),
    PT_COLUMN(struct size_row, calls, COUNT, "Calls"),
    PT_COLUMN(struct size_row, bytes, BYTES, "Bytes"),
    PT_COLUMN(struct size_row, total_s, SECONDS, "Total"),
    PT_COLUMN(struct size_row, rate_bytes_per_s, BYTES_PER_SECOND, "Rate"),
    PT_COLUMN(struct size_row, device, NUMBER, "GPU"),
};
static const struct pt_table_kind by_size = {PT_VIEW_gpu_copy_sizes, PT_COLUMNS(size_columns)};

static void sizes_table(struct pt_gpu *gpu, pt_u32 stage)
{
    static const char *const names[PT_GPU_SIZE_CLASSES] = {"up to 4 KiB",  "up to 64 KiB",  "up to 1 MiB",
                                                           "up to 16 MiB", "up to 256 MiB", "more"};
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_size);
    for (size_t i = 0; i < gpu->copies.n; i++) {
        const struct pt_gpu_copies *copies = gpu->copies.items[i];
        const struct pt_gpu_device *device = gpu->devices.items[copies->device];
        for (int size = 0; size < PT_GPU_SIZE_CLASSES && device->stage == stage; size++) {
            const double seconds = (double)copies->sizes[size].ns / 1e9, bytes = (double)copies->sizes[size].bytes;
            if (copies->sizes[size].calls)
                pt_rows_add(&rows, &(struct size_row){
                                       .kind = kind_of(copies),
                                       .size = names[size],
                                       .calls = copies->sizes[size].calls,
                                       .bytes = copies->sizes[size].bytes,
                                       .total_s = seconds,
                                       .rate_bytes_per_s = seconds > 0 ? pt_real(bytes / seconds) : pt_unknown(NULL),
                                       .device = device->number,
                                   });
        }
    }
}

/* ---- collectives ---- */

struct rank_row {
    const char *process;
    pt_u32 pid;
    pt_u64 calls;
    double total_s;
    struct pt_value rank;
};

static const struct pt_column rank_columns[] = {
    PT_COLUMN(struct rank_row, process, TEXT, "Process"),    PT_COLUMN(struct rank_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct rank_row, calls, COUNT, "Collectives"), PT_COLUMN(struct rank_row, total_s, SECONDS, "Total"),
    PT_COLUMN(struct rank_row, rank, NUMBER, "Rank"),
};
static const struct pt_table_kind by_rank = {PT_VIEW_gpu_collectives, .most = MAX_RANKS, PT_COLUMNS(rank_columns)};

static void collectives_table(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_session *session = gpu->profile->session;
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_rank);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        const struct pt_gpu_process *own = gpu->processes[i];
        if (!own || !own->nccl_calls || pt_gpu_stage_of(gpu, process) != stage)
            continue;
        pt_rows_add(&rows, &(struct rank_row){
                               .process = pt_process_name(gpu->profile, process),
                               .pid = process->pid,
                               .calls = own->nccl_calls,
                               .total_s = (double)own->nccl_ns / 1e9,
                               .rank = process->rank >= 0 ? pt_integer((pt_u64)process->rank)
                                                          : pt_unknown("no launcher gave it one"),
                           });
    }
}

void pt_gpu_work_tables(struct pt_gpu *gpu, pt_u32 stage)
{
    if (gpu->kernels.n)
        qsort(gpu->kernels.items, gpu->kernels.n, sizeof *gpu->kernels.items, by_kernel_time);
    if (gpu->copies.n)
        qsort(gpu->copies.items, gpu->copies.n, sizeof *gpu->copies.items, by_copy_time);
    kernels_table(gpu, stage);
    launches_table(gpu, stage);
    copies_table(gpu, stage);
    sizes_table(gpu, stage);
    pt_gpu_memory_tables(gpu, stage);
    collectives_table(gpu, stage);
    pt_gpu_range_tables(gpu, stage);
}
