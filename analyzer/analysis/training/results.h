/* SPDX-License-Identifier: MIT
 *
 * results.h - what was found about the trainings of a run, as metrics and tables.
 */
#ifndef PT_ANALYSIS_TRAINING_RESULTS_H
#define PT_ANALYSIS_TRAINING_RESULTS_H

#include "world.h"

void pt_training_results(const struct pt_trainings *results);

#endif
