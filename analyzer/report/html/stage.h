/* SPDX-License-Identifier: MIT
 *
 * stage.h - the stages on a page: all of them side by side, then each with everything about it.
 */
#ifndef PT_REPORT_HTML_STAGE_H
#define PT_REPORT_HTML_STAGE_H

#include "report/doc/doc.h"
#include "util/str.h"

/* Where the time of each went, and a line of figures for each. */
void pt_html_overview(struct pt_str *out, const struct pt_doc *doc);
/* A section per stage, "stage-<index>", the longest one open. */
void pt_html_stages(struct pt_str *out, const struct pt_doc *doc);

#endif
