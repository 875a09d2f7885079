/* SPDX-License-Identifier: MIT
 *
 * ring.h - the BLOCKS segments, which are recycled, the oldest first, when the ring is full.
 */
#ifndef PT_CORE_FILE_RING_H
#define PT_CORE_FILE_RING_H

#include "core/thread.h"

/* The thread's next BLOCKS segment, new or recycled, set up and current; -1 when there is none. */
int pt_ring_next(struct pt_tracer_thread *t);
/* The first segment of the thread's that lies in the ring, so far as it has none. */
void pt_ring_leave_own_chunk(struct pt_tracer_thread *t);

#endif
