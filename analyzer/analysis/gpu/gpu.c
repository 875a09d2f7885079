/* SPDX-License-Identifier: MIT
 *
 * GPUs: what they did, how long they were idle, and what the program did during that time.
 *
 * Threads: one. State: none unless a process of the run recorded GPU work; state.h says what bounds it. Never: counts
 * unobserved GPU time as idle: it is unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "proftrace/events.h"
#include "analysis/analysis.h"
#include "model/holes.h"
#include "calls.h"
#include "host.h"
#include "idle.h"
#include "imports.h"
#include "info.h"
#include "memory.h"
#include "overlaps.h"
#include "ranges.h"
#include "results.h"
#include "work.h"

/* ---- begin ---- */

/* PyTorch from PyPI asks for devices on machines that have none: what it was told is nothing that a report lacks. */
static bool uses_gpu(const struct pt_process *process)
{
    for (pt_u32 kind = PT_KIND_cuda_call; kind <= PT_KIND_gpu_clock; kind++)
        if (kind != PT_KIND_gpu_tracing && pt_totals_of(process->totals, kind)->calls)
            return true;
    return false;
}

/* Records of GPU work come late, and the GPU may have been idle for long before. */
static void hold_threads(struct pt_gpu *gpu)
{
    const struct pt_session *session = gpu->profile->session;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        for (pt_u32 j = 0;
             gpu->stages[pt_gpu_stage_of(gpu, session->processes[i])].is_used && j < session->processes[i]->n_threads;
             j++)
            gpu->facts->timelines.threads[pt_thread_number(&gpu->facts->ids, &session->processes[i]->threads[j])]
                .is_held = true;
}

static void begin(void *state, struct pt_profile *profile)
{
    struct pt_gpu *gpu = state;
    const struct pt_session *session = profile->session;
    gpu->profile = profile;
    gpu->facts = profile->facts;
    gpu->stages = pt_calloc(profile->stages.n, sizeof *gpu->stages);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (uses_gpu(session->processes[i]))
            gpu->stages[pt_gpu_stage_of(gpu, session->processes[i])].is_used = gpu->is_used = true;
    if (!gpu->is_used)
        return;
    hold_threads(gpu);
    gpu->processes = pt_calloc(session->n_processes, sizeof *gpu->processes);
    gpu->threads = pt_calloc(pt_n_threads(&gpu->facts->ids), sizeof *gpu->threads);
    gpu->pending = pt_calloc(PT_GPU_MOST_PENDING, sizeof *gpu->pending);
    gpu->hosts = pt_calloc(profile->stages.n, sizeof *gpu->hosts);
    pt_vec_push(&gpu->nodes, (struct pt_gpu_node){0});
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        if (gpu->stages[stage].is_used)
            gpu->hosts[stage] = pt_gpu_host_open(gpu, stage);
    pt_gpu_info_begin(gpu);
}

/* ---- events ---- */

static void pass_holes(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_thread *thread = pt_gpu_thread_of(gpu, e->thread);
    const struct pt_hole *hole;
    while ((hole = pt_thread_next_hole(e->thread, pt_event_end_ns(e), &thread->holes))) {
        if (e->thread->tid >= PT_DEVICE_TID) {
            pt_gpu_not_seen(gpu, e->process, hole);
            continue;
        }
        pt_gpu_ranges_hole(gpu, e->thread, hole);
        pt_gpu_imports_hole(thread, hole);
    }
}

static void event(void *state, const struct pt_event *e)
{
    struct pt_gpu *gpu = state;
    if (!gpu->is_used || !gpu->stages[pt_gpu_stage_of(gpu, e->process)].is_used)
        return;
    gpu->now_ns = pt_event_end_ns(e);
    pass_holes(gpu, e);
    if (e->desc->category == PT_CATEGORY_USER) {
        pt_gpu_ranges_event(gpu, e);
        pt_gpu_note_range_change(gpu, e);
        pt_gpu_imports_event(gpu, e);
        return;
    }
    if (e->desc->category == PT_CATEGORY_CUDA) {
        pt_gpu_calls_event(gpu, e);
        pt_gpu_work_called(gpu);
    }
    if (e->desc->kind == PT_KIND_cuda_memory)
        pt_gpu_memory_wrapped(gpu, e);
    if (e->desc->category != PT_CATEGORY_GPU)
        return;
    pt_gpu_work_event(gpu, e);
    pt_gpu_info_event(gpu, e);
}

