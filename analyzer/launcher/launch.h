/* SPDX-License-Identifier: MIT
 *
 * launch.h - run one command to its end and watch it from outside.
 */
#ifndef PT_LAUNCHER_LAUNCH_H
#define PT_LAUNCHER_LAUNCH_H

#include "child.h"
#include "../sampler/sampler.h"

struct pt_launch {
    const char *path;
    char **argv;
    char **environment;
    pt_u64 interval_ns; /* between samples */
};

struct pt_launch_result {
    pid_t pid;
    int wait_status;
    pt_u64 duration_ns;
    const struct pt_samples *samples; /* of the sampler */
};

/* Blocks until the command has ended. Descendants that outlive it are left alone. */
int pt_launch(const struct pt_launch *launch, struct pt_sampler *sampler, struct pt_launch_result *ret_result,
              struct pt_error *err);

#endif
