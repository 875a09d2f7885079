/* SPDX-License-Identifier: MIT
 *
 * run.h - the run as a whole on a page: resources over time, the quality that was reached, tables, commands to copy.
 */
#ifndef PT_REPORT_HTML_RUN_H
#define PT_REPORT_HTML_RUN_H

#include "report/doc/doc.h"
#include "util/str.h"

void pt_html_run(struct pt_str *out, const struct pt_doc *doc);

#endif
