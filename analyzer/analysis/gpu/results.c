/* SPDX-License-Identifier: MIT
 *
 * Metrics of GPUs for each stage, and how complete they are. Threads: one. Never: gives a figure for what was not seen.
 */
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/events.h"
#include "model/window.h"
#include "profile/first_rank.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/whole.h"
#include "info.h"
#include "levels.h"
#include "tables_calls.h"
#include "tables_idle.h"
#include "tables_work.h"

static void set(struct pt_gpu *gpu, pt_u32 stage, const char *name, struct pt_value value)
{
    pt_metrics_set(&gpu->profile->metrics, pt_scope_stage(stage), name, value);
}

/* ---- devices ---- */

/* What comes before the first training step is done happens once, however long the training is. */
static bool makes_steps(const struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_session *session = gpu->profile->session;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (gpu->processes[i] && gpu->processes[i]->has_made_step &&
            pt_gpu_stage_of(gpu, session->processes[i]) == stage)
            return true;
    return false;
}

static void set_devices(struct pt_gpu *gpu, pt_u32 stage)
{
    double busy_ns = 0, window_ns = 0, gaps_ns = 0, overlap_ns = 0, copies_ns = 0;
    const bool is_training = makes_steps(gpu, stage);
    const struct pt_gpu_device *idlest = NULL;
    for (size_t i = 0; i < gpu->devices.n; i++) {
        const struct pt_gpu_device *device = gpu->devices.items[i];
        if (device->stage != stage || !device->is_used)
            continue;
        const double window = (double)(device->busy_end_ns - device->first_ns - device->unseen_ns),
                     busy = window - (double)device->idle_ns;
        busy_ns += busy;
        window_ns += window;
        gaps_ns += (double)(device->later.all_ns + (is_training ? 0 : device->at_start.all_ns));
        copies_ns += (double)device->copies.total_ns;
        overlap_ns += fmax((double)(device->kernels.total_ns + device->copies.total_ns) - busy, 0);
        idlest = !idlest || device->idle_ns > idlest->idle_ns ? device : idlest;
    }
    if (!idlest)
        return;
    set(gpu, stage, "gpu.busy_s", pt_real(busy_ns / 1e9));
    set(gpu, stage, "gpu.busy_percent",
        window_ns > 0 ? pt_real(100 * busy_ns / window_ns) : pt_unknown("nothing was seen"));
    set(gpu, stage, "gpu.idle_s", pt_seconds(idlest->idle_ns));
    set(gpu, stage, "gpu.gaps.calls", pt_integer(idlest->n_gaps));
    const struct pt_gpu_gaps *later = &idlest->later, *at_start = &idlest->at_start;
    const pt_i64 large_ns = later->large_ns + (is_training ? 0 : at_start->large_ns);
    const pt_i64 all_ns = later->all_ns + (is_training ? 0 : at_start->all_ns);
    set(gpu, stage, "gpu.gaps.large.calls", pt_integer(later->n_large + (is_training ? 0 : at_start->n_large)));
    set(gpu, stage, "gpu.gaps.large_s", pt_seconds(large_ns));
    set(gpu, stage, "gpu.gaps.small_s", pt_seconds(all_ns - large_ns));
    set(gpu, stage, "gpu.gaps.all_s", pt_seconds(all_ns));
    set(gpu, stage, "gpu.gaps.busy_percent",
        busy_ns + gaps_ns > 0 ? pt_real(100 * busy_ns / (busy_ns + gaps_ns)) : pt_unknown("nothing was seen"));
    set(gpu, stage, "gpu.gaps.longest_s", pt_seconds(idlest->longest_ns));
    set(gpu, stage, "gpu.gaps.longest_at_s",
        pt_seconds(idlest->longest_at_ns - gpu->profile->stages.items[stage].start_ns));
    set(gpu, stage, "gpu.copies.overlap_percent",
        copies_ns > 0 ? pt_real(100 * overlap_ns / copies_ns) : pt_unknown("nothing was copied"));
}

