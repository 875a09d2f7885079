/* SPDX-License-Identifier: MIT
 *
 * text/training.h - a line about each stage that trains.
 */
#ifndef PT_REPORT_TEXT_TRAINING_H
#define PT_REPORT_TEXT_TRAINING_H

#include "put.h"

void pt_text_training(const struct pt_text_out *t, const struct pt_doc *doc);

#endif
