/* SPDX-License-Identifier: MIT
 *
 * Tables of what GPUs did: kernels, copies and their sizes, collectives. Threads: one. Never: shows a mangled name that
 * can be read.
 */
#include "tables_work.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/demangle.h"
#include "util/auto.h"
#include "tables_memory.h"
#include "tables_ranges.h"

enum { MAX_KERNELS = 200 };

static struct pt_table *table_of(struct gpu *gpu, pt_u32 stage, const char *name, const char *title,
                                 const struct pt_column *columns, size_t n)
{
    return pt_metrics_table(&gpu->profile->metrics, pt_scope_stage(stage), name, title, columns, (pt_u32)n);
}
#define TABLE(gpu, stage, name, title, columns)                                                                        \
    table_of(gpu, stage, name, title, columns, sizeof(columns) / sizeof *(columns))

/* ---- kernels ---- */

static int by_kernel_time(const void *a, const void *b)
{
    const struct gpu_kernel *x = *(const struct gpu_kernel *const *)a, *y = *(const struct gpu_kernel *const *)b;
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

static struct pt_value ns_value(pt_u64 ns)
{
    return pt_seconds((pt_i64)ns);
}

static void kernels_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"name", "Kernel", PT_SHOW_TEXT},
        {"calls", "Calls", PT_SHOW_COUNT},
        {"total_s", "Total", PT_SHOW_SECONDS},
        {"share_percent", "Share", PT_SHOW_PERCENT},
        {"mean_s", "Mean", PT_SHOW_SECONDS},
        {"p50_s", "p50", PT_SHOW_SECONDS},
        {"p95_s", "p95", PT_SHOW_SECONDS},
        {"launch_mean_s", "Launch call", PT_SHOW_SECONDS},
        {"wait_mean_s", "In the queue", PT_SHOW_SECONDS},
        {"min_s", "Shortest", PT_SHOW_SECONDS},
        {"max_s", "Longest", PT_SHOW_SECONDS},
        {"configurations", "Grids", PT_SHOW_COUNT},
        {"device", "GPU", PT_SHOW_NUMBER},
    };
    struct pt_table *table = TABLE(gpu, stage, "gpu.kernels", "GPU kernels", columns);
    double all_ns = 0;
    for (size_t i = 0; i < gpu->kernels.n; i++)
        if (gpu->devices.items[gpu->kernels.items[i]->device]->stage == stage)
            all_ns += (double)gpu->kernels.items[i]->durations.sum;
    for (size_t i = 0; i < gpu->kernels.n; i++) {
        const struct gpu_kernel *kernel = gpu->kernels.items[i];
        const struct pt_histogram *durations = &kernel->durations;
        const struct gpu_device *device = gpu->devices.items[kernel->device];
        if (device->stage != stage)
            continue;
        if (table->n_rows == MAX_KERNELS) {
            table->rows_left_out++;
            continue;
        }
        struct pt_value *row = pt_table_add_row(table);
        const struct pt_value unknown = pt_unknown("no launch of it was recorded");
        row[0] = pt_text(readable(&gpu->profile->metrics, kernel->name));
        row[1] = pt_integer(durations->count);
        row[2] = ns_value(durations->sum);
        row[3] = pt_real(all_ns > 0 ? 100 * (double)durations->sum / all_ns : 0);
        row[4] = pt_real((double)durations->sum / 1e9 / (double)durations->count);
        row[5] = ns_value(pt_histogram_quantile(durations, 0.50));
        row[6] = ns_value(pt_histogram_quantile(durations, 0.95));
        row[7] = kernel->launched ? pt_real((double)kernel->api_ns / 1e9 / (double)kernel->launched) : unknown;
        row[8] = kernel->launched ? pt_real((double)kernel->wait_ns / 1e9 / (double)kernel->launched) : unknown;
        row[9] = ns_value(durations->min);
        row[10] = ns_value(durations->max);
        row[11] = kernel->variants ? pt_integer(kernel->variants) : pt_unknown(NULL);
        row[12] = pt_integer(device->number);
    }
}

/* ---- their way ---- */