/* ---- copies ---- */

/* A call that waits for its copy waits for all that was launched before, too: what the GPU computes meanwhile it would
 * in any case. What can be saved is the copy, and that the GPU then waits for the host. NAN = no work was seen. */
static double saved_without_copies_ns(const struct pt_gpu *gpu, pt_u32 stage, double device_ns)
{
    return device_ns + 1e9 * pt_stage_number(gpu->profile, stage, "gpu.gaps.all_s");
}

static bool is_pageable_copy(const struct pt_gpu_copies *copies)
{
    return !(copies->kinds & PT_GPU_IS_SET) && (pt_cuda_copy_source(copies->kinds) == PT_CUDA_MEMORY_PAGEABLE ||
                                                pt_cuda_copy_target(copies->kinds) == PT_CUDA_MEMORY_PAGEABLE);
}

/* Values that are read back are left out: they are waited for in any case, and pinned memory saves nothing. So are the
 * weights of a model on their way to the GPU: they come once. */
static void set_copies(struct pt_gpu *gpu, pt_u32 stage)
{
    double calls = 0, bytes = 0, bytes_to_host = 0, device_ns = 0, api_ns = 0;
    for (size_t i = 0; i < gpu->copies.n; i++) {
        const struct pt_gpu_copies *copies = gpu->copies.items[i];
        if (gpu->devices.items[copies->device]->stage != stage || !is_pageable_copy(copies))
            continue;
        const struct pt_gpu_once *once = &copies->once;
        const double own_bytes = (double)(copies->bytes - copies->values.bytes - once->bytes);
        calls += (double)(copies->durations.count - copies->values.calls - once->calls);
        bytes += own_bytes;
        bytes_to_host += pt_cuda_copy_of(copies->kinds) == PT_CUDA_COPY_DTOH ? own_bytes : 0;
        device_ns += (double)copies->durations.sum - (double)(copies->values.ns + once->ns);
        api_ns += (double)(copies->api_ns - copies->values.api_ns - once->api_ns);
    }
    set(gpu, stage, "gpu.copies.pageable.calls", pt_integer(pt_whole(calls)));
    set(gpu, stage, "gpu.copies.pageable.bytes", pt_integer(pt_whole(bytes)));
    set(gpu, stage, "gpu.copies.pageable.to_host_percent",
        bytes > 0 ? pt_real(100 * bytes_to_host / bytes) : pt_unknown("nothing was copied"));
    /* The call goes on while pages are staged, and pinned memory is copied behind the program's back. */
    set(gpu, stage, "gpu.copies.pageable.cost_s",
        pt_real(fmin(fmax(device_ns, api_ns), saved_without_copies_ns(gpu, stage, device_ns)) / 1e9));
    set(gpu, stage, "gpu.copies.rate_bytes_per_s",
        device_ns > 0 ? pt_real(bytes / device_ns * 1e9) : pt_unknown("no pageable memory was copied"));
}

static void set_synchronous(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_gpu_stage *own = &gpu->stages[stage];
    const struct pt_gpu_waiting *once = &own->once;
    const pt_i64 calls_ns = own->class_ns[PT_CUDA_COPY] + own->class_ns[PT_CUDA_SET] - once->ns;
    const pt_u64 copies_made = own->class_calls[PT_CUDA_COPY] - once->copies,
                 sets_made = own->class_calls[PT_CUDA_SET] - once->sets;
    double all_ns = 0, synchronous_ns = 0;
    for (size_t i = 0; i < gpu->copies.n; i++) {
        const struct pt_gpu_copies *copies = gpu->copies.items[i];
        if (gpu->devices.items[copies->device]->stage != stage)
            continue;
        all_ns += (double)copies->durations.sum;
        synchronous_ns +=
            copies->kinds & PT_CUDA_COPY_IS_ASYNC ? 0 : (double)copies->durations.sum - (double)copies->once.ns;
    }
    /* Of all calls that copy, those before the first step too, and those of which only the call was seen. */
    const double idle_s = pt_stage_number(gpu->profile, stage, "gpu.idle_s");
    const double most_s = (all_ns + (double)own->yielded_ns) / 1e9 + idle_s;
    set(gpu, stage, "gpu.copies.most_s", isnan(most_s) ? pt_unknown("no work of a GPU was seen") : pt_real(most_s));
    set(gpu, stage, "gpu.copies.synchronous.calls", pt_integer(copies_made));
    set(gpu, stage, "gpu.sets.synchronous.calls", pt_integer(sets_made));
    set(gpu, stage, "gpu.synchronous.calls", pt_integer(copies_made + sets_made));
    set(gpu, stage, "gpu.synchronous.total_s", pt_seconds(calls_ns));
    set(gpu, stage, "gpu.synchronous.cost_s",
        pt_real(fmin((double)calls_ns, saved_without_copies_ns(gpu, stage, synchronous_ns)) / 1e9));
}

