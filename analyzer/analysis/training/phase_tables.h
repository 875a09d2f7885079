/* SPDX-License-Identifier: MIT
 *
 * phase_tables.h - the tables of phases of a stage.
 */
#ifndef PT_ANALYSIS_TRAINING_PHASE_TABLES_H
#define PT_ANALYSIS_TRAINING_PHASE_TABLES_H

#include "world.h"

void pt_training_phase_tables(const struct pt_trainings *results, pt_u32 stage);

#endif
