/* SPDX-License-Identifier: MIT
 *
 * first_rank.h - whose steps, epochs and values count, where ranks make them together: those of the first rank. Eight
 * ranks that each make 100 steps have made 100. Processes without a rank each make their own.
 */
#ifndef PT_PROFILE_FIRST_RANK_H
#define PT_PROFILE_FIRST_RANK_H

#include "model/session.h"
#include "proftrace/events.h"

enum { PT_NO_RANK = -1 };

/* The first rank of those before, and of `process`. */
static inline pt_i64 pt_first_rank_with(pt_i64 first, const struct pt_process *process)
{
    return process->rank >= 0 && (first < 0 || process->rank < first) ? process->rank : first;
}

/* Likewise, of those that mark steps or epochs. */
static inline pt_i64 pt_first_marking_rank_with(pt_i64 first, const struct pt_process *process)
{
    const bool marks =
        pt_totals_of(process->totals, PT_KIND_step)->calls || pt_totals_of(process->totals, PT_KIND_epoch)->calls;
    return marks ? pt_first_rank_with(first, process) : first;
}

static inline bool pt_rank_counts(pt_i64 first, const struct pt_process *process)
{
    return process->rank < 0 || process->rank == first;
}

#endif
