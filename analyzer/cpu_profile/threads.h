/* SPDX-License-Identifier: MIT
 *
 * threads.h - how long each thread ran, could have run, and waited: from the kernel's records of context switches.
 */
#ifndef PT_CPU_PROFILE_THREADS_H
#define PT_CPU_PROFILE_THREADS_H

#include <stdbool.h>

#include "cpu_file/write.h"
#include "util/map.h"

enum pt_thread_state { PT_THREAD_UNSEEN, PT_THREAD_ON, PT_THREAD_PREEMPTED, PT_THREAD_WAITING };

/* What the last wait was, until it is known whether it was for a page. */
struct pt_last_wait {
    pt_u64 start_ns, end_ns; /* equal = none that may be asked for */
    pt_u64 on_since_ns, ran_ns;
};

/* Times that the account of a thread needs one by one; see intervals.h. */
struct pt_intervals {
    struct pt_chunk_buffer items, sums;
    pt_u64 n; /* ever */
};

/* The registers when it left the CPU, from the kernel's last record. */
struct pt_left_at {
    pt_u64 sp, pc, rbp;
};

/* What of a wait a look may have to take back: it may turn out to have met the next one. */
struct pt_wait_place {
    pt_u32 node, flags;
};

struct pt_live_thread {
    struct pt_cpu_thread shown;
    struct pt_cpu_times times;
    enum pt_thread_state state;
    pt_u64 since_ns;
    struct pt_cpu_wait wait; /* since it left the CPU; flags and node are those of the stack, if one was taken */
    bool has_stack;          /* it is about to leave the CPU, or has left it, and its stack was taken */
    bool wants_python; /* the kernel took it, and so without functions of Python, which may be read while it waits */
    bool is_off;
    bool has_left_at;               /* of the switch that comes next */
    bool misses_page;               /* it waits, and not in a system call */
    bool is_listed;                 /* it may be among those to be looked at: blocked.h */
    pt_u64 looked_ns;               /* when its stack was read from outside, while it waited */
    struct pt_wait_place of_kernel; /* before that; its stack, if is_of_kernel */
    bool is_of_kernel;
    struct pt_left_at left_at;
    pt_u64 stood_for_ns; /* without records: of its time on CPUs, what its samples stand for */
    struct pt_cpu_wait_sums sums;
    struct pt_last_wait last;
    struct pt_cpu_fault_sums faults;
    pt_u64 kernel_on_ns; /* by the kernel's own count, when it was over; 0 = not known */
    struct pt_cpu_kernel kernel;
    bool is_new; /* what is shown of it is not in the file yet */
    bool is_dirty;
};

/* All times are since the profile began. */
struct pt_threads {
    struct pt_map by_tid;     /* -> struct pt_live_thread *; 0 = gone */
    struct pt_map of_process; /* by pid: how many of its threads live */
    struct pt_chunk_buffer shown, times, waits, sums, on_cpu, kernel;
    struct pt_intervals intervals;
    pt_u64 n_waits;     /* with their stacks, ever */
    pt_u32 n;           /* ever */
    pt_u64 lost;        /* there were too many */
    size_t next_looked; /* whose schedstat is read next */
};

/* NULL = not known. */
struct pt_live_thread *pt_threads_find(const struct pt_threads *threads, pt_u32 tid);
/* A new one in place of one of the same tid; NULL = there were too many. */
struct pt_live_thread *pt_threads_add(struct pt_threads *threads, pt_u32 pid, pt_u32 tid, pt_u32 ppid, pt_u64 t_ns);
void pt_threads_rename(struct pt_live_thread *thread, const char *comm, size_t n_bytes);
/* Was it the last one of its process? */
bool pt_threads_end(struct pt_threads *threads, pt_u32 tid, pt_u64 t_ns);
void pt_threads_end_process(struct pt_threads *threads, pt_u32 pid, pt_u64 t_ns);
/* A process executes another program: whichever thread called for it is the only one that is left, and has the
 * process's number from now on. NULL = none of its threads is known. */
struct pt_live_thread *pt_threads_exec(struct pt_threads *threads, pt_u32 pid);

/* It can be seen to run at this instant. */
void pt_thread_runs(struct pt_live_thread *thread, pt_u64 t_ns);
void pt_thread_switch_in(struct pt_live_thread *thread, pt_u64 t_ns);
void pt_thread_switch_out(struct pt_live_thread *thread, pt_u64 t_ns, bool is_preempted);
/* Its stack, right before it leaves the CPU. */
void pt_thread_leaves_at(struct pt_live_thread *thread, pt_u32 node, bool is_fault);
/* Is there room for one more stack of a wait, and enough time since the last ones? Then it is paid for. `paid_ns` is up
 * to when stacks of this kind were paid for. */
bool pt_threads_can_afford(const struct pt_threads *threads, pt_u64 *paid_ns, pt_u64 t_ns);
/* It is off the CPU by its own will, and no stack of that is there, or one that wants Python. */
bool pt_thread_waits_unseen(const struct pt_live_thread *thread);
/* Its stack, seen at a time when it waited: if it did, and no later record says that it ran. */
void pt_thread_waits_at(struct pt_live_thread *thread, pt_u32 node, bool is_fault, pt_u64 looked_ns);
/* What began with the last switch out ends now: it runs again, or is gone. */
void pt_threads_end_wait(struct pt_threads *threads, struct pt_live_thread *thread, pt_u64 t_ns);
/* The same for all that are off the CPU when the profile ends. */
void pt_threads_end_waits(struct pt_threads *threads, pt_u64 t_ns);

/* Collect what is new; `t_ns`: what goes on is counted up to here. Returns how many bytes. */
size_t pt_threads_collect(struct pt_threads *threads, pt_u64 t_ns);
/* Names first: what is written later refers to them. */
void pt_threads_write(struct pt_threads *threads, struct pt_profile_file *file);
void pt_threads_fini(struct pt_threads *threads);

#endif
