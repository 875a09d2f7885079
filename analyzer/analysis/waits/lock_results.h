/* SPDX-License-Identifier: MIT
 *
 * waits/lock_results.h - from what was collected of locks to tables and metrics.
 */
#ifndef PT_ANALYSIS_WAITS_LOCK_RESULTS_H
#define PT_ANALYSIS_WAITS_LOCK_RESULTS_H

#include "lock.h"

/* Stores the results of all stages; sorts the locks. */
void pt_locks_finish(struct pt_locks *locks);

#endif
