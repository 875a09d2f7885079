/* SPDX-License-Identifier: MIT
 *
 * The program's own ranges and steps, phases of a training, and the GPU work in them: work belongs to the ranges that
 * were open on the launching thread at the launch, and to the step at that time.
 *
 * Threads: one. State: a tree of ranges, a stack per thread, the last steps of each process. Never: uses the time at
 * which work ran.
 */
#include "ranges.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "decode/phase_names.h"
#include "overlaps.h"

pt_u32 pt_gpu_node_of(const struct pt_gpu *gpu, const struct pt_thread *thread)
{
    const struct pt_gpu_thread *own = pt_gpu_thread_of(gpu, thread);
    const pt_u32 depth = own->depth < PT_GPU_MOST_DEPTH ? own->depth : PT_GPU_MOST_DEPTH;
    return depth && own->nodes ? own->nodes[depth - 1] : 0;
}

/* PyTorch's backward pass is launched by autograd's threads, while the one that called backward() waits. */
pt_u32 pt_gpu_node_helped(const struct pt_gpu *gpu, const struct pt_thread *thread)
{
    const struct pt_gpu_process *process = gpu->processes[thread->process->index];
    const struct pt_gpu_thread *own = pt_gpu_thread_of(gpu, thread);
    if (own->nodes || own->n_overlapping || !process || process->n_ranging != 1)
        return 0;
    return pt_gpu_node_of(gpu, &thread->process->threads[process->sum_ranging]);
}

/* A thread has opened its first range, or has closed its last one. */
static void note_ranging(struct pt_gpu *gpu, const struct pt_thread *thread, bool begins)
{
    struct pt_gpu_process *process = pt_gpu_process_of(gpu, thread->process);
    process->n_ranging += begins ? 1u : -1u;
    process->sum_ranging += begins ? thread->index : -thread->index;
}

static pt_u32 node_at(struct pt_gpu *gpu, pt_u32 stage, pt_u32 parent, const char *name)
{
    const pt_u64 key = pt_hash_pair((uintptr_t)name, (pt_u64)stage << 32 | parent);
    const pt_u64 *known = pt_map_find(&gpu->by_node, key);
    if (known)
        return (pt_u32)*known;
    if (gpu->nodes.n >= PT_GPU_MOST_NODES)
        return parent;
    pt_vec_push(&gpu->nodes, ((struct pt_gpu_node){.parent = parent, .stage = stage, .name = name}));
    return (pt_u32)(*pt_map_at(&gpu->by_node, key) = gpu->nodes.n - 1);
}

/* ---- steps ---- */

/* No more work comes for it. */
static void end_step(struct pt_gpu_process *process, const struct pt_gpu_step *step)
{
    if (!step->number)
        return;
    pt_histogram_add(&process->pace->gpu, (pt_u64)step->gpu_ns);
    pt_histogram_add(&process->pace->activities, step->activities);
}

static void time_step(struct pt_gpu_stage *stage, struct pt_gpu_pace *pace, const struct pt_gpu_step *step, pt_i64 ns)
{
    if (!stage->step_durations) {
        stage->step_durations = pt_calloc(1, sizeof *stage->step_durations);
        stage->first_step_ns = ns;
    }
    pt_histogram_add(stage->step_durations, (pt_u64)ns);
    pace->first_ns = pace->durations.count ? pace->first_ns : ns;
    if (!pace->durations.count || (pt_u64)ns > pace->durations.max)
        pace->slowest_at_ns = step->start_ns;
    pt_histogram_add(&pace->durations, (pt_u64)ns);
}

static void begin_step(struct pt_gpu *gpu, const struct pt_event *e, bool is_by_name)
{
    struct pt_gpu_process *process = pt_gpu_process_of(gpu, e->process);
    if (!process->step)
        process->steps_by_name = is_by_name;
    if (process->steps_by_name != is_by_name)
        return;
    if (!process->pace)
        process->pace = pt_calloc(1, sizeof *process->pace);
    const struct pt_gpu_step *before = &process->steps[process->step % PT_GPU_STEPS_KEPT];
    if (process->step && e->start_ns >= before->start_ns && !process->step_is_cut)
        time_step(&gpu->stages[pt_gpu_stage_of(gpu, e->process)], process->pace, before,
                  e->start_ns - before->start_ns);
    process->step_is_cut = false;
    process->step++;
    struct pt_gpu_step *step = &process->steps[process->step % PT_GPU_STEPS_KEPT];
    end_step(process, step);
    *step = (struct pt_gpu_step){.start_ns = e->start_ns, .number = process->step};
}

