/* SPDX-License-Identifier: MIT
 *
 * io/file_results.h - from how files were used to metrics and the table of files.
 */
#ifndef PT_ANALYSIS_IO_FILE_RESULTS_H
#define PT_ANALYSIS_IO_FILE_RESULTS_H

#include "profile/profile.h"
#include "path_groups.h"

/* Sorts the files. `reads`: by stage. */
void pt_file_results(struct pt_profile *profile, const struct pt_file_groups *groups,
                     const struct pt_stage_reads *reads, struct pt_file_use *files, size_t n);

#endif