/* ---- end ---- */

static void free_process(struct pt_gpu_process *process)
{
    if (process) {
        free(process->calls);
        free(process->pace);
        free(process->copies.items);
        pt_map_fini(&process->moved_models);
    }
    free(process);
}

static void free_stages(struct pt_gpu *gpu)
{
    for (pt_u32 stage = 0; stage < gpu->profile->stages.n; stage++) {
        free(gpu->stages[stage].step_durations);
        if (gpu->is_used)
            pt_gpu_host_close(gpu->hosts[stage]);
    }
    free(gpu->stages);
    free(gpu->hosts);
}

static void free_lists(struct pt_gpu *gpu)
{
    for (size_t i = 0; i < gpu->devices.n; i++) {
        free(gpu->devices.items[i]->gaps.items);
        free(gpu->devices.items[i]->pieces.items);
        free(gpu->devices.items[i]->finds.items);
        free(gpu->devices.items[i]->users.items);
        free(gpu->devices.items[i]->launches);
        free(gpu->devices.items[i]);
    }
    for (size_t i = 0; i < gpu->streams.n; i++)
        free(gpu->streams.items[i]);
    for (size_t i = 0; i < gpu->kernels.n; i++)
        free(gpu->kernels.items[i]);
    for (size_t i = 0; i < gpu->copies.n; i++)
        free(gpu->copies.items[i]);
    for (size_t i = 0; i < gpu->sums.n; i++)
        free(gpu->sums.items[i]);
    free(gpu->devices.items);
    free(gpu->streams.items);
    free(gpu->kernels.items);
    free(gpu->copies.items);
    free(gpu->sums.items);
    free(gpu->places.items);
    free(gpu->nodes.items);
}

static void free_all(struct pt_gpu *gpu)
{
    const struct pt_session *session = gpu->profile->session;
    struct pt_map *const maps[] = {&gpu->device_ids, &gpu->by_device, &gpu->by_stream, &gpu->by_queue, &gpu->by_kernel,
                                   &gpu->by_variant, &gpu->by_copies, &gpu->by_sum,    &gpu->by_place, &gpu->by_node};
    for (pt_u32 i = 0; gpu->is_used && i < session->n_processes; i++)
        free_process(gpu->processes[i]);
    for (pt_u32 i = 0; gpu->is_used && i < pt_n_threads(&gpu->facts->ids); i++) {
        free(gpu->threads[i].nodes);
        free(gpu->threads[i].range_changes.items);
        free(gpu->threads[i].imports.items);
    }
    free_stages(gpu);
    free_lists(gpu);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pt_map_fini(maps[i]);
    pt_id_map_fini(&gpu->texts_of_ids[0]);
    pt_id_map_fini(&gpu->texts_of_ids[1]);
    pt_intern_fini(&gpu->texts);
    pt_gpu_overlaps_free(gpu);
    pt_gpu_memory_free(gpu);
    free(gpu->processes);
    free(gpu->threads);
    free(gpu->pending);
}

static void finish(void *state, struct pt_profile *profile)
{
    struct pt_gpu *gpu = state;
    if (gpu->is_used) {
        pt_gpu_work_end(gpu);
        pt_gpu_info_end(gpu);
        pt_gpu_memory_end(gpu);
        pt_gpu_idle_end(gpu);
        pt_gpu_ranges_end(gpu);
        for (pt_u32 i = 0; i < gpu->devices.n; i++)
            pt_gpu_host_share(gpu, i);
    }
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        pt_gpu_results(gpu, stage);
    free_all(gpu);
}

const struct pt_analysis pt_analysis_gpu = {
    .name = "gpu",
    .summary = "work of GPUs, why they were idle, their memory, and what of it each range launched",
    .categories = PT_CATEGORY_USER | PT_CATEGORY_CUDA | PT_CATEGORY_GPU,
    .state_size = sizeof(struct pt_gpu),
    .begin = begin,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
