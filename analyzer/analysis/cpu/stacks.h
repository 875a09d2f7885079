/* SPDX-License-Identifier: MIT
 *
 * cpu/stacks.h - the stacks of a stage's CPU profile, for what findings point to.
 */
#ifndef PT_ANALYSIS_CPU_STACKS_H
#define PT_ANALYSIS_CPU_STACKS_H

#include "facts/path/critical_path.h"
#include "profile/profile.h"

/* What ran, and what was in recorded calls, into profile->stacks. `critical`: the thread on the critical path that
 * computes most; 0 = none. */
void pt_cpu_stacks(struct pt_profile *profile, pt_u32 stage, const struct pt_path_thread *threads, pt_u32 critical);

#endif
