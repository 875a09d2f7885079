/* SPDX-License-Identifier: MIT
 *
 * copy.h - copies of a run's reports where the user wants them: always with the same names, always of the latest run.
 */
#ifndef PT_REPORT_COPY_H
#define PT_REPORT_COPY_H

#include "util/error.h"

/* Make the directory and see that it can be written, before hours of work depend on it. Exit code 2. */
int pt_report_prepare_copy(const char *directory, struct pt_error *err);

/* Each report of the run directory replaces the one there at once. */
int pt_report_copy(int run_fd, const char *directory, struct pt_error *err);

#endif
