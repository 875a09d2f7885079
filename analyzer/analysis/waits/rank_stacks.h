/* SPDX-License-Identifier: MIT
 *
 * waits/rank_stacks.h - what the late rank of a distributed program does more than the others. For ranks.c only.
 */
#ifndef PT_ANALYSIS_RANK_STACKS_H
#define PT_ANALYSIS_RANK_STACKS_H

#include "profile/profile.h"

/* Stacks of the main threads into profile->stacks: what ran, and Python's in calls. `processes`: the ranks. */
void pt_rank_stacks(struct pt_profile *profile, pt_u32 stage, const struct pt_process *const *processes, pt_u32 n,
                    const struct pt_process *late);

#endif
