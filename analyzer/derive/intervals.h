/* SPDX-License-Identifier: MIT
 *
 * intervals.h - the time between two samples of a stage, one after another. For what is derived from samples only.
 */
#ifndef PT_DERIVE_INTERVALS_H
#define PT_DERIVE_INTERVALS_H

#include "profile/profile.h"

struct pt_sample_interval { /* {0} = before the first */
    double length_s, machine_percent, stage_percent;
    double stolen_percent; /* of the machine's; 0 where it is not known */
    double queued_s;       /* what the stage queued for CPUs in it; NAN = not known, below 0 where a process ended */
    /* Of the walk itself. */
    double end_s, queued_until_s;
    pt_u32 n_seen;
};

/* Goes to the next one in which it is known what the machine and the stage used; false at the end. */
bool pt_next_interval(const struct pt_run_stage *run, struct pt_sample_interval *interval);

#endif
