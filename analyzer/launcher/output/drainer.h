/* SPDX-License-Identifier: MIT
 *
 * output/drainer.h - a process that reads on when a stage has ended and somebody whom it left behind (a daemon) still
 * writes: without a reader he would die of SIGPIPE.
 */
#ifndef PT_LAUNCHER_OUTPUT_DRAINER_H
#define PT_LAUNCHER_OUTPUT_DRAINER_H

#include "log.h"

/* Our child `proftrace-log`: it reads one or two descriptors (above 2) into the log until nobody can write to them any
 * more, has nothing else open, and outlives us. -1 with errno when there is none. */
int pt_drainer_start(const int *fds, int n_fds, const struct pt_log *log);

#endif
