/* SPDX-License-Identifier: MIT
 *
 * facts/cpu_samples.h - which thread of a stage's CPU profile an event's thread is, and what it computed at a time.
 */
#ifndef PT_FACTS_CPU_SAMPLES_H
#define PT_FACTS_CPU_SAMPLES_H

#include "cpu_file/cpu_data.h"
#include "profile/profile.h"
#include "util/map.h"

/* Where a thread was: a sample on the CPU is an instant, a wait lasted. */
struct pt_cpu_moment {
    pt_i64 t_ns, end_ns;
    pt_u32 node;
};

struct pt_cpu_threads {
    struct pt_cpu_data *data;      /* NULL = the stage has no profile */
    pt_i64 shift_ns;               /* from the profile's times to those of the run */
    struct pt_map by_tid;          /* -> the last thread of this tid */
    pt_u32 *before;                /* by thread: the one that had its tid before; 0 = none */
    struct pt_cpu_moment *moments; /* by thread, then time */
    size_t *first;                 /* by thread: its first moment; one more at the end */
};

/* `data` may be NULL and stays the caller's. */
void pt_cpu_threads_open(struct pt_cpu_threads *threads, struct pt_cpu_data *data, pt_u64 start_realtime_ns);
void pt_cpu_threads_close(struct pt_cpu_threads *threads);

/* The number of the thread that had a tid at a time of the run; 0 = not known. */
pt_u32 pt_cpu_threads_find(const struct pt_cpu_threads *threads, pt_u32 tid, pt_i64 at_ns);
/* Its name; NULL = not known. */
const char *pt_cpu_threads_name(const struct pt_cpu_threads *threads, pt_u32 tid, pt_i64 at_ns);
/* What it waited for a CPU after it had been woken is part of waiting in the kernel's records, and known to schedstat
 * alone, up to when that was last read. */
static inline pt_u64 pt_cpu_runnable_ns(const struct pt_cpu_times *times)
{
    const bool has_delay = times->flags & PT_CPU_THREAD_HAS_DELAY;
    return has_delay && times->run_delay_ns > times->preempted_ns ? times->run_delay_ns : times->preempted_ns;
}

/* The moments of a thread that lie in [from, until], or reach into it. */
size_t pt_cpu_threads_moments(const struct pt_cpu_threads *threads, pt_u32 thread, pt_i64 from_ns, pt_i64 until_ns,
                              const struct pt_cpu_moment **ret_first);

/* "io-thread (thread 123)", or "thread 123" where nobody saw its name. */
const char *pt_thread_label(struct pt_profile *profile, pt_u32 stage, const struct pt_thread *thread);

#endif
