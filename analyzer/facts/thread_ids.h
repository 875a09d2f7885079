/* SPDX-License-Identifier: MIT
 *
 * facts/thread_ids.h - the thread or process of an id in an event: a pid, a tid, a pthread_t.
 *
 * Ids are reused: the answer depends on the time.
 */
#ifndef PT_FACTS_THREAD_IDS_H
#define PT_FACTS_THREAD_IDS_H

#include "model/session.h"
#include "util/map.h"

struct pt_thread_ids {
    const struct pt_session *session;
    pt_u32 *first;            /* by process: the number of its first thread, over all processes; one more at the end */
    struct pt_map by_pid;     /* -> index of the last process that had it, plus 1 */
    pt_u32 *pid_before;       /* by process: the one that had its pid before, plus 1 */
    struct pt_map by_tid;     /* -> number of the last thread that had it, plus 1 */
    pt_u32 *tid_before;       /* by thread: the one that had its tid before, plus 1 */
    struct pt_map by_pthread; /* process and pthread_t -> index of the last thread that began with it, plus 1 */
};

void pt_thread_ids_open(struct pt_thread_ids *ids, const struct pt_session *session);
void pt_thread_ids_close(struct pt_thread_ids *ids);
/* Of a thread_start. */
void pt_thread_ids_event(struct pt_thread_ids *ids, const struct pt_event *event);
/* Of a window: those before it, of all processes or of one. */
void pt_thread_ids_earlier(struct pt_thread_ids *ids, const struct pt_session *session);
void pt_thread_ids_earlier_of(struct pt_thread_ids *ids, const struct pt_process *process);

static inline pt_u32 pt_thread_number(const struct pt_thread_ids *ids, const struct pt_thread *thread)
{
    return ids->first[thread->process->index] + thread->index;
}
static inline pt_u32 pt_n_threads(const struct pt_thread_ids *ids)
{
    return ids->first[ids->session->n_processes];
}
const struct pt_thread *pt_thread_of_number(const struct pt_thread_ids *ids, pt_u32 number);

/* The thread that a process began with; if that one recorded nothing, the first that did. NULL = none did. */
const struct pt_thread *pt_main_thread(const struct pt_process *process);
/* The last image, as of then, of the process that had a pid at a time, as `asking` calls it: on its machine, and a
 * child of it before others, as containers have pids of their own. NULL = it is not traced. */
struct pt_process *pt_process_of_pid(const struct pt_thread_ids *ids, const struct pt_process *asking, pt_i64 pid,
                                     pt_i64 at_ns);
/* The thread of that process, else of any, that had a tid at a time; NULL = it recorded nothing. */
const struct pt_thread *pt_thread_of_tid(const struct pt_thread_ids *ids, const struct pt_process *process, pt_u32 tid,
                                         pt_i64 at_ns);
/* Of a wait_thread; NULL = not known: the thread recorded nothing. */
const struct pt_thread *pt_thread_joined(const struct pt_thread_ids *ids, const struct pt_event *event);

#endif
