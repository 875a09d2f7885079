/* SPDX-License-Identifier: MIT
 *
 * child.h - the traced command as our child, and our own end, which is the child's.
 */
#ifndef PT_LAUNCHER_CHILD_H
#define PT_LAUNCHER_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

/* What the launcher changes for itself and gives back to the child: it starts as if we were not there. */
struct pt_inherited {
    sigset_t mask;
    struct sigaction pipe_action;
    struct sigaction child_action;
    struct sigaction size_action;
};

struct pt_child {
    const char *path;
    char **argv;
    char **environment;
    const char *cwd;       /* NULL = ours */
    const int *output_fds; /* two, above 2, that become its stdout and stderr; -1 or NULL = those that we have */
};

/* Returns the pid, or -1 with exit code 126 or 127 where execve failed, 125 where we did. */
pid_t pt_child_start(const struct pt_child *child, const struct pt_inherited *inherited, struct pt_error *err);

/* Replace ourselves by the command; returns only when that failed. */
int pt_child_become(const char *path, char **argv, char **environment, struct pt_error *err);

/* The exit code that a shell gives a wait status, and the status as text: "exit 0", "signal 9 (SIGKILL)". */
int pt_status_exit_code(int wait_status);
static inline bool pt_status_is_success(int wait_status)
{
    return wait_status == 0;
}

/* End as the child ended: die by the same signal, else return the code to exit with. */
int pt_end_as(int wait_status);

#endif
