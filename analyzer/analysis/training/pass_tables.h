/* SPDX-License-Identifier: MIT
 *
 * pass_tables.h - the tables of passes, slow steps and processes of a stage that trains.
 */
#ifndef PT_ANALYSIS_TRAINING_PASS_TABLES_H
#define PT_ANALYSIS_TRAINING_PASS_TABLES_H

#include "world.h"

void pt_training_pass_tables(const struct pt_trainings *results, pt_u32 stage, const struct pt_world *world);
void pt_training_step_tables(const struct pt_trainings *results, pt_u32 stage, const struct pt_world *world);

#endif
