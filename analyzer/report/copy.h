/* SPDX-License-Identifier: MIT
 *
 * copy.h - the reports of a run, also where the user wants to find them: always the same names, always the latest run.
 */
#ifndef PT_REPORT_COPY_H
#define PT_REPORT_COPY_H

#include "util/error.h"

/* Make the directory and see that it can be written, before hours of work depend on it. Exit code 2. */
int pt_report_prepare_copy(const char *directory, struct pt_error *err);

/* Each report of the run directory replaces the one there at once. */
int pt_report_copy(const char *run_dir, const char *directory, struct pt_error *err);

#endif