/* ---- launches ---- */

static void set_launches(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_gpu_stage *own = &gpu->stages[stage];
    double kernels = 0, kernels_ns = 0, launches = 0, empty = 0;
    for (size_t i = 0; i < gpu->kernels.n; i++) {
        const struct pt_gpu_kernel *kernel = gpu->kernels.items[i];
        if (gpu->devices.items[kernel->device]->stage != stage)
            continue;
        kernels += (double)kernel->durations.count;
        kernels_ns += (double)kernel->durations.sum;
    }
    for (size_t i = 0; i < gpu->streams.n; i++)
        if (gpu->devices.items[gpu->streams.items[i]->device]->stage == stage) {
            launches += (double)gpu->streams.items[i]->launches;
            empty += (double)gpu->streams.items[i]->launched_empty;
        }
    const pt_u64 calls = own->class_calls[PT_CUDA_LAUNCH] + own->class_calls[PT_CUDA_GRAPH_LAUNCH];
    const pt_i64 ns = own->class_ns[PT_CUDA_LAUNCH] + own->class_ns[PT_CUDA_GRAPH_LAUNCH];
    set(gpu, stage, "gpu.kernels.calls", pt_integer(pt_whole(kernels)));
    set(gpu, stage, "gpu.kernels.mean_s", kernels > 0 ? pt_real(kernels_ns / kernels / 1e9) : pt_unknown("none ran"));
    set(gpu, stage, "gpu.launch.mean_s",
        calls ? pt_real((double)ns / 1e9 / (double)calls) : pt_unknown("no launch was recorded"));
    set(gpu, stage, "gpu.launch.empty_percent",
        launches > 0 ? pt_real(100 * empty / launches) : pt_unknown("no launch was recorded"));
    set(gpu, stage, "gpu.launch.per_kernel_percent",
        kernels_ns > 0 ? pt_real(100 * (double)ns / kernels_ns) : pt_unknown("no kernel ran"));
}

/* From compute capability 8 on (A100) float32 can go through tensor cores, too, as TF32. */
#define FIRST_WITH_TF32 8

/* Matrices of float32 that go through no tensor core, by the names that cuBLAS, cuDNN and CUTLASS give their kernels:
 * ampere_sgemm_128x64_tn, cutlass_80_simt_sgemm_..., sm80_xmma_gemm_f32f32_f32f32_f32_..., ampere_scudnn_...; not:
 * cutlass_80_tensorop_s1688gemm_..., sm80_xmma_gemm_f32f32_tf32f32_f32_..._tensor16x8x8. */
static bool is_float32(const char *name)
{
    static const char *const plain[] = {"sgemm", "scudnn", "f32f32_f32f32_f32"}, *const others[] = {"tensor", "tf32",
                                                                                                    "1688", "half"};
    bool is_plain = false, is_other = false;
    for (size_t i = 0; name && i < sizeof plain / sizeof *plain; i++)
        is_plain |= strstr(name, plain[i]) != NULL;
    for (size_t i = 0; name && i < sizeof others / sizeof *others; i++)
        is_other |= strstr(name, others[i]) != NULL;
    return is_plain && !is_other;
}

