/* SPDX-License-Identifier: MIT
 *
 * training.h - what a stage trained, as JSON.
 */
#ifndef PT_REPORT_JSON_TRAINING_H
#define PT_REPORT_JSON_TRAINING_H

#include "report.h"

/* The member "training" of the stage that is open; nothing when it does not train. */
void pt_json_training(const struct pt_report_json *r, pt_u32 stage);

#endif
