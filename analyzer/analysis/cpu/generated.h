/* SPDX-License-Identifier: MIT
 *
 * cpu/generated.h - who made the code that a stage ran and that is in no file, where no caller says it.
 */
#ifndef PT_ANALYSIS_CPU_GENERATED_H
#define PT_ANALYSIS_CPU_GENERATED_H

#include "facts/cpu_names.h"
#include "profile/profile.h"

/* Needs the metrics of the analysis `ranges`; before any table of functions is made. */
void pt_cpu_name_generated(struct pt_profile *profile, pt_u32 stage, struct pt_cpu_view *view);

#endif
