/* SPDX-License-Identifier: MIT
 *
 * Ranges that may overlap others (range_open, range_close), and the GPU work in them: work belongs to each range that
 * was open when it was launched, on the thread that had opened the range, as in Nsight Systems.
 *
 * Threads: one. State: the ranges that are open, those that closed last, the last sets of ranges that were open at once
 * on a thread. Never: gives work to a range that ended on another thread than it began on.
 */
#include "overlaps.h"

#include "proftrace/payloads.h"
#include <stdlib.h>

enum {
    MOST_OPEN = 1024,
    MOST_RANGES = 2048, /* open ones, and closed ones for which work may still come */
    MOST_SETS = 4096,
    MOST_AT_ONCE = 16, /* on a thread */
    MOST_SUMS = 2048,
};

struct overlap {
    const struct pt_process *process;
    const struct pt_thread *thread; /* that opened it; NULL = free */
    pt_u64 id;
    pt_u32 sum, use; /* use: which of those that had this slot */
    bool is_open, is_elsewhere;
    pt_u64 activities;
    pt_i64 gpu_ns;
};

struct overlap_set {
    pt_u32 n;
    struct {
        pt_u32 slot, use;
    } members[MOST_AT_ONCE];
};

struct pt_gpu_overlaps {
    struct overlap ranges[MOST_RANGES];
    pt_u32 next; /* slot to try first for a new one */
    pt_u32 open[MOST_OPEN], n_open;
    pt_i64 full_until_ns; /* when the first of them ends with its process; 0 = there was room */
    struct overlap_set sets[MOST_SETS];
    pt_u32 n_sets; /* ever made */
    struct pt_map by_name;
    struct {
        PT_VEC(struct pt_gpu_overlap_sum);
    } sums;
};

static pt_u32 sum_of(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_overlaps *own = gpu->overlaps;
    const pt_u32 stage = pt_gpu_stage_of(gpu, e->process);
    bool is_step;
    const char *name = pt_gpu_range_name(gpu, e->process, e->aux, &is_step);
    name = name ? name : "(unknown)";
    if (own->sums.n >= MOST_SUMS && !pt_map_find(&own->by_name, pt_hash_pair((uintptr_t)name, stage)))
        name = "(other ranges)";
    pt_u64 *slot = pt_map_at(&own->by_name, pt_hash_pair((uintptr_t)name, stage));
    if (!*slot) {
        pt_vec_push(&own->sums, ((struct pt_gpu_overlap_sum){.stage = stage, .name = name}));
        *slot = own->sums.n;
    }
    return (pt_u32)(*slot - 1);
}

/* No more work comes for it. */
static void settle(struct pt_gpu_overlaps *own, struct overlap *range)
{
    if (!range->thread)
        return;
    struct pt_gpu_overlap_sum *sum = &own->sums.items[range->sum];
    sum->calls += !range->is_elsewhere;
    sum->elsewhere += range->is_elsewhere;
    sum->activities += range->is_elsewhere ? 0 : range->activities;
    sum->gpu_ns += range->is_elsewhere ? 0 : range->gpu_ns;
    range->thread = NULL;
}

/* It is not among the open ones any more. */
static void end_range(struct pt_gpu *gpu, struct overlap *range)
{
    struct pt_gpu_thread *thread = pt_gpu_thread_of(gpu, range->thread);
    range->is_open = false;
    thread->n_overlapping--;
    thread->overlapping = 0;
}

/* Those that ended with their processes: nobody closes them any more, and later ones would have no room. */
static void end_with_processes(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_overlaps *own = gpu->overlaps;
    pt_u32 n = 0;
    if (e->start_ns < own->full_until_ns)
        return;
    own->full_until_ns = INT64_MAX;
    for (pt_u32 i = 0; i < own->n_open; i++) {
        struct overlap *range = &own->ranges[own->open[i]];
        if (range->process->end_ns < e->start_ns && range->process != e->process) {
            end_range(gpu, range);
            continue;
        }
        own->open[n++] = own->open[i];
        if (range->process->end_ns < own->full_until_ns)
            own->full_until_ns = range->process->end_ns;
    }
    own->n_open = n;
}