static void launches_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"device", "GPU", PT_SHOW_NUMBER},          {"kernels", "Kernels", PT_SHOW_COUNT},
        {"launch_s", "Launching", PT_SHOW_SECONDS}, {"launch_p50_s", "p50", PT_SHOW_SECONDS},
        {"launch_p95_s", "p95", PT_SHOW_SECONDS},   {"queue_s", "In the queue", PT_SHOW_SECONDS},
        {"queue_p50_s", "p50", PT_SHOW_SECONDS},    {"queue_p95_s", "p95", PT_SHOW_SECONDS},
        {"run_s", "Running", PT_SHOW_SECONDS},      {"run_p50_s", "p50", PT_SHOW_SECONDS},
        {"run_p95_s", "p95", PT_SHOW_SECONDS},
    };
    struct pt_table *table = TABLE(gpu, stage, "gpu.launches", "From the launch of a kernel to its end", columns);
    for (size_t i = 0; i < gpu->devices.n; i++) {
        const struct gpu_device *device = gpu->devices.items[i];
        if (device->stage != stage || !device->launches)
            continue;
        const struct pt_histogram *const parts[] = {&device->launches->call, &device->launches->queue,
                                                    &device->launches->run};
        struct pt_value *row = pt_table_add_row(table);
        row[0] = pt_integer(device->number);
        row[1] = pt_integer(parts[0]->count);
        for (int part = 0; part < 3; part++) {
            row[2 + 3 * part] = ns_value(parts[part]->sum);
            row[3 + 3 * part] = ns_value(pt_histogram_quantile(parts[part], 0.50));
            row[4 + 3 * part] = ns_value(pt_histogram_quantile(parts[part], 0.95));
        }
    }
}

/* ---- copies ---- */

static int by_copy_time(const void *a, const void *b)
{
    const struct gpu_copies *x = *(const struct gpu_copies *const *)a, *y = *(const struct gpu_copies *const *)b;
    if (x->durations.sum != y->durations.sum)
        return x->durations.sum < y->durations.sum ? 1 : -1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->kinds > y->kinds) - (x->kinds < y->kinds);
}

static const char *kind_of(const struct gpu_copies *copies)
{
    static const char *const kinds[] = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
    const pt_u32 kind = copies->kinds >> 16 & 0xff;
    return copies->kinds & GPU_IS_SET ? "set" : kinds[kind < sizeof kinds / sizeof *kinds ? kind : 0];
}

static const char *memory_of(pt_u32 kind)
{
    static const char *const kinds[] = {"unknown", "pageable", "pinned",        "device",
                                        "array",   "managed",  "device static", "managed static"};
    return kinds[kind < sizeof kinds / sizeof *kinds ? kind : 0];
}

static struct pt_value is_pageable(const struct gpu_copies *copies)
{
    const pt_u32 from = copies->kinds >> 8 & 0xff, to = copies->kinds & 0x7f;
    if (copies->kinds & GPU_IS_SET)
        return pt_bool(to == PT_CUDA_MEMORY_PAGEABLE);
    if (!from || !to)
        return pt_unknown("the kind of memory is not known");
    return pt_bool(from == PT_CUDA_MEMORY_PAGEABLE || to == PT_CUDA_MEMORY_PAGEABLE);
}

static void copies_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"kind", "Copy", PT_SHOW_TEXT},
        {"from", "From", PT_SHOW_TEXT},
        {"to", "To", PT_SHOW_TEXT},
        {"pageable", "Pageable", PT_SHOW_BOOL},
        {"asynchronous", "Asynchronous", PT_SHOW_BOOL},
        {"calls", "Calls", PT_SHOW_COUNT},
        {"bytes", "Bytes", PT_SHOW_BYTES},
        {"total_s", "Total", PT_SHOW_SECONDS},
        {"rate_bytes_per_s", "Rate", PT_SHOW_BYTES_PER_SECOND},
        {"p95_s", "p95", PT_SHOW_SECONDS},
        {"call_s", "In calls", PT_SHOW_SECONDS},
        {"device", "GPU", PT_SHOW_NUMBER},
    };
    struct pt_table *table = TABLE(gpu, stage, "gpu.copies", "Copies and sets of GPU memory", columns);
    for (size_t i = 0; i < gpu->copies.n; i++) {
        const struct gpu_copies *copies = gpu->copies.items[i];
        const struct gpu_device *device = gpu->devices.items[copies->device];
        const double seconds = (double)copies->durations.sum / 1e9;
        if (device->stage != stage)
            continue;
        struct pt_value *row = pt_table_add_row(table);
        row[0] = pt_text(kind_of(copies));
        row[1] = copies->kinds & GPU_IS_SET ? pt_unknown(NULL) : pt_text(memory_of(copies->kinds >> 8 & 0xff));
        row[2] = pt_text(memory_of(copies->kinds & 0x7f));
        row[3] = is_pageable(copies);
        row[4] = pt_bool(copies->kinds & 0x80);
        row[5] = pt_integer(copies->durations.count);
        row[6] = pt_integer(copies->bytes);
        row[7] = pt_real(seconds);
        row[8] = seconds > 0 ? pt_real((double)copies->bytes / seconds) : pt_unknown("it took no time");
        row[9] = ns_value(pt_histogram_quantile(&copies->durations, 0.95));
        row[10] = pt_seconds(copies->api_ns);
        row[11] = pt_integer(device->number);
    }
}

