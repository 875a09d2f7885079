/* SPDX-License-Identifier: MIT
 *
 * session_dir.h - the directory of a run, session.bin in it, and the link `latest` next to it.
 */
#ifndef PT_LAUNCHER_SESSION_DIR_H
#define PT_LAUNCHER_SESSION_DIR_H

#include <stdbool.h>

#include "proftrace/types.h"
#include "util/error.h"
#include "git_head.h"

struct pt_session_dir {
    char *path;  /* absolute; what PROFTRACE_SESSION says */
    char *shown; /* as short as the user would write it */
    int fd;      /* of the directory */
    pt_u64 start_realtime_ns;
    pt_u64 start_monotonic_ns;
    pt_u64 budget_bytes;
    char git_commit[PT_GIT_COMMIT_BYTES]; /* that was checked out when the run started; "" = not known */
    int latest_problem;                   /* errno: why `latest` does not lead here; 0 = it does, or there is none */
    bool latest_is_taken;                 /* ... because something else has the name */
};

/* Open the root of runs (make it when missing) as a directory of our own; the descriptor, or -1 with the cause and the
 * remedy. */
int pt_session_root_open(const char *root, struct pt_error *err);

/* Free bytes where the directory lies; 0 = unknown. */
pt_u64 pt_free_bytes(int directory_fd);

/* Make a run directory: `output` itself when not NULL, else a new one under the root, named after the command. */
int pt_session_dir_create(const char *output, const char *command, struct pt_session_dir *ret_dir,
                          struct pt_error *err);
/* Is the run directory still where it was made? Whoever may write into its parent can have put another one there, with
 * traces of theirs. */
int pt_session_dir_check(const struct pt_session_dir *dir, struct pt_error *err);
/* Says on stderr what stands in the way of `latest`. */
void pt_session_dir_print_problem(const struct pt_session_dir *dir);
/* Makes its folder of logs; a descriptor of that. */
int pt_session_dir_logs(const struct pt_session_dir *dir, struct pt_error *err);
void pt_session_dir_close(struct pt_session_dir *dir);

#endif
