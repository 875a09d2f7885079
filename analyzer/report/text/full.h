/* SPDX-License-Identifier: MIT
 *
 * full.h - everything that a document has, on a terminal.
 */
#ifndef PT_REPORT_TEXT_FULL_H
#define PT_REPORT_TEXT_FULL_H

#include "put.h"

void pt_text_full(const struct pt_text_out *t, const struct pt_doc *doc);
/* "Did it work, and if not, why?": the stages, the quality that was reached, failures with the ends of their logs. */
void pt_text_outcome(const struct pt_text_out *t, const struct pt_doc *doc);

#endif
