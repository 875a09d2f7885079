/* SPDX-License-Identifier: MIT
 *
 * Owns: what a call of the allocator took: of the CPU time that samples show in an allocator, each call of the thread
 * an equal share; where a thread has few samples, those of its stage decide; where that has few, a usual cost. Threads:
 * one. State: none. Never: counts the work of recording the call as the program's.
 */
#include "heap_cost.h"

#include <stdlib.h>

#include "facts/cpu_code.h"
#include "util/auto.h"

/* malloc and free of small blocks, glibc 2.36, measured in tests/bench (M1). On faster machines half of it. */
#define USUAL_NS 12.0
/* Of all code, so that a share of 10 % is known to a third. */
#define ENOUGH_SAMPLES 100

struct cost {
    double allocator_ns, samples, calls;
};

static double cost_ns(const struct cost *thread, const struct cost *stage)
{
    const struct cost *best = thread->samples >= ENOUGH_SAMPLES ? thread : stage;
    return best->samples >= ENOUGH_SAMPLES && best->calls > 0 ? best->allocator_ns / best->calls : USUAL_NS;
}

/* By number in the stage's CPU profile. */
static void add_samples(const struct pt_cpu_view *view, struct cost *costs)
{
    for (size_t i = 0; i < view->data->n_counts; i++) {
        const struct pt_cpu_count *count = &view->data->counts[i];
        const bool is_allocator =
            view->frames.items[view->frame_of[count->node]].is_in_allocator && !pt_cpu_is_tracing(view, count->node);
        costs[count->thread].samples += (double)count->samples;
        if (is_allocator)
            costs[count->thread].allocator_ns += 1e9 * (double)count->samples * view->shared_s[count->thread];
    }
}

/* Of all images of a thread. Those that the profile does not know have no samples, and no calls for them. */
static void add_calls(const struct pt_facts *facts, pt_u32 stage, struct cost *costs)
{
    for (pt_u32 i = 0; i < pt_n_threads(&facts->ids); i++) {
        const struct pt_thread *thread = pt_thread_of_number(&facts->ids, i);
        const pt_u32 number = facts->cpu.numbers[i];
        if (number && pt_profile_stage_of(facts->profile, thread->process) == stage)
            costs[number].calls += (double)(thread->heap_allocs + thread->heap_frees);
    }
}

/* Without those whose calls nobody counted: untraced programs are sampled, too. */
static struct cost sum_of(const struct cost *costs, size_t n)
{
    struct cost sum = {0};
    for (size_t i = 0; i < n; i++) {
        sum.allocator_ns += costs[i].calls > 0 ? costs[i].allocator_ns : 0;
        sum.samples += costs[i].calls > 0 ? costs[i].samples : 0;
        sum.calls += costs[i].calls;
    }
    return sum;
}

/* The share of the kernel in it, which gives and takes the memory, must be known, too. */
static bool shows_allocators(const struct pt_cpu_data *data)
{
    return data && data->header.flags & PT_CPU_SAMPLED && !(data->header.flags & PT_CPU_USER_ONLY);
}

static void set_costs(const struct pt_facts *facts, pt_u32 stage, double *costs_ns)
{
    const struct pt_cpu_data *data = pt_facts_cpu(facts, stage)->data;
    if (!shows_allocators(data))
        return;
    PT_AUTO(pt_freep) struct cost *costs = pt_calloc(data->n_threads + 1, sizeof *costs);
    add_samples(&facts->views[stage], costs);
    add_calls(facts, stage, costs);
    const struct cost all = sum_of(costs, data->n_threads + 1);
    for (pt_u32 i = 0; i < pt_n_threads(&facts->ids); i++) {
        const struct pt_thread *thread = pt_thread_of_number(&facts->ids, i);
        if (pt_profile_stage_of(facts->profile, thread->process) == stage)
            costs_ns[i] = cost_ns(facts->cpu.numbers[i] ? &costs[facts->cpu.numbers[i]] : &all, &all);
    }
}

double *pt_heap_costs_ns(const struct pt_facts *facts)
{
    double *costs_ns = pt_calloc(pt_n_threads(&facts->ids), sizeof *costs_ns);
    for (pt_u32 i = 0; i < pt_n_threads(&facts->ids); i++)
        costs_ns[i] = USUAL_NS;
    for (pt_u32 stage = 0; stage < facts->profile->stages.n; stage++)
        set_costs(facts, stage, costs_ns);
    return costs_ns;
}
