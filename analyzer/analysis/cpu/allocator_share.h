/* SPDX-License-Identifier: MIT
 *
 * cpu/allocator_share.h - how much of a stage's CPU time malloc, free and similar took, by the CPU profile.
 */
#ifndef PT_ANALYSIS_CPU_ALLOCATOR_SHARE_H
#define PT_ANALYSIS_CPU_ALLOCATOR_SHARE_H

#include "analysis/analysis.h"
#include "facts/cpu_names.h"

/* Sets cpu.allocator_s, and cpu.allocator_most_s: what it can be when chance is taken into account, with what recording
 * these calls took. */
void pt_allocator(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view);

#endif
