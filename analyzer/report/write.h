/* SPDX-License-Identifier: MIT
 *
 * write.h - from a run directory to reports: the whole chain behind `report`, `stats` and the end of `run`.
 */
#ifndef PT_REPORT_WRITE_H
#define PT_REPORT_WRITE_H

#include "build.h"
#include "render.h"

/* A run that was opened and analysed. Zeroed = closed. */
struct pt_report {
    struct pt_session *session;
    struct pt_session *empty; /* stands in when no process wrote a trace, but run.json is there */
    struct pt_run_info *run;
    struct pt_profile profile;
    struct pt_findings findings;
};

/* `path` as in pt_session_open. A run without any trace is fine when its run.json says what was run. */
int pt_report_open(const char *path, struct pt_report *report, struct pt_error *err);
/* The same without any analysis: the session or what stands in for it, and run.json. */
int pt_report_open_files(const char *path, struct pt_report *report, struct pt_error *err);
void pt_report_close(struct pt_report *report);

/* 0 when the run has the stage or none is asked for; else -1, naming those it has. */
int pt_report_check_stage(const struct pt_profile *profile, const char *stage, struct pt_error *err);

/* What to show of the reports that were written; NULL = nothing. */
struct pt_written {
    struct pt_str *headlines;   /* a line for each of the first findings: "  1. up to 1.3 s (15 %)  title" */
    struct pt_str *summary;     /* the table of stages and the quality, for a terminal */
    struct pt_str *annotations; /* for GitHub Actions */
};

/* Write every form of report that has a file name into the run directory. */
int pt_write_reports(const char *run_dir, const struct pt_written *written, struct pt_error *err);

/* Write `text` to a file (replacing it at once), or to stdout when `path` is NULL or "-". */
int pt_report_write_text(const char *path, const struct pt_str *text, struct pt_error *err);

#endif
