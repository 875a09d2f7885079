/* SPDX-License-Identifier: MIT
 *
 * finding.h - findings and failures on a page.
 */
#ifndef PT_REPORT_HTML_FINDING_H
#define PT_REPORT_HTML_FINDING_H

#include "report/doc/doc.h"
#include "util/str.h"

/* The section with all of them; "finding-<number>" is the anchor of each. */
void pt_html_findings(struct pt_str *out, const struct pt_doc *doc);
/* Nothing when no stage failed. */
void pt_html_failures(struct pt_str *out, const struct pt_doc *doc);
/* The number of a finding, which links to it where the page has it. */
void pt_html_finding_number(struct pt_str *out, const struct pt_doc_finding *finding, bool is_on_page);

#endif
