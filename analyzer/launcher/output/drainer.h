/* SPDX-License-Identifier: MIT
 *
 * output/drainer.h - a process that goes on reading when a stage has ended and a process that outlives it (a daemon)
 * still writes: without a reader that one would be killed by SIGPIPE.
 */
#ifndef PT_LAUNCHER_OUTPUT_DRAINER_H
#define PT_LAUNCHER_OUTPUT_DRAINER_H

#include "log.h"

/* Our child `proftrace-log`: it reads one or two descriptors (above 2) into the log until no process can write to
 * them any more, has no other file open, and outlives us. -1 with errno when there is none. */
int pt_drainer_start(const int *fds, int n_fds, const struct pt_log *log);

#endif
