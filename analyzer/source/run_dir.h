/* SPDX-License-Identifier: MIT
 *
 * run_dir.h - from what the user wrote (nothing, a run, a root of runs, a file) to the trace files to read.
 */
#ifndef PT_SOURCE_RUN_DIR_H
#define PT_SOURCE_RUN_DIR_H

#include "proftrace/schema.h"
#include "util/error.h"
#include "util/str.h"
#include "util/vec.h"

struct pt_run_files {
    char *path; /* the run directory or the file, without trailing slashes; a root is replaced by its latest run */
    struct {
        PT_VEC(char *);
    } files;       /* sorted by name */
    pt_u64 n_made; /* trace files, as session.bin counts; 0 = not known */
};

/* NULL = the latest run under PROFTRACE_DIR, PROFILE_OUTPUT_DIR or ./proftrace.data, where a name without a slash that
 * does not exist here is looked up, too. -1 with exit code 3 when there is none. */
int pt_run_files_find(const char *path, struct pt_run_files *ret_run, struct pt_error *err);
void pt_run_files_fini(struct pt_run_files *run);

/* Of a run directory without trace files, or with `n_there` blank ones: that some were made, and are compressed or not
 * here. "" = none was made. */
void pt_run_files_gone(const char *run, pt_u64 n_there, struct pt_str *out);

/* The directory of the run that is meant so, whether it holds traces or not; NULL when no latest one is there. What
 * does not exist is returned as it was named. The caller frees it. `err`, where it is not NULL, says why it is no run.
 */
char *pt_run_dir_of(const char *path, struct pt_error *err);

#endif
