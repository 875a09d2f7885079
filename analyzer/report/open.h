/* SPDX-License-Identifier: MIT
 *
 * open.h - a run that was opened, analyzed and judged: what a report is made of.
 */
#ifndef PT_REPORT_OPEN_H
#define PT_REPORT_OPEN_H

#include "profile/open.h"
#include "rules/rule.h"

/* Zeroed = closed. */
struct pt_report {
    struct pt_run run;
    struct pt_profile profile;
    struct pt_findings findings;
};

/* `path` as in pt_run_open. Close it whatever the result. */
int pt_report_open(const char *path, struct pt_report *report, struct pt_error *err);
/* The last `since_ns` of it; 0 = all. */
int pt_report_open_since(const char *path, pt_i64 since_ns, struct pt_report *report, struct pt_error *err);
void pt_report_close(struct pt_report *report);

/* 0 when the run has the stage or no stage was given; else -1, and the error lists the stages. */
int pt_report_check_stage(const struct pt_profile *profile, const char *stage, struct pt_error *err);

#endif