/* Of the device with the most of it, and of the kernels of all. */
static void set_float32(struct pt_gpu *gpu, pt_u32 stage)
{
    PT_AUTO(pt_freep) double *of_device = pt_calloc(gpu->devices.n + 1, sizeof *of_device);
    double most_ns = 0, float32_ns = 0, all_ns = 0;
    for (size_t i = 0; i < gpu->kernels.n; i++) {
        const struct pt_gpu_kernel *kernel = gpu->kernels.items[i];
        const struct pt_gpu_device *device = gpu->devices.items[kernel->device];
        if (device->stage != stage)
            continue;
        const bool counts = device->compute_major >= FIRST_WITH_TF32 && is_float32(kernel->name);
        all_ns += (double)kernel->durations.sum;
        float32_ns += counts ? (double)kernel->durations.sum : 0;
        of_device[kernel->device] += counts ? (double)kernel->durations.sum : 0;
        most_ns = fmax(most_ns, of_device[kernel->device]);
    }
    set(gpu, stage, "gpu.float32.total_s", pt_real(most_ns / 1e9));
    set(gpu, stage, "gpu.float32.percent", all_ns > 0 ? pt_real(100 * float32_ns / all_ns) : pt_unknown("none ran"));
}

/* Ranks read a value of their common step each, and wait for it at the same time: those of the first one count. With
 * none of them the host would run ahead: what is saved is the time in them, and no more than the GPU was idle. */
static void set_values(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_session *session = gpu->profile->session;
    const double steps = pt_stage_number(gpu->profile, stage, "steps.count");
    pt_i64 first_rank = PT_NO_RANK, ns = 0;
    pt_u64 n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (gpu->processes[i] && pt_gpu_stage_of(gpu, session->processes[i]) == stage)
            first_rank = pt_first_rank_with(first_rank, session->processes[i]);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_gpu_process *own = gpu->processes[i];
        if (!own || pt_gpu_stage_of(gpu, session->processes[i]) != stage ||
            !pt_rank_counts(first_rank, session->processes[i]))
            continue;
        n += own->n_values;
        ns += own->values_ns;
    }
    set(gpu, stage, "gpu.values.calls", pt_integer(n));
    set(gpu, stage, "gpu.values.total_s", pt_seconds(ns));
    set(gpu, stage, "gpu.values.per_step",
        steps > 0 ? pt_real((double)n / steps) : pt_unknown("no training step was seen"));
    set(gpu, stage, "gpu.values.cost_s",
        pt_real(fmin((double)ns / 1e9, pt_stage_number(gpu->profile, stage, "gpu.gaps.all_s"))));
}

/* What nothing that the host does could save: the GPU that was busy longest would be as busy. */
static double busiest_s(const struct pt_gpu *gpu, pt_u32 stage)
{
    pt_i64 most_ns = 0;
    for (size_t i = 0; i < gpu->devices.n; i++) {
        const struct pt_gpu_device *device = gpu->devices.items[i];
        const pt_i64 ns = device->busy_end_ns - device->first_ns - device->unseen_ns - device->idle_ns;
        if (device->stage == stage && device->is_used && ns > most_ns)
            most_ns = ns;
    }
    return (double)most_ns / 1e9;
}

/* A release waits until the GPU is done: what that computes it would in any case. */
static void set_allocations(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_session *session = gpu->profile->session;
    const struct pt_gpu_stage *own = &gpu->stages[stage];
    const double wall_s = (double)pt_profile_stage_wall_ns(gpu->profile, stage) / 1e9;
    pt_u64 n = 0;
    pt_i64 ns = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (gpu->processes[i] && pt_gpu_stage_of(gpu, session->processes[i]) == stage) {
            n += gpu->processes[i]->n_churned;
            ns += gpu->processes[i]->churn_ns;
        }
    set(gpu, stage, "gpu.allocation.calls", pt_integer(2 * n));
    set(gpu, stage, "gpu.allocation.alloc.calls", pt_integer(own->class_calls[PT_CUDA_ALLOC]));
    set(gpu, stage, "gpu.allocation.free.calls", pt_integer(own->class_calls[PT_CUDA_FREE]));
    set(gpu, stage, "gpu.allocation.total_s", pt_seconds(ns));
    set(gpu, stage, "gpu.allocation.cost_s", pt_real(fmin((double)ns / 1e9, fmax(wall_s - busiest_s(gpu, stage), 0))));
}

