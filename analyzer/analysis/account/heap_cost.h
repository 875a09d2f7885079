/* SPDX-License-Identifier: MIT
 *
 * account/heap_cost.h - what a call of the allocator took, which is counted but has no times.
 */
#ifndef PT_ANALYSIS_ACCOUNT_HEAP_COST_H
#define PT_ANALYSIS_ACCOUNT_HEAP_COST_H

#include "facts/state.h"

/* Nanoseconds of CPU time for each call, by number of a thread; to free(). After the last event. */
double *pt_heap_costs_ns(const struct pt_facts *facts);

#endif
