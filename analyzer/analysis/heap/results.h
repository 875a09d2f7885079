/* SPDX-License-Identifier: MIT
 *
 * heap/results.h - from what the heap analysis gathered to metrics and the table of call sites.
 */
#ifndef PT_ANALYSIS_HEAP_RESULTS_H
#define PT_ANALYSIS_HEAP_RESULTS_H

#include "analysis/analysis.h"
#include "process.h"

void pt_heap_results(struct pt_profile *profile, struct pt_heap_processes *processes, struct pt_heap_sites *sites);

#endif
