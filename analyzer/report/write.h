/* SPDX-License-Identifier: MIT
 *
 * write.h - reports as files: those of a run directory, and the one that a user requested.
 */
#ifndef PT_REPORT_WRITE_H
#define PT_REPORT_WRITE_H

#include "report/build/build.h"
#include "open.h"
#include "render.h"

/* What to show of the reports that were written; NULL = nothing. */
struct pt_written {
    struct pt_str *headlines;   /* a line for each of the first findings: "  1. up to 1.3 s (15 %)  title" */
    struct pt_str *summary;     /* the table of stages and the quality, for a terminal */
    struct pt_str *annotations; /* for GitHub Actions */
    pt_u64 *cpu_ns;             /* of the first stage, as the report has it; left alone where that is unknown */
};

/* Write every form of report that has a file name into the run directory, through a descriptor of it. */
int pt_write_reports(const char *run_dir, int run_fd, const struct pt_written *written, struct pt_error *err);
/* The same of a run that is open. */
int pt_write_open_reports(const struct pt_report *report, int run_fd, const struct pt_written *written,
                          struct pt_error *err);
/* Put a line before the report.md of a run directory: the verdict of what was found after the report was made. */
int pt_write_first_line(int run_fd, const char *line, struct pt_error *err);

#endif
