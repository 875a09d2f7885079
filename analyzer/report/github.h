/* SPDX-License-Identifier: MIT
 *
 * github.h - what GitHub Actions shows with a job: annotations, and the step's summary.
 *
 * Workflow commands: docs.github.com/actions, "Workflow commands for GitHub Actions"; a step shows at most 10
 * annotations of a kind and 1 MiB of summary.
 */
#ifndef PT_REPORT_GITHUB_H
#define PT_REPORT_GITHUB_H

#include "report/doc/doc.h"
#include "util/error.h"
#include "util/str.h"

/* Lines for stdout: an error for each stage that failed and each floor that was broken, a warning or a notice for each
 * finding, the worst first. */
void pt_github_annotations(const struct pt_doc *doc, struct pt_str *out);

/* Append report.md, and `more` Markdown behind it (NULL = none), to the file that GITHUB_STEP_SUMMARY names; does
 * nothing where there is none. */
int pt_github_step_summary(int run_fd, const char *more, struct pt_error *err);

#endif
