/* SPDX-License-Identifier: MIT
 *
 * world.h - the processes of a stage that train: which of them a stage's steps are counted in.
 *
 * Ranks make each step together: those of the first rank count. Others that train each make their own.
 */
#ifndef PT_ANALYSIS_TRAINING_WORLD_H
#define PT_ANALYSIS_TRAINING_WORLD_H

#include "found.h"

struct pt_trainings {
    struct pt_profile *profile;
    const struct pt_phase_sums *sums;
    struct pt_loop_results *loops; /* of each process that has one */
    pt_u32 n_loops;
};

struct pt_world {
    const struct pt_loop_results **all; /* that train in this stage */
    pt_u32 n;
    const struct pt_loop_results **counted; /* of them, those whose steps are the stage's */
    pt_u32 n_counted;
    pt_u32 ranks; /* that trained at the same time; 1 = no ranks */
};

struct pt_world pt_world_of(const struct pt_trainings *results, pt_u32 stage);
void pt_world_free(struct pt_world *world);
/* The most of them that trained at the same time on one machine: each has a loader of its own. */
pt_u32 pt_world_at_once(const struct pt_world *world);

/* Time by what engineers call it. */
enum pt_share {
    PT_SHARE_DATA,
    PT_SHARE_FORWARD,
    PT_SHARE_BACKWARD,
    PT_SHARE_OPTIMIZER,
    PT_SHARE_OTHER,
    PT_SHARE__COUNT
};
struct pt_shares {
    pt_i64 ns[PT_SHARE__COUNT];
};
/* Other is what is left of `whole_ns`. */
struct pt_shares pt_shares_of(const pt_i64 phase_ns[PT_N_PHASES], pt_i64 whole_ns);

static inline double pt_percent_of(pt_i64 part_ns, pt_i64 whole_ns)
{
    return whole_ns > 0 ? 100 * (double)part_ns / (double)whole_ns : 0;
}

#endif
