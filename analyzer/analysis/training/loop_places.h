/* SPDX-License-Identifier: MIT
 *
 * loop_places.h - the lines of the user's Python that passes over data and checkpoints begin at.
 */
#ifndef PT_ANALYSIS_TRAINING_LOOP_PLACES_H
#define PT_ANALYSIS_TRAINING_LOOP_PLACES_H

#include "world.h"

/* Sets the metrics training.<what>.place of a stage: where most of the time of it began. Not set where that is unknown.
 */
void pt_training_places(const struct pt_trainings *results, pt_u32 stage, const struct pt_world *world);

#endif
