/* SPDX-License-Identifier: MIT
 *
 * run_file/read.h - run.json of a run. Absent when the library was preloaded without the launcher. Unknown keys are
 * ignored and what is missing is unknown, so that files of other versions stay readable.
 */
#ifndef PT_RUN_FILE_READ_H
#define PT_RUN_FILE_READ_H

#include "util/error.h"
#include "run_file.h"

/* Read <directory>/run.json. 0 = there is none (`run` is NULL) or it was read; -1 = it is there and damaged. */
int pt_run_info_read(const char *directory, struct pt_run_info **ret_run, struct pt_error *err);
void pt_run_info_free(struct pt_run_info *run);

static inline void pt_run_info_freep(struct pt_run_info **run)
{
    pt_run_info_free(*run);
}

#endif
