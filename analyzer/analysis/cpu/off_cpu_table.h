/* SPDX-License-Identifier: MIT
 *
 * off_cpu_table.h - the table of waits by stack and reason. For cpu.c only.
 */
#ifndef PT_ANALYSIS_CPU_OFF_CPU_TABLE_H
#define PT_ANALYSIS_CPU_OFF_CPU_TABLE_H

#include "facts/cpu_names.h"
#include "profile/metrics.h"
#include "off_cpu.h"

/* cpu.off_stacks; cpu.off_s is all time off the CPU that it shares out, unknown with the reason where there are no
 * stacks. */
void pt_off_cpu_table(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_cpu_view *view,
                      const struct pt_off_cpu *off, pt_u32 main_thread);

#endif
