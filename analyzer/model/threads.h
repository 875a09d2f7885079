/* SPDX-License-Identifier: MIT
 *
 * threads.h - the threads of a process, with the exact totals of each.
 */
#ifndef PT_MODEL_THREADS_H
#define PT_MODEL_THREADS_H

#include "session_data.h"

/* Threads, totals and heap counters from the file's thread areas. */
void pt_process_fill_threads(struct pt_process_data *data);
/* The thread of a slot that events of a life belong to; never NULL once the process has a thread in that slot. */
struct pt_thread *pt_process_thread(struct pt_process *process, pt_u32 slot, pt_u32 life);
/* The thread of this tid that lived at an instant, else the last one before, else any; NULL = there was none. */
struct pt_thread *pt_process_thread_by_tid(struct pt_process *process, pt_u32 tid, pt_i64 at_ns);
/* Whether the file says that it has ended: a thread that only waits does nothing for hours. */
bool pt_thread_noted_end(const struct pt_thread *thread);
/* Of which kind each thing is that is counted without events, by enum pt_counted. */
extern const pt_u16 pt_counted_kinds[PT_COUNTED_ROWS];
/* What one event adds to the totals of its kind, as the library counts it. */
struct pt_kind_totals pt_kind_totals_of_item(const struct pt_item *item);
static inline pt_u32 pt_kind_of_item(const struct pt_item *item)
{
    return pt_event_desc_by_id(item->tag_kind & 0xff)->kind;
}
/* A copy of PT_KIND__COUNT totals without the kinds that there are none of; NULL = there are none at all. */
const struct pt_totals_by_kind *pt_totals_keep(struct pt_arena *arena, const struct pt_kind_totals *totals);

#endif
