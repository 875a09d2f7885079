/* SPDX-License-Identifier: MIT
 *
 * facts/thread_ids.h - which thread a pthread_join waited for.
 *
 * A pthread_t is given to another thread once its first one was joined: the last one that began with it counts.
 */
#ifndef PT_FACTS_THREAD_IDS_H
#define PT_FACTS_THREAD_IDS_H

#include "model/session.h"
#include "util/map.h"

/* The one that a process began with; the first that recorded anything where that one did not. NULL = none did. */
const struct pt_thread *pt_main_thread(const struct pt_process *process);

struct pt_joins {
    struct pt_map by_pthread; /* process and pthread_t -> index of the thread, plus 1 */
};

/* Of a thread_start. */
void pt_joins_note(struct pt_joins *joins, const struct pt_event *event);
/* Of a wait_thread; NULL = not known: the thread recorded nothing. */
const struct pt_thread *pt_joins_target(const struct pt_joins *joins, const struct pt_event *event);
void pt_joins_fini(struct pt_joins *joins);

#endif
