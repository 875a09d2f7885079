/* SPDX-License-Identifier: MIT
 *
 * schedstat.h - the times of threads from /proc: all that is known where perf events are refused.
 */
#ifndef PT_CPU_PROFILE_SCHEDSTAT_H
#define PT_CPU_PROFILE_SCHEDSTAT_H

#include "threads.h"

/* Read schedstat of some living threads; `most` bounds the cost. */
void pt_threads_read_schedstat(struct pt_threads *threads, pt_u64 t_ns, size_t most);
/* The same for all threads of a process, which becomes known by it. For where there are no records. */
void pt_threads_add_process(struct pt_threads *threads, pt_u32 pid, pt_u64 t_ns);
/* One of them; what is known of it then is in its times. */
bool pt_thread_read_schedstat(struct pt_live_thread *thread, pt_u64 t_ns);
/* A process of one thread is a zombie now. */
void pt_threads_ending(struct pt_threads *threads, pt_u32 pid, pt_u64 t_ns);

#endif
