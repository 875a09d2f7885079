/* SPDX-License-Identifier: MIT
 *
 * done.h - what the processes of a run have done so far, as their trace files say.
 */
#ifndef PT_CMD_STUCK_DONE_H
#define PT_CMD_STUCK_DONE_H

#include "launcher/stall.h"

/* `path` is the run directory. False: there is no trace file that can be read yet. */
bool pt_stuck_read_done(const char *path, struct pt_launch_done *ret_done);

#endif
