/* SPDX-License-Identifier: MIT
 *
 * holes.h - where events of a thread are missing between others that are here: overwritten behind the start that is
 * kept, dropped for want of room, damaged.
 */
#ifndef PT_MODEL_HOLES_H
#define PT_MODEL_HOLES_H

#include "session_data.h"

/* Of the lives of one slot, which lie at `threads`, ordered by life. */
void pt_threads_find_holes(struct pt_process_data *data, const struct pt_trace_slot *slot, struct pt_thread *threads,
                           pt_u32 n_threads);
/* The next hole that lies before an instant, NULL = none; `next`, from 0 on, is how many were returned. What was open
 * when it began may have ended in it, and what is open behind it is not known: without this a phase whose end is
 * missing lasted for ever, and a step as long as the hole. */
const struct pt_hole *pt_thread_next_hole(const struct pt_thread *thread, pt_i64 at_ns, pt_u32 *next);

#endif
