/* SPDX-License-Identifier: MIT
 *
 * runs_root.h - the directory in which the runs lie.
 */
#ifndef PT_UTIL_RUNS_ROOT_H
#define PT_UTIL_RUNS_ROOT_H

/* PROFTRACE_DIR, its alias PROFILE_OUTPUT_DIR, else proftrace.data in the current directory; without slashes at the
 * end. The caller frees it. */
char *pt_runs_root(void);

/* What a user who names a run means. A bare name, as `proftrace run` and `ls proftrace.data` show it, is that of the
 * one in the root of runs; a file or directory of that name here comes first. The caller frees it. */
char *pt_run_path(const char *named);

/* Cut the slashes at the end: `runs/` names `runs`, but would lead through a symbolic link, which O_NOFOLLOW refuses.
 * Returns the path. */
char *pt_without_slashes(char *path);

#endif
