/* SPDX-License-Identifier: MIT
 *
 * cpu/tables.h - tables of a stage's CPU profile.
 */
#ifndef PT_ANALYSIS_CPU_TABLES_H
#define PT_ANALYSIS_CPU_TABLES_H

#include "facts/cpu_names.h"
#include "profile/metrics.h"

/* cpu.functions, cpu.thread_functions, cpu.stacks; nothing when there are no samples. */
void pt_cpu_tables(struct pt_metrics *metrics, struct pt_scope scope, struct pt_cpu_view *view);

/* The innermost functions of a stack, as one line. `line`: of the first; 0 = where most of its time went. */
const char *pt_cpu_stack_text(struct pt_metrics *metrics, const struct pt_cpu_view *view, pt_u32 frame, pt_u32 line);

#endif
