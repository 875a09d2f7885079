/* SPDX-License-Identifier: MIT
 *
 * Owns: the tables of pids, tids and pthread_t. Threads: one. Never: keeps more than the last MOST_PTHREADS; returns a
 * thread that had not begun yet if there is another one.
 */
#include "thread_ids.h"

#include <stdlib.h>

#include "proftrace/payloads.h"
#include "model/tree.h"
#include "util/hash.h"
#include "util/mem.h"

enum { MOST_PTHREADS = 1000000 };

void pt_thread_ids_open(struct pt_thread_ids *ids, const struct pt_session *session)
{
    const pt_u32 n = session->n_processes;
    *ids = (struct pt_thread_ids){.session = session};
    ids->first = pt_calloc(n + 1, sizeof *ids->first);
    ids->pid_before = pt_calloc(n + 1, sizeof *ids->pid_before);
    for (pt_u32 i = 0; i < n; i++) {
        pt_u64 *last = pt_map_at(&ids->by_pid, session->processes[i]->pid);
        ids->pid_before[i] = (pt_u32)*last;
        *last = i + 1;
        ids->first[i + 1] = ids->first[i] + session->processes[i]->n_threads;
    }
    ids->tid_before = pt_calloc(ids->first[n] + 1, sizeof *ids->tid_before);
    for (pt_u32 i = 0; i < n; i++)
        for (pt_u32 j = 0; j < session->processes[i]->n_threads; j++) {
            const pt_u32 number = ids->first[i] + j;
            pt_u64 *last = pt_map_at(&ids->by_tid, session->processes[i]->threads[j].tid);
            ids->tid_before[number] = (pt_u32)*last;
            *last = number + 1;
        }
}

void pt_thread_ids_close(struct pt_thread_ids *ids)
{
    free(ids->first);
    free(ids->pid_before);
    free(ids->tid_before);
    pt_map_fini(&ids->by_pid);
    pt_map_fini(&ids->by_tid);
    pt_map_fini(&ids->by_pthread);
    *ids = (struct pt_thread_ids){0};
}

const struct pt_thread *pt_thread_of_number(const struct pt_thread_ids *ids, pt_u32 number)
{
    pt_u32 low = 0, high = ids->session->n_processes - 1;
    while (low < high) { /* the last process whose first thread is not behind */
        const pt_u32 middle = (low + high + 1) / 2;
        if (ids->first[middle] <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return &ids->session->processes[low]->threads[number - ids->first[low]];
}

const struct pt_thread *pt_main_thread(const struct pt_process *process)
{
    for (pt_u32 i = 0; i < process->n_threads; i++)
        if (process->threads[i].tid == process->pid)
            return &process->threads[i];
    return process->n_threads ? &process->threads[0] : NULL;
}

struct pt_process *pt_process_of_pid(const struct pt_thread_ids *ids, const struct pt_process *asking, pt_i64 pid,
                                     pt_i64 at_ns)
{
    const pt_u64 *last = pid > 0 ? pt_map_find(&ids->by_pid, (pt_u64)pid) : NULL;
    struct pt_process *found = NULL;
    for (pt_u32 index = last ? (pt_u32)*last : 0; index; index = ids->pid_before[index - 1]) {
        struct pt_process *process = ids->session->processes[index - 1];
        if (process->start_ns > at_ns || !pt_same_machine(process, asking))
            continue;
        if (pt_process_first_image(process)->parent == asking)
            return process;
        found = found ? found : process;
    }
    return found;
}

const struct pt_thread *pt_thread_of_tid(const struct pt_thread_ids *ids, const struct pt_process *process, pt_u32 tid,
                                         pt_i64 at_ns)
{
    const pt_u64 *last = tid ? pt_map_find(&ids->by_tid, tid) : NULL;
    const struct pt_thread *found = NULL;
    for (pt_u32 number = last ? (pt_u32)*last : 0; number; number = ids->tid_before[number - 1]) {
        const struct pt_thread *thread = pt_thread_of_number(ids, number - 1);
        const bool is_own = thread->process == process;
        if (is_own && thread->start_ns <= at_ns)
            return thread;
        if (!is_own && !pt_same_machine(thread->process, process))
            continue;
        if (!found || (is_own && found->process != process))
            found = thread;
    }
    return found;
}

/* ---- pthread_t ---- */

static pt_u64 key_of(const struct pt_process *process, pt_u64 pthread)
{
    return pt_hash_pair(pthread, process->index);
}

void pt_thread_ids_event(struct pt_thread_ids *ids, const struct pt_event *event)
{
    if (event->desc->kind == PT_KIND_thread_start && ids->by_pthread.n < MOST_PTHREADS)
        *pt_map_at(&ids->by_pthread, key_of(event->process, pt_event_as(event, thread_start)->pthread)) =
            event->thread->index + 1;
}

void pt_thread_ids_earlier(struct pt_thread_ids *ids, const struct pt_session *session)
{
    for (pt_u32 i = 0; i < session->n_earlier_starts; i++)
        pt_thread_ids_event(ids, &session->earlier_starts[i]);
}

void pt_thread_ids_earlier_of(struct pt_thread_ids *ids, const struct pt_process *process)
{
    const struct pt_session *session = process->session;
    pt_u32 low = 0, high = session->n_earlier_starts;
    while (low < high) {
        const pt_u32 middle = (low + high) / 2;
        if (session->earlier_starts[middle].process->index < process->index)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < session->n_earlier_starts && session->earlier_starts[low].process == process; low++)
        pt_thread_ids_event(ids, &session->earlier_starts[low]);
}

const struct pt_thread *pt_thread_joined(const struct pt_thread_ids *ids, const struct pt_event *event)
{
    const pt_u64 *index =
        pt_map_find(&ids->by_pthread, key_of(event->process, pt_event_as(event, wait_thread)->pthread));
    return index ? &event->process->threads[*index - 1] : NULL;
}
