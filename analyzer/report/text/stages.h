/* SPDX-License-Identifier: MIT
 *
 * text/stages.h - the stages of a pipeline, one line for each.
 */
#ifndef PT_REPORT_TEXT_STAGES_H
#define PT_REPORT_TEXT_STAGES_H

#include "put.h"

void pt_text_stages(const struct pt_text_out *t, const struct pt_doc *doc);

#endif