/* ---- events ---- */

/* A training goes on after its first optimizer step. */
static void note_training(struct pt_gpu_process *process, enum pt_phase phase)
{
    const bool goes_on = phase == PT_PHASE_data_wait || phase == PT_PHASE_transfer || phase == PT_PHASE_zero_grad ||
                         phase == PT_PHASE_forward || phase == PT_PHASE_train_step;
    process->has_made_step |= process->has_optimized && goes_on;
    process->has_optimized |= phase == PT_PHASE_optimizer_step || phase == PT_PHASE_train_step;
}

/* Module.to() and cuda() say which; frameworks that move a batch say nothing. A model that is moved again may be moved
 * for each request: its copies are not made once. One of to(dtype) alone calls nothing of CUDA, and does not count. */
static pt_u64 first_moved_model(struct pt_gpu *gpu, const struct pt_event *e)
{
    if (e->desc->kind != PT_KIND_phase_begin || pt_phase_of_tag(e->tag) != PT_PHASE_transfer)
        return 0;
    const pt_u64 model = pt_event_as(e, phase_begin)->object;
    const struct pt_map *moved = &pt_gpu_process_of(gpu, e->process)->moved_models;
    return model && moved->n < PT_GPU_MOST_MODELS && !pt_map_find(moved, model) ? model : 0;
}

static void note_model(struct pt_gpu *gpu, const struct pt_event *e, struct pt_gpu_thread *thread)
{
    const pt_u64 model = thread->model_depth ? 0 : first_moved_model(gpu, e);
    if (!model)
        return;
    thread->model_depth = thread->depth;
    thread->model = model;
}

static void open_range(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_thread *thread = pt_gpu_thread_of(gpu, e->thread);
    bool starts_step = false;
    const char *name = e->desc->kind == PT_KIND_phase_begin
                           ? pt_gpu_own_text(gpu, pt_phase_names[pt_phase_of_tag(e->tag)])
                           : pt_gpu_range_name(gpu, e->process, pt_event_as(e, range_begin)->name, &starts_step);
    if (!thread->nodes)
        thread->nodes = pt_calloc(PT_GPU_MOST_DEPTH, sizeof *thread->nodes);
    const pt_u32 parent = pt_gpu_node_of(gpu, e->thread);
    const pt_u32 node = name ? node_at(gpu, pt_gpu_stage_of(gpu, e->process), parent, name) : parent;
    gpu->nodes.items[node].calls += node != parent;
    if (thread->depth < PT_GPU_MOST_DEPTH)
        thread->nodes[thread->depth] = node;
    if (!thread->depth++)
        note_ranging(gpu, e->thread, true);
    note_model(gpu, e, thread);
    if (e->desc->kind == PT_KIND_phase_begin)
        note_training(pt_gpu_process_of(gpu, e->process), pt_phase_of_tag(e->tag));
    if (starts_step)
        begin_step(gpu, e, true);
}

void pt_gpu_ranges_event(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_thread *thread = pt_gpu_thread_of(gpu, e->thread);
    switch (e->desc->kind) {
    case PT_KIND_range_begin:
    case PT_KIND_phase_begin:
        open_range(gpu, e);
        break;
    case PT_KIND_range_end:
    case PT_KIND_phase_end:
        if (thread->depth && !--thread->depth)
            note_ranging(gpu, e->thread, false);
        thread->model_depth = thread->model_depth <= thread->depth ? thread->model_depth : 0;
        break;
    case PT_KIND_step:
        begin_step(gpu, e, false);
        break;
    default:
        pt_gpu_overlaps_event(gpu, e);
        break;
    }
}

void pt_gpu_ranges_work(struct pt_gpu *gpu, const struct pt_gpu_activity *work, const struct pt_gpu_call *call)
{
    const pt_i64 ns = work->end_ns - work->start_ns;
    if (!call)
        return;
    struct pt_gpu_node *node = &gpu->nodes.items[call->node];
    node->gpu_ns += ns;
    node->activities++;
    gpu->nodes.items[call->helped].others_ns += ns;
    pt_gpu_overlaps_work(gpu, call, ns);
    struct pt_gpu_step *step = &pt_gpu_process_of(gpu, work->process)->steps[call->step % PT_GPU_STEPS_KEPT];
    if (!call->step || step->number != call->step)
        return;
    step->gpu_ns += ns;
    step->activities++;
}

