/* SPDX-License-Identifier: MIT
 *
 * head.h - the top of the page: what ran, the verdict, the figures that matter most.
 */
#ifndef PT_REPORT_HTML_HEAD_H
#define PT_REPORT_HTML_HEAD_H

#include "report/doc/doc.h"
#include "util/str.h"

void pt_html_header(struct pt_str *out, const struct pt_doc *doc);
/* The verdict, and figures as cards. */
void pt_html_lead(struct pt_str *out, const struct pt_doc *doc);
/* How far the trace can be trusted. */
void pt_html_trace_quality(struct pt_str *out, const struct pt_doc *doc);
/* Whether something is missing that the reader should know before anything else. */
bool pt_html_trace_is_incomplete(const struct pt_doc *doc);

#endif