static void sizes_table(struct gpu *gpu, pt_u32 stage)
{
    static const char *const names[GPU_SIZE_CLASSES] = {"up to 4 KiB",  "up to 64 KiB",  "up to 1 MiB",
                                                        "up to 16 MiB", "up to 256 MiB", "more"};
    static const struct pt_column columns[] = {
        {"kind", "Copy", PT_SHOW_TEXT},        {"size", "Size", PT_SHOW_TEXT},
        {"calls", "Calls", PT_SHOW_COUNT},     {"bytes", "Bytes", PT_SHOW_BYTES},
        {"total_s", "Total", PT_SHOW_SECONDS}, {"rate_bytes_per_s", "Rate", PT_SHOW_BYTES_PER_SECOND},
        {"device", "GPU", PT_SHOW_NUMBER},
    };
    struct pt_table *table = TABLE(gpu, stage, "gpu.copy_sizes", "Sizes of copies", columns);
    for (size_t i = 0; i < gpu->copies.n; i++) {
        const struct gpu_copies *copies = gpu->copies.items[i];
        const struct gpu_device *device = gpu->devices.items[copies->device];
        for (int size = 0; size < GPU_SIZE_CLASSES && device->stage == stage; size++) {
            const double seconds = (double)copies->sizes[size].ns / 1e9;
            if (!copies->sizes[size].calls)
                continue;
            struct pt_value *row = pt_table_add_row(table);
            row[0] = pt_text(kind_of(copies));
            row[1] = pt_text(names[size]);
            row[2] = pt_integer(copies->sizes[size].calls);
            row[3] = pt_integer(copies->sizes[size].bytes);
            row[4] = pt_real(seconds);
            row[5] = seconds > 0 ? pt_real((double)copies->sizes[size].bytes / seconds) : pt_unknown(NULL);
            row[6] = pt_integer(device->number);
        }
    }
}

/* ---- collectives ---- */

static void collectives_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"process", "Process", PT_SHOW_TEXT},    {"pid", "PID", PT_SHOW_NUMBER},
        {"calls", "Collectives", PT_SHOW_COUNT}, {"total_s", "Total", PT_SHOW_SECONDS},
        {"rank", "Rank", PT_SHOW_NUMBER},
    };
    const struct pt_session *session = gpu->profile->session;
    struct pt_table *table = TABLE(gpu, stage, "gpu.collectives", "NCCL by process", columns);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        const struct gpu_process *own = gpu->processes[i];
        if (!own || !own->nccl_calls || pt_gpu_stage_of(gpu, process) != stage || table->n_rows == MAX_KERNELS)
            continue;
        struct pt_value *row = pt_table_add_row(table);
        row[0] = pt_text(process->comm ? process->comm : pt_base_name(process->exe));
        row[1] = pt_integer(process->pid);
        row[2] = pt_integer(own->nccl_calls);
        row[3] = pt_seconds(own->nccl_ns);
        row[4] = process->rank >= 0 ? pt_integer((pt_u64)process->rank) : pt_unknown("no launcher gave it one");
    }
}

void pt_gpu_work_tables(struct gpu *gpu, pt_u32 stage)
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
