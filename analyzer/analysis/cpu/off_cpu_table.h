/* SPDX-License-Identifier: MIT
 *
 * cpu/off_cpu_table.h - the table of waits by stack and reason.
 */
#ifndef PT_ANALYSIS_CPU_OFF_CPU_TABLE_H
#define PT_ANALYSIS_CPU_OFF_CPU_TABLE_H

#include "facts/path/critical_path.h"
#include "profile/profile.h"

/* cpu.off_stacks; cpu.off_s is all time off the CPU that it shares out, unknown with the reason where there are no
 * stacks. */
void pt_off_cpu_table(struct pt_profile *profile, pt_u32 stage, const struct pt_path_thread *threads);

#endif
