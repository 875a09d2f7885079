/* SPDX-License-Identifier: MIT
 *
 * run.h - what a document says about the run as a whole.
 */
#ifndef PT_REPORT_BUILD_RUN_H
#define PT_REPORT_BUILD_RUN_H

#include "state.h"

void pt_build_head(const struct pt_build *b);
/* The quality that the pipeline reached, and what of it is below its floor. */
void pt_build_grades(const struct pt_build *b);
/* Stages that did not end well, with the ends of their logs; stages that were skipped. */
void pt_build_failures(const struct pt_build *b);
void pt_build_trace_quality(const struct pt_build *b);

#endif
