/* SPDX-License-Identifier: MIT
 *
 * verdict.h - the run in one or two sentences.
 */
#ifndef PT_REPORT_BUILD_VERDICT_H
#define PT_REPORT_BUILD_VERDICT_H

#include "state.h"

/* After stages and findings. */
void pt_build_verdict(const struct pt_build *b);

#endif