/* What would be left of the idle time if launching took none: the code between launches goes away with them. */
static void set_costs(struct pt_gpu *gpu, pt_u32 stage)
{
    static const char *const around[] = {"gpu.idle.launch_s", "gpu.idle.host_code_s", "gpu.idle.python_s",
                                         "gpu.idle.native_s"};
    const struct pt_gpu_stage *own = &gpu->stages[stage];
    double around_s = 0;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        around_s += fmax(pt_stage_number(gpu->profile, stage, around[i]), 0);
    set(gpu, stage, "gpu.launch_bound.cost_s",
        pt_real(fmin(around_s, pt_stage_number(gpu->profile, stage, "gpu.gaps.small_s"))));
    set(gpu, stage, "gpu.load.cost_s", pt_real(pt_stage_number(gpu->profile, stage, "gpu.idle.module_load_s")));
    if (own->step_durations) {
        set(gpu, stage, "gpu.step.first_s", pt_seconds(own->first_step_ns));
        set(gpu, stage, "gpu.step.p50_s", pt_seconds((pt_i64)pt_histogram_quantile(own->step_durations, 0.5)));
    }
}

/* ---- memory ---- */

#define NEAR_LIMIT 0.9

/* What the sampler saw is of all GPUs of the machine, whoever uses them and whichever the program may use: only where
 * there is one it is this device's. Part of a GPU (MIG) is not all of it. 0 = not known. */
static double sampled_bytes_of(const struct pt_gpu *gpu, const struct pt_gpu_device *device)
{
    const char **gpus = gpu->profile->run ? gpu->profile->run->gpus : NULL;
    size_t n = 0;
    for (size_t i = 0; i < gpu->devices.n; i++)
        n += gpu->devices.items[i]->stage == device->stage;
    if (n != 1 || !gpus || !gpus[0] || gpus[1] || (device->name && strstr(device->name, " MIG ")))
        return 0;
    return fmax(pt_stage_number(gpu->profile, device->stage, "resource.gpu_mem_bytes.max"), 0);
}

static void set_memory(struct pt_gpu *gpu, pt_u32 stage)
{
    double most_percent = NAN, most_bytes = NAN, of_bytes = NAN, near_limit = NAN;
    for (size_t i = 0; i < gpu->devices.n; i++) {
        const struct pt_gpu_device *device = gpu->devices.items[i];
        if (device->stage != stage || !device->memory_bytes)
            continue;
        const double peak = fmax(pt_gpu_level_peak(gpu, (pt_u32)i), sampled_bytes_of(gpu, device));
        const double percent = 100 * peak / (double)device->memory_bytes;
        if (percent <= most_percent || peak <= 0)
            continue;
        most_percent = percent;
        most_bytes = peak;
        of_bytes = (double)device->memory_bytes;
        near_limit = pt_gpu_level_peak(gpu, (pt_u32)i) > NEAR_LIMIT * of_bytes
                         ? (double)pt_gpu_level_allocations_above(gpu, (pt_u32)i, NEAR_LIMIT * of_bytes)
                         : NAN;
    }
    const struct pt_value none =
        pt_unknown(pt_session_is_window(gpu->profile->session) ? pt_window_no_counters
                                                               : "no allocation, or no device, was described");
    set(gpu, stage, "gpu.memory.peak_percent", isnan(most_percent) ? none : pt_real(most_percent));
    set(gpu, stage, "gpu.memory.peak.bytes", isnan(most_percent) ? none : pt_integer(pt_whole(most_bytes)));
    set(gpu, stage, "gpu.memory.near_limit.calls",
        isnan(most_percent) ? none
        : isnan(near_limit) ? pt_unknown("what was allocated did not come near the limit, or is no longer in the trace")
                            : pt_integer(pt_whole(near_limit)));
    set(gpu, stage, "gpu.memory.of.bytes", isnan(most_percent) ? none : pt_integer(pt_whole(of_bytes)));
}

