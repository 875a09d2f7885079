/* SPDX-License-Identifier: MIT
 *
 * at_once.h - what trainings that run beside each other cost the stage: who waits for all of them gains once what each
 * of them could do without.
 */
#ifndef PT_ANALYSIS_TRAINING_AT_ONCE_H
#define PT_ANALYSIS_TRAINING_AT_ONCE_H

#include "world.h"

/* Of the trainings that are counted, in the order of their ends. */
struct pt_at_once {
    pt_u32 n;
    struct pt_at_once_one {
        pt_u32 counted; /* its number among those */
        pt_u32 before;  /* so many of these have ended when it begins */
        pt_i64 from_ns, until_ns;
    } * by_end;
    double *most; /* scratch: n + 1 */
};

struct pt_at_once pt_at_once_of(const struct pt_world *world);
void pt_at_once_free(struct pt_at_once *once);

/* The most that trainings which follow each other cost together; costs[i * stride] is that of the one with number i. */
double pt_at_once_cost(const struct pt_at_once *once, const double *costs, size_t stride);

#endif
