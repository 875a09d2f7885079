/* SPDX-License-Identifier: MIT
 *
 * grade_report.h - the quality of a pipeline whose configuration does not name a grade report.
 */
#ifndef PT_CMD_GRADE_REPORT_H
#define PT_CMD_GRADE_REPORT_H

#include "pipeline/runner.h"
#include "report/open.h"

/* Search the files that the stages wrote, according to their traces, for the grade report, check the floors, and put
 * the result into run.json and into the report that is open. The report's quality lives as long as `ret_quality`. */
void pt_grade_report_find(const struct pt_runner_request *request, struct pt_report *report,
                          struct pt_runner_result *result, struct pt_quality_metrics *ret_quality);

#endif
