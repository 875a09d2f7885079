/* SPDX-License-Identifier: MIT
 *
 * ring_space.h - gives the rings of processes that have ended back to those that live.
 */
#ifndef PT_LAUNCHER_RING_SPACE_H
#define PT_LAUNCHER_RING_SPACE_H

#include "session_dir.h"

/* Where the rings of the session have used more than half of their limit: take the oldest events of processes that have
 * ended, until they have not. Call it now and then. */
void pt_ring_space_return(const struct pt_session_dir *dir);

#endif
