/* SPDX-License-Identifier: MIT
 *
 * account/moments.h - what the kernel knows about the threads of a stage beside their calls.
 */
#ifndef PT_ANALYSIS_ACCOUNT_MOMENTS_H
#define PT_ANALYSIS_ACCOUNT_MOMENTS_H

#include "facts/cpu_samples.h"

/* Between two times. */
struct account_quiet {
    pt_i64 from_ns, until_ns; /* zeroed = nothing but that instant */
};

/* When a thread was preempted, or waited for a page. */
struct account_interval {
    pt_i64 start_ns, end_ns;
    bool is_fault, is_inside; /* inside: of a recorded call, as far as they were seen */
};

/* What the kernel knows about the threads of a stage beside their calls. Threads are those of the CPU profile. */
struct account_moments {
    const struct pt_cpu_threads *cpu;    /* NULL = there is no CPU profile */
    pt_i64 sample_shift_ns;              /* from the times of `cpu` to those of events */
    bool *is_inside;                     /* by moment of `cpu` */
    bool *is_python;                     /* by node */
    struct account_interval *intervals;  /* by thread, then time */
    size_t *first;                       /* by thread: its first interval; one more at the end */
    size_t *next_interval, *next_sample; /* by thread: the first behind all calls so far */
    bool has_faults, has_samples, is_user_only;
    double period_ns;
    double faults, fault_ns;  /* major ones of all threads of the stage, and how long they waited */
    const char *fault_reason; /* why faults are not known */
};

/* What a thread did between two times, as far as it was seen. */
struct account_between {
    double preempted_ns, fault_ns;
    double python, native; /* samples */
};

/* CPU figures of a thread; NAN = unknown. */
struct account_cpu {
    double on_s, runnable_s, python_share;
    double preempted_s; /* of runnable_s: exact, and taken off the calls that it was in */
    double fault_s;     /* outside of calls */
    double samples_s;   /* outside of calls, each a period; NAN = of the kernel, too: they stand for all */
    const char *python_reason, *fault_reason;
};
/* Of a stage. */
void pt_account_moments_open(struct account_moments *moments, struct pt_profile *profile, pt_u32 stage);
void pt_account_moments_close(struct account_moments *moments);
/* The number of a thread in the CPU profile; 0 = it is not there. */
pt_u32 pt_account_moments_thread(const struct account_moments *moments, const struct pt_thread *thread);
/* A thread was in a call: what of it was being preempted. Calls of a thread come in the order of their ends.
 * *ret_quiet: of calls within it there is nothing to say, as of most. */
pt_i64 pt_account_moments_in(struct account_moments *moments, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns,
                             struct account_quiet *ret_quiet);
/* Adds to *between. `thread` is not 0. */
void pt_account_moments_between(const struct account_moments *moments, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns,
                                struct account_between *between);
/* What a sample of a thread stands for. */
double pt_account_moments_sample_ns(const struct account_moments *moments, pt_u32 thread);
void pt_account_moments_result(const struct account_moments *moments, pt_u32 thread, struct account_cpu *cpu);

#endif