/* ---- collectives ---- */

/* In which a device does nothing but talk to others: no kernel beside it computes. */
static void set_only_collectives(struct pt_gpu *gpu, pt_u32 stage)
{
    double most_ns = 0, all_ns = 0, window_ns = 0;
    for (size_t i = 0; i < gpu->devices.n; i++) {
        const struct pt_gpu_device *device = gpu->devices.items[i];
        const double ns = (double)(device->kernels.total_ns - device->compute.total_ns);
        if (device->stage != stage || !device->is_used)
            continue;
        most_ns = fmax(most_ns, ns);
        all_ns += ns;
        window_ns += (double)(device->busy_end_ns - device->first_ns - device->unseen_ns);
    }
    set(gpu, stage, "gpu.collectives.only_s", pt_real(most_ns / 1e9));
    set(gpu, stage, "gpu.collectives.only_percent",
        window_ns > 0 ? pt_real(100 * all_ns / window_ns) : pt_unknown("nothing was seen"));
}

/* The rank that waits least is the straggler. */
static void set_collectives(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_session *session = gpu->profile->session;
    pt_i64 least_ns = INT64_MAX, most_ns = 0;
    pt_u32 ranks = 0, slowest = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_gpu_process *own = gpu->processes[i];
        if (!own || !own->nccl_calls || pt_gpu_stage_of(gpu, session->processes[i]) != stage)
            continue;
        ranks++;
        most_ns = own->nccl_ns > most_ns ? own->nccl_ns : most_ns;
        if (own->nccl_ns < least_ns) {
            least_ns = own->nccl_ns;
            slowest = session->processes[i]->pid;
        }
    }
    set(gpu, stage, "gpu.collectives.ranks.count", pt_integer(ranks));
    if (!ranks)
        return;
    set(gpu, stage, "gpu.collectives.most_s", pt_seconds(most_ns));
    set(gpu, stage, "gpu.collectives.least_s", pt_seconds(least_ns));
    set(gpu, stage, "gpu.collectives.slowest_pid", pt_text(pt_metrics_format(&gpu->profile->metrics, "%u", slowest)));
    set(gpu, stage, "gpu.collectives.imbalance_percent",
        pt_real(most_ns > 0 ? 100 * (double)(most_ns - least_ns) / (double)most_ns : 0));
    set(gpu, stage, "gpu.collectives.imbalance.cost_s", pt_seconds(most_ns - least_ns));
    set_only_collectives(gpu, stage);
}

/* ---- how complete ---- */

static const char *joined_notes(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_gpu_stage *own = &gpu->stages[stage];
    const char *all = NULL;
    for (pt_u32 i = 0; i < own->n_notes; i++) {
        const struct pt_gpu_note *note = &own->notes[i];
        all = pt_metrics_format(&gpu->profile->metrics, "%s%s%s%s%s", all ? all : "", all ? "; " : "", note->before,
                                note->reason, note->after);
    }
    return all;
}

/* The percentage of the work that was observed: of the records, those that are not lost; of the work launched while
 * the program had CUPTI for itself, nothing. NAN = not counted. */
static double completeness_percent(const struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_gpu_stage *own = &gpu->stages[stage];
    double recorded = 0, work = 0;
    for (pt_u32 kind = PT_KIND_gpu_kernel; kind <= PT_KIND_gpu_memory; kind++) {
        const double calls = (double)pt_profile_stage_totals(gpu->profile, stage, kind).calls;
        recorded += calls;
        work += kind <= PT_KIND_gpu_graph ? calls : 0;
    }
    const double all = fmax(recorded, (double)own->seen) + (double)own->lost;
    const double records = all > 0 ? (double)own->seen / all : 1;
    if (!own->yielded_ns)
        return 100 * records;
    return own->unseen_work ? 100 * records * work / (work + (double)own->unseen_work) : NAN;
}

