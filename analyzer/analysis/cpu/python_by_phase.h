/* SPDX-License-Identifier: MIT
 *
 * cpu/python_by_phase.h - what computes in Python in each phase of a training, and in each of its processes.
 */
#ifndef PT_ANALYSIS_CPU_PYTHON_BY_PHASE_H
#define PT_ANALYSIS_CPU_PYTHON_BY_PHASE_H

#include "facts/cpu_names.h"
#include "facts/path/critical_path.h"
#include "profile/profile.h"

/* Stores python.by_phase of a stage: the CPU time of the program's own functions, with what they call, apart for each
 * process (worker, rank) and phase. Absent where there is one process without phases: python.functions says it all. */
void pt_cpu_python_by_phase(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view,
                            const struct pt_path_thread *threads);

#endif
