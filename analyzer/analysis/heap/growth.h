/* SPDX-License-Identifier: MIT
 *
 * heap/growth.h - by how much the memory of a process grew, and which call sites did it.
 */
#ifndef PT_ANALYSIS_HEAP_GROWTH_H
#define PT_ANALYSIS_HEAP_GROWTH_H

#include "process.h"

/* Of a process, after its last event. */
struct pt_heap_growth pt_heap_growth_of(struct pt_heap_process *p, const struct pt_process *process);
/* What call sites of a process with a steady rise have of it: their growth_bytes. Their size classes say how far the
 * samples are from the exact counts: the rise, and the peak that it leads to, become what these counts say. Before the
 * sites' own estimates are calibrated. */
void pt_heap_growth_of_sites(struct pt_heap_process *p, const struct pt_process *process, struct pt_heap_sites *sites);

#endif
