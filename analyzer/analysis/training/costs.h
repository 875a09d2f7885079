/* SPDX-License-Identifier: MIT
 *
 * costs.h - what rules judge of the trainings of a stage: seconds that could be gained, and what they are shares of.
 */
#ifndef PT_ANALYSIS_TRAINING_COSTS_H
#define PT_ANALYSIS_TRAINING_COSTS_H

#include "world.h"

/* What the first batches of epochs took beyond the usual, from the epoch with this number on. */
pt_i64 pt_training_late_ns(const struct pt_loop_results *loop, size_t from);

/* Of a stage that makes steps. */
void pt_training_costs(const struct pt_trainings *results, pt_u32 stage, const struct pt_world *world);

#endif
