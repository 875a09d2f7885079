/* SPDX-License-Identifier: MIT
 *
 * build.h - from what is known about a run to the document of its report.
 */
#ifndef PT_REPORT_BUILD_BUILD_H
#define PT_REPORT_BUILD_BUILD_H

#include "report/doc/doc.h"
#include "options.h"

/* Profile and findings must outlive the document. */
struct pt_doc *pt_report_build(const struct pt_profile *profile, const struct pt_findings *findings,
                               const struct pt_report_options *options);

#endif
