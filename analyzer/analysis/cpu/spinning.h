/* SPDX-License-Identifier: MIT
 *
 * cpu/spinning.h - CPU time in which threads of a pool (OpenMP, BLAS) only looked whether the others had come.
 */
#ifndef PT_ANALYSIS_CPU_SPINNING_H
#define PT_ANALYSIS_CPU_SPINNING_H

#include "facts/cpu_names.h"
#include "facts/path/critical_path.h"
#include "profile/profile.h"

/* Stores cpu.yielding_s, that in functions of the program which give up the CPU and look again (sched_yield), with what
 * else these do; cpu.spinning_s, of all threads, cpu.spinning_main_s, of the critical ones, and cpu.pool_threads: how
 * many threads of one process work in such a pool. `threads`: as pt_path_threads gives them. */
void pt_spinning(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view,
                 const struct pt_path_thread *threads);

#endif