void pt_gpu_ranges_end(struct pt_gpu *gpu)
{
    const struct pt_session *session = gpu->profile->session;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        for (pt_u32 j = 0; j < PT_GPU_STEPS_KEPT && gpu->processes[i]; j++)
            end_step(gpu->processes[i], &gpu->processes[i]->steps[j]);
}

/* ---- which range a thread was in, and when ---- */

/* Python collects garbage, and imports, on any thread: that makes none one that the others work for. */
static bool is_by_the_way(const struct pt_event *e)
{
    if (e->desc->kind != PT_KIND_phase_begin)
        return e->desc->kind == PT_KIND_phase_end;
    return pt_phase_of_tag(e->tag) == PT_PHASE_garbage_collection || pt_phase_of_tag(e->tag) == PT_PHASE_import;
}

static void note_ranging_ever(struct pt_gpu *gpu, const struct pt_event *e, struct pt_gpu_thread *thread)
{
    struct pt_gpu_process *process = pt_gpu_process_of(gpu, e->process);
    if (thread->is_ranging || is_by_the_way(e))
        return;
    thread->is_ranging = true;
    process->has_several = process->ranging != NULL;
    process->ranging = thread;
}

static void change_range(struct pt_gpu_thread *thread, pt_i64 at_ns, pt_u32 node)
{
    const struct pt_gpu_range_change change = {at_ns, node};
    const pt_u64 at = thread->n_range_changes++;
    if (at < PT_GPU_MOST_RANGE_CHANGES)
        pt_vec_push(&thread->range_changes, change);
    else
        thread->range_changes.items[at % PT_GPU_MOST_RANGE_CHANGES] = change;
}

void pt_gpu_note_range_change(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_thread *thread = pt_gpu_thread_of(gpu, e->thread);
    const pt_u32 node = pt_gpu_node_of(gpu, e->thread);
    const struct pt_gpu_range_change *last =
        thread->n_range_changes
            ? &thread->range_changes.items[(thread->n_range_changes - 1) % PT_GPU_MOST_RANGE_CHANGES]
            : NULL;
    if (node == (last ? last->node : 0))
        return;
    note_ranging_ever(gpu, e, thread);
    change_range(thread, e->start_ns, node);
}

void pt_gpu_ranges_hole(struct pt_gpu *gpu, const struct pt_thread *of, const struct pt_hole *hole)
{
    struct pt_gpu_thread *thread = pt_gpu_thread_of(gpu, of);
    if (thread->depth)
        note_ranging(gpu, of, false);
    thread->depth = thread->model_depth = 0;
    if (thread->n_range_changes)
        change_range(thread, hole->from_ns, 0);
    pt_gpu_process_of(gpu, of->process)->step_is_cut = true;
}

/* A thread that never had ranges works for the only one of its process that has. */
static const struct pt_gpu_thread *ranging_thread(const struct pt_gpu *gpu, const struct pt_thread *thread)
{
    const struct pt_gpu_thread *own = pt_gpu_thread_of(gpu, thread);
    const struct pt_gpu_process *process = gpu->processes[thread->process->index];
    const bool is_known = !own->is_ranging && process && process->ranging && !process->has_several;
    return is_known ? process->ranging : own;
}

const char *pt_gpu_range_before(const struct pt_gpu *gpu, const struct pt_thread *thread, pt_i64 end_ns,
                                pt_i64 *ret_start_ns)
{
    const struct pt_gpu_thread *own = ranging_thread(gpu, thread);
    *ret_start_ns = INT64_MIN;
    for (pt_u64 i = 0; i < own->n_range_changes && i < PT_GPU_MOST_RANGE_CHANGES; i++) {
        const struct pt_gpu_range_change *change =
            &own->range_changes.items[(own->n_range_changes - 1 - i) % PT_GPU_MOST_RANGE_CHANGES];
        if (change->start_ns >= end_ns)
            continue;
        *ret_start_ns = change->start_ns;
        return gpu->nodes.items[change->node].name;
    }
    return NULL;
}
