/* SPDX-License-Identifier: MIT
 *
 * stage.h - the stages of a document: for each a line of the summary, where its time went, and its panels.
 */
#ifndef PT_REPORT_BUILD_STAGE_H
#define PT_REPORT_BUILD_STAGE_H

#include "state.h"

void pt_build_stages(const struct pt_build *b);

#endif
