/* SPDX-License-Identifier: MIT
 *
 * done.h - what the processes of a run have done so far, as their trace files say.
 */
#ifndef PT_CMD_STUCK_DONE_H
#define PT_CMD_STUCK_DONE_H

#include "launcher/stall.h"

/* Of the run directory `path`, which has to outlive it. */
struct pt_launch_reader pt_stuck_reader(const char *path);

#endif
