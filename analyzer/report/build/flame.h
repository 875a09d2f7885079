/* SPDX-License-Identifier: MIT
 *
 * flame.h - the flame graph of a stage.
 */
#ifndef PT_REPORT_BUILD_FLAME_H
#define PT_REPORT_BUILD_FLAME_H

#include "state.h"

/* Nothing when there is neither a sample nor a reason. */
void pt_build_flame(const struct pt_build *b, struct pt_doc_stage *stage);

#endif
