/* SPDX-License-Identifier: MIT
 *
 * Owns: what the late rank does more, by stack. Threads: one. Never: compares what started at different times: sums of
 * whole processes only.
 */
#include "rank_stacks.h"

#include <stdlib.h>

#include "facts/cpu_code.h"
#include "facts/python/frames.h"
#include "facts/state.h"
#include "util/mem.h"

enum { MOST_STACKS = 100 };

/* By what a thread of the late rank adds, and one of the others takes away. */
struct rank_sum {
    double s;
    pt_u32 frame; /* of the CPU profile */
    const struct pt_place_sum *place;
};

struct rank_sums {
    PT_VEC(struct rank_sum);
};

static int by_time(const void *a, const void *b)
{
    const double x = ((const struct rank_sum *)a)->s, y = ((const struct rank_sum *)b)->s;
    return x == y ? 0 : x < y ? 1 : -1;
}

static void keep(struct pt_profile *profile, pt_u32 stage, struct rank_sums *sums)
{
    if (sums->n)
        qsort(sums->items, sums->n, sizeof *sums->items, by_time);
    pt_u32 kept = 0;
    for (size_t i = 0; i < sums->n && kept < MOST_STACKS && sums->items[i].s > 0; i++) {
        const struct rank_sum *sum = &sums->items[i];
        struct pt_stack_frame frames[PT_STACK_FRAMES];
        const pt_u32 n = sum->place
                             ? pt_python_stack(sum->place->process, sum->place->stack, &profile->stacks.texts, frames)
                             : pt_cpu_stack(&profile->facts->views[stage], sum->frame, frames);
        /* Ranks import the same, each when it has a CPU: which takes longer with it says nothing of their work. */
        if (pt_python_imports(frames, n))
            continue;
        struct pt_stack *stack = pt_stacks_add(&profile->stacks, stage, frames, n);
        kept++;
        stack->part = PT_STACK_ANY_PART;
        stack->cost[PT_STACK_RANK_S] = sum->s;
    }
    free(sums->items);
}

/* By number of a thread of the CPU profile, or of facts: 1 for the late one's, less than 0 for the others'. */
static double *weights_of(const struct pt_facts *facts, const struct pt_process *const *processes, pt_u32 n,
                          const struct pt_process *late, bool is_of_profile, pt_u32 n_threads)
{
    double *weights = pt_calloc(n_threads + 1, sizeof *weights);
    for (pt_u32 i = 0; i < n; i++) {
        const struct pt_thread *thread = pt_main_thread(processes[i]);
        const pt_u32 number = !thread         ? 0
                              : is_of_profile ? pt_facts_cpu_thread(facts, thread)
                                              : pt_thread_number(&facts->ids, thread);
        if (thread)
            weights[number] = processes[i] == late ? 1 : -1.0 / (n - 1);
    }
    return weights;
}

static void what_ran(struct pt_profile *profile, pt_u32 stage, const double *weights)
{
    const struct pt_cpu_view *view = &profile->facts->views[stage];
    double *seconds = pt_calloc(view->frames.n + 1, sizeof *seconds);
    struct rank_sums sums = {0};
    for (size_t i = 0; i < view->data->n_counts; i++) {
        const struct pt_cpu_count *count = &view->data->counts[i];
        seconds[view->frame_of[count->node]] +=
            weights[count->thread] * (double)count->samples * view->shared_s[count->thread];
    }
    for (pt_u32 i = 1; i < view->frames.n; i++)
        if (seconds[i] > 0)
            pt_vec_push(&sums, ((struct rank_sum){seconds[i], i, NULL}));
    free(seconds);
    keep(profile, stage, &sums);
}

static bool is_of_work(enum pt_time_part part)
{
    return pt_part_is_of_files(part) || part == PT_PART_sleep || part == PT_PART_child_wait;
}

/* Stacks have other numbers in another process: only the late rank's are known by theirs. Where it waits for others,
 * these wait for it more. */
static void what_waited(struct pt_profile *profile, pt_u32 stage, pt_u32 thread)
{
    const struct pt_python_places *places = &profile->facts->places;
    struct rank_sums sums = {0};
    for (size_t i = 0; i < places->sums.n; i++) {
        const struct pt_place_sum *sum = &places->sums.items[i];
        if (sum->subject == PT_PLACE_OF_THREAD && sum->a == thread && is_of_work((enum pt_time_part)sum->b))
            pt_vec_push(&sums, ((struct rank_sum){sum->s, 0, sum}));
    }
    keep(profile, stage, &sums);
}

void pt_rank_stacks(struct pt_profile *profile, pt_u32 stage, const struct pt_process *const *processes, pt_u32 n,
                    const struct pt_process *late)
{
    const struct pt_facts *facts = profile->facts;
    const struct pt_cpu_data *data = facts->views[stage].data;
    if (data) {
        double *weights = weights_of(facts, processes, n, late, true, data->n_threads);
        weights[0] = 0; /* not in the profile */
        what_ran(profile, stage, weights);
        free(weights);
    }
    if (pt_main_thread(late))
        what_waited(profile, stage, pt_thread_number(&facts->ids, pt_main_thread(late)));
}
