/* SPDX-License-Identifier: MIT
 *
 * brief.h - the report on one screen: how it went, where the time went, what to fix first, what to type next.
 */
#ifndef PT_REPORT_TEXT_BRIEF_H
#define PT_REPORT_TEXT_BRIEF_H

#include "put.h"

void pt_text_brief(const struct pt_text_out *t, const struct pt_doc *doc);

#endif
