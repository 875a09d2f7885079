/* SPDX-License-Identifier: MIT
 *
 * Owns: nothing. Threads: one. Never: adds the steps of ranks that make them together.
 */
#include "world.h"

#include <stdlib.h>

#include "model/tree.h"
#include "profile/first_rank.h"

static pt_i64 first_rank(const struct pt_world *world)
{
    pt_i64 first = PT_NO_RANK;
    for (pt_u32 i = 0; i < world->n; i++)
        first = pt_first_rank_with(first, world->all[i]->process);
    return first;
}

struct pt_world pt_world_of(const struct pt_trainings *results, pt_u32 stage)
{
    struct pt_world world = {.all = pt_calloc(results->n_loops, sizeof *world.all),
                             .counted = pt_calloc(results->n_loops, sizeof *world.counted),
                             .ranks = 1};
    pt_u32 ranked = 0, of_first = 0;
    for (pt_u32 i = 0; i < results->n_loops; i++)
        if (pt_profile_stage_of(results->profile, results->loops[i].process) == stage && results->loops[i].steps)
            world.all[world.n++] = &results->loops[i];
    const pt_i64 first = first_rank(&world);
    for (pt_u32 i = 0; i < world.n; i++) {
        const pt_i64 rank = world.all[i]->process->rank;
        ranked += rank >= 0;
        of_first += rank >= 0 && rank == first;
        if (pt_rank_counts(first, world.all[i]->process))
            world.counted[world.n_counted++] = world.all[i];
    }
    if (of_first && ranked / of_first > 1)
        world.ranks = ranked / of_first;
    return world;
}

/* One of them was the last to begin of those that lived at once. */
pt_u32 pt_world_at_once(const struct pt_world *world)
{
    pt_u32 most = 0;
    for (pt_u32 i = 0; i < world->n; i++) {
        const struct pt_process *last = world->all[i]->process;
        pt_u32 n = 0;
        for (pt_u32 j = 0; j < world->n; j++) {
            const struct pt_process *one = world->all[j]->process;
            n += one->start_ns <= last->start_ns && one->end_ns > last->start_ns && pt_same_machine(one, last);
        }
        most = n > most ? n : most;
    }
    return most;
}

void pt_world_free(struct pt_world *world)
{
    free(world->all);
    free(world->counted);
}

struct pt_shares pt_shares_of(const pt_i64 phase_ns[PT_N_PHASES], pt_i64 whole_ns)
{
    struct pt_shares shares = {
        .ns = {
            [PT_SHARE_DATA] =
                phase_ns[PT_PHASE_loader_start] + phase_ns[PT_PHASE_data_wait] + phase_ns[PT_PHASE_worker_fetch],
            [PT_SHARE_FORWARD] = phase_ns[PT_PHASE_forward],
            [PT_SHARE_BACKWARD] = phase_ns[PT_PHASE_backward],
            [PT_SHARE_OPTIMIZER] =
                phase_ns[PT_PHASE_optimizer_step] + phase_ns[PT_PHASE_zero_grad] + phase_ns[PT_PHASE_grad_scaling],
        }};
    pt_i64 rest_ns = whole_ns;
    for (pt_u32 share = 0; share < PT_SHARE_OTHER; share++)
        rest_ns -= shares.ns[share];
    shares.ns[PT_SHARE_OTHER] = rest_ns > 0 ? rest_ns : 0;
    return shares;
}
