/* SPDX-License-Identifier: MIT
 *
 * finding.h - findings and failures on a terminal, with all that is known about them.
 */
#ifndef PT_REPORT_TEXT_FINDING_H
#define PT_REPORT_TEXT_FINDING_H

#include "put.h"

void pt_text_finding(const struct pt_text_out *t, const struct pt_doc_finding *finding);
/* The same as a report of its own: with the place, the time of its stage, and stacks. */
void pt_text_finding_alone(const struct pt_text_out *t, const struct pt_doc_finding *finding);
void pt_text_failure(const struct pt_text_out *t, const struct pt_doc_failure *failure, pt_u32 number);

#endif
