/* SPDX-License-Identifier: MIT
 *
 * runs_root.h - the directory in which the runs lie.
 */
#ifndef PT_UTIL_RUNS_ROOT_H
#define PT_UTIL_RUNS_ROOT_H

/* PROFTRACE_DIR, its alias PROFILE_OUTPUT_DIR, else proftrace.data in the current directory; without slashes at the
 * end. The caller frees it. */
char *pt_runs_root(void);

/* Cut the slashes at the end: `runs/` names `runs`, but would lead through a symbolic link, which O_NOFOLLOW refuses.
 * Returns the path. */
char *pt_without_slashes(char *path);

#endif
