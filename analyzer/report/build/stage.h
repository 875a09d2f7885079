/* SPDX-License-Identifier: MIT
 *
 * stage.h - the stages of a document: a line of the summary each, where their time went, and the blocks behind that.
 */
#ifndef PT_REPORT_BUILD_STAGE_H
#define PT_REPORT_BUILD_STAGE_H

#include "state.h"

void pt_build_stages(const struct pt_build *b);

#endif
