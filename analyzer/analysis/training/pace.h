/* SPDX-License-Identifier: MIT
 *
 * pace.h - how long the steps of a process take, by phase, and the slowest of them.
 */
#ifndef PT_ANALYSIS_TRAINING_PACE_H
#define PT_ANALYSIS_TRAINING_PACE_H

#include "phase_sums.h"

enum { PT_SLOWEST_STEPS = 8 };

struct pt_step {
    pt_u64 number; /* from 1 */
    pt_u32 pass;   /* over the data, from 1; 0 = none */
    bool is_first; /* of its pass */
    pt_i64 start_ns, ns;
    pt_i64 phase_ns[PT_N_PHASES]; /* self time */
};

struct pt_pace {
    pt_u64 n;
    pt_i64 ns;
    struct pt_times durations;
    struct pt_times phases[PT_N_PHASES];      /* per step: also where it is 0 */
    struct pt_step slowest[PT_SLOWEST_STEPS]; /* the slowest first */
    pt_u32 n_slowest;
};

/* `step->number` is set. */
void pt_pace_add(struct pt_pace *pace, struct pt_step *step);
/* The phase that took longest beyond what it takes in half of the steps, and by how much; 0 = what is in no phase. */
enum pt_phase pt_pace_what_grew(const struct pt_pace *pace, const struct pt_step *step, pt_i64 *ret_by_ns);

#endif
