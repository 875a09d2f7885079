/* SPDX-License-Identifier: MIT
 *
 * rollover.h - a full buffer becomes a compressed block.
 */
#ifndef PT_CORE_FILE_ROLLOVER_H
#define PT_CORE_FILE_ROLLOVER_H

#include "core/thread.h"

/* Publish what a buffer holds and reset it; signals blocked, the slot claimed. */
void pt_rollover(struct pt_tracer_thread *t, enum pt_buffer_id which);
/* Publish under the name of a dead thread and clear the buffer: its slot is being taken over. */
void pt_rollover_dead(struct pt_tracer_thread *t, enum pt_buffer_id which, pt_u32 tid);

#endif