/* Of all that ran, on the mean over the GPUs that the stage used: only what nothing is missing from is a figure. */
static void set_busy_of_stage(struct pt_gpu *gpu, pt_u32 stage, double complete_percent)
{
    static const double all_percent = 99.9;
    const double wall_s = (double)pt_profile_stage_wall_ns(gpu->profile, stage) / 1e9;
    double devices = 0;
    for (size_t i = 0; i < gpu->devices.n; i++)
        devices += gpu->devices.items[i]->stage == stage && gpu->devices.items[i]->is_used;
    const double percent = 100 * pt_stage_number(gpu->profile, stage, "gpu.busy_s") / (devices * wall_s);
    const bool is_known = complete_percent >= all_percent && isfinite(percent);
    set(gpu, stage, "gpu.busy_of_stage_percent",
        is_known ? pt_real(percent) : pt_unknown("not all that the GPU did was seen"));
}

static void set_source(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_gpu_stage *own = &gpu->stages[stage];
    const char *notes = joined_notes(gpu, stage);
    const bool has_records = pt_metrics_has(&gpu->profile->metrics, pt_scope_stage(stage), "gpu.busy_s");
    const bool by_cupti = own->has_cupti || has_records;
    if (!by_cupti && !notes)
        notes = "CUPTI told nothing, and nothing says why";
    set(gpu, stage, "gpu.source", pt_text(by_cupti ? "cupti" : "runtime"));
    set(gpu, stage, "gpu.reason", pt_text(notes));
    set(gpu, stage, "gpu.lost.records", pt_integer(own->lost));
    set(gpu, stage, "gpu.not_seen_s", pt_seconds(own->yielded_ns));
    const double percent = by_cupti && !own->is_cut ? completeness_percent(gpu, stage) : NAN;
    set(gpu, stage, "gpu.completeness_percent", isnan(percent) ? pt_unknown(notes) : pt_real(percent));
    set(gpu, stage, "gpu.missing_percent", isnan(percent) ? pt_unknown(notes) : pt_real(100 - percent));
    set_busy_of_stage(gpu, stage, percent);
    pt_gpu_not_seen_table(gpu, stage);
}

/* No process of the stage called CUDA, but a GPU was busy, or a program of the stage was built for GPUs. */
static void set_sampled(struct pt_gpu *gpu, pt_u32 stage)
{
    const bool is_seen = pt_stage_number(gpu->profile, stage, "resource.gpu_util_percent.max") >= 5;
    const char *const reason = is_seen ? "no traced process of the stage used CUDA: the GPUs were only looked at from "
                                         "outside, and who kept them busy is not known"
                                       : pt_gpu_why_none(gpu, stage);
    if (!reason)
        return;
    set(gpu, stage, "gpu.source", pt_text(is_seen ? "nvml" : "none"));
    set(gpu, stage, "gpu.reason", pt_text(reason));
    set(gpu, stage, "gpu.completeness_percent", pt_unknown(reason));
}

void pt_gpu_results(struct pt_gpu *gpu, pt_u32 stage)
{
    if (!gpu->is_used || !gpu->stages[stage].is_used) {
        set_sampled(gpu, stage);
        return;
    }
    pt_gpu_idle_tables(gpu, stage);
    pt_gpu_work_tables(gpu, stage);
    pt_gpu_call_tables(gpu, stage);
    set_devices(gpu, stage);
    set_copies(gpu, stage);
    set_synchronous(gpu, stage);
    set_launches(gpu, stage);
    set_float32(gpu, stage);
    set_costs(gpu, stage);
    set_allocations(gpu, stage);
    set_values(gpu, stage);
    set_memory(gpu, stage);
    set_collectives(gpu, stage);
    set_source(gpu, stage);
}
