/* SPDX-License-Identifier: MIT
 *
 * build/training.h - what a report shows of a training.
 */
#ifndef PT_REPORT_BUILD_TRAINING_H
#define PT_REPORT_BUILD_TRAINING_H

#include "state.h"

/* The line and the bar of a stage that trains. */
void pt_build_training_line(const struct pt_build *b, struct pt_doc_stage *stage);
/* Its panels; the tables come from views.def. */
void pt_build_training(const struct pt_build *b, struct pt_doc_stage *stage);

#endif
