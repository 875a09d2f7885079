/* SPDX-License-Identifier: MIT
 *
 * finding.h - findings with the words for their evidence.
 */
#ifndef PT_REPORT_BUILD_FINDING_H
#define PT_REPORT_BUILD_FINDING_H

#include "state.h"

/* After the stages. */
void pt_build_findings(const struct pt_build *b);

#endif