static void open_range(struct pt_gpu *gpu, const struct pt_event *e)
{
    if (!gpu->overlaps)
        gpu->overlaps = pt_calloc(1, sizeof *gpu->overlaps);
    struct pt_gpu_overlaps *own = gpu->overlaps;
    struct pt_gpu_thread *thread = pt_gpu_thread_of(gpu, e->thread);
    if (own->n_open == MOST_OPEN)
        end_with_processes(gpu, e);
    if (own->n_open == MOST_OPEN)
        return;
    while (own->ranges[own->next % MOST_RANGES].is_open)
        own->next++;
    const pt_u32 slot = own->next++ % MOST_RANGES;
    struct overlap *range = &own->ranges[slot];
    settle(own, range);
    *range = (struct overlap){.process = e->process,
                              .thread = e->thread,
                              .id = pt_event_as(e, range_open)->id,
                              .sum = sum_of(gpu, e),
                              .use = range->use + 1,
                              .is_open = true};
    own->open[own->n_open++] = slot;
    if (e->process->end_ns < own->full_until_ns)
        own->full_until_ns = e->process->end_ns;
    thread->n_overlapping++;
    thread->overlapping = 0;
}

static void close_range(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_overlaps *own = gpu->overlaps;
    const pt_u64 id = pt_event_as(e, range_close)->id;
    pt_u32 i = own ? own->n_open : 0;
    while (i && (own->ranges[own->open[i - 1]].id != id || own->ranges[own->open[i - 1]].process != e->process))
        i--;
    if (!i)
        return;
    struct overlap *range = &own->ranges[own->open[i - 1]];
    own->open[i - 1] = own->open[--own->n_open];
    range->is_elsewhere = range->thread != e->thread;
    end_range(gpu, range);
}

void pt_gpu_overlaps_event(struct pt_gpu *gpu, const struct pt_event *e)
{
    if (e->desc->kind == PT_KIND_range_open)
        open_range(gpu, e);
    else if (e->desc->kind == PT_KIND_range_close)
        close_range(gpu, e);
}

pt_u32 pt_gpu_overlaps_of(struct pt_gpu *gpu, const struct pt_thread *pt_thread)
{
    struct pt_gpu_overlaps *own = gpu->overlaps;
    struct pt_gpu_thread *thread = pt_gpu_thread_of(gpu, pt_thread);
    if (!thread->n_overlapping)
        return 0;
    /* Other threads may have made so many sets since that this one is gone. */
    if (thread->overlapping && own->n_sets - thread->overlapping < MOST_SETS / 2)
        return thread->overlapping;
    thread->overlapping = ++own->n_sets;
    struct overlap_set *set = &own->sets[thread->overlapping % MOST_SETS];
    set->n = 0;
    for (pt_u32 i = own->n_open; i-- > 0 && set->n < MOST_AT_ONCE;) {
        const pt_u32 slot = own->open[i];
        if (own->ranges[slot].thread != pt_thread)
            continue;
        set->members[set->n].slot = slot;
        set->members[set->n++].use = own->ranges[slot].use;
    }
    return thread->overlapping;
}

void pt_gpu_overlaps_work(struct pt_gpu *gpu, const struct pt_gpu_call *call, pt_i64 ns)
{
    struct pt_gpu_overlaps *own = gpu->overlaps;
    if (!call->overlapping || own->n_sets - call->overlapping >= MOST_SETS)
        return;
    const struct overlap_set *set = &own->sets[call->overlapping % MOST_SETS];
    for (pt_u32 i = 0; i < set->n; i++) {
        struct overlap *range = &own->ranges[set->members[i].slot];
        if (range->use != set->members[i].use)
            continue;
        range->activities++;
        range->gpu_ns += ns;
    }
}

const struct pt_gpu_overlap_sum *pt_gpu_overlaps_sums(struct pt_gpu *gpu, size_t *ret_n)
{
    struct pt_gpu_overlaps *own = gpu->overlaps;
    *ret_n = 0;
    if (!own)
        return NULL;
    for (pt_u32 i = 0; i < MOST_RANGES; i++)
        settle(own, &own->ranges[i]);
    *ret_n = own->sums.n;
    return own->sums.items;
}

void pt_gpu_overlaps_free(struct pt_gpu *gpu)
{
    if (gpu->overlaps) {
        pt_map_fini(&gpu->overlaps->by_name);
        free(gpu->overlaps->sums.items);
    }
    free(gpu->overlaps);
}
