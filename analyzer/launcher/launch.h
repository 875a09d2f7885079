/* SPDX-License-Identifier: MIT
 *
 * launch.h - run one command to its end and watch it from outside.
 */
#ifndef PT_LAUNCHER_LAUNCH_H
#define PT_LAUNCHER_LAUNCH_H

#include <stdbool.h>

#include "sampler/sampler.h"
#include "child.h"
#include "stall.h"

struct pt_cpu_profile;
struct pt_output;
struct pt_signals;
struct pt_status_line;

struct pt_launch {
    const char *path;
    char **argv;
    char **environment;
    const char *cwd;                    /* NULL = ours */
    pt_u64 interval_ns;                 /* between samples */
    struct pt_cpu_profile *cpu_profile; /* NULL = none is made */

    /* What a stage of a pipeline has and a single command has not. */
    const struct pt_signals *signals; /* caught for the whole pipeline, where a signal to end ends the whole tree; NULL
                                         = caught for the time of the command, and all are forwarded to it */
    struct pt_output *output;         /* NULL = the command has our own stdout and stderr */
    struct pt_status_line *status_line;
    pt_u64 timeout_ns; /* 0 = none */
    /* Called while it still runs: before it is ended for its timeout, before it gets or is ended for a SIGQUIT, and
     * once each time when for `stall_ns` (0 = never) it has used no CPU, moved no byte of a disk, a network or of its
     * output, made no step and started no process; or has only computed, after steps. May be NULL. */
    void (*still)(void *context, pid_t pid, enum pt_launch_still why);
    void *still_context;
    pt_u64 stall_ns;
    struct pt_launch_reader reader; /* of its trace files; zeroed = it is not traced */
    /* Called once it runs, and every 10 seconds or so with what is known by then in the result; may be NULL. */
    void (*progress)(void *context);
    void *progress_context;
};

enum pt_launch_end { PT_LAUNCH_ENDED, PT_LAUNCH_TIMED_OUT, PT_LAUNCH_INTERRUPTED };

struct pt_launch_result {
    pid_t pid;
    pt_u64 start_ns; /* monotonic; what comes before it, as opening a driver, may take seconds */
    bool running;    /* in progress(), or as it could not be ended: how it will end is not known */
    int wait_status;
    char exit[48];      /* what it says: "exit 0" */
    char why[160];      /* the same, and whether it was for want of memory */
    pt_u64 duration_ns; /* of the command itself */
    pt_u64 stop_ns;     /* not ENDED: from the command's end until all that it had started was ended, too */
    const struct pt_samples *samples; /* of the sampler */
    enum pt_launch_end how;
    int end_signal;     /* INTERRUPTED: which */
    pt_u32 n_killed;    /* processes that had to be killed because they did not end when asked */
    pt_u32 n_survivors; /* processes that could not be ended */
};

/* Blocks until the command has ended, and its whole tree if we ended it, as far as it can be ended. Otherwise
 * descendants that outlive it are left alone. */
int pt_launch(const struct pt_launch *launch, struct pt_sampler *sampler, struct pt_launch_result *ret_result,
              struct pt_error *err);

#endif
