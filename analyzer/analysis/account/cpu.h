/* SPDX-License-Identifier: MIT
 *
 * account/cpu.h - the CPU figures of a thread, from the best source there is.
 */
#ifndef PT_ANALYSIS_ACCOUNT_CPU_H
#define PT_ANALYSIS_ACCOUNT_CPU_H

#include "state.h"

/* CPU figures of a thread; NAN = unknown. */
struct pt_account_cpu {
    double on_s, runnable_s, python_share;
    double most_s;      /* on_s, or as much as it can be */
    double preempted_s; /* of runnable_s: exact, and taken off the calls that it was in */
    double fault_s;     /* outside of calls */
    double samples_s;   /* outside of calls, each a period; NAN = of the kernel, too: they stand for all */
    /* By readings of the thread's own clock: between calls, where on_s is not known. */
    double computing_s, between_preempted_s;
    double starting_s;      /* between calls, until a child of vfork was another program; at most */
    double python, samples; /* of the CPU profile, outside of calls */
    bool has_python;        /* an interpreter was loaded: computing may be Python */
    const char *python_reason, *fault_reason, *no_sampler;
};
/* Of a stage's critical path: the sum of its threads. */
struct pt_account_cpu pt_account_cpu(const struct pt_account *account, pt_u32 stage);
/* Of any thread, of the last image of its process. */
struct pt_account_cpu pt_account_cpu_of(const struct pt_account *account, pt_u32 stage, const struct pt_thread *thread);

#endif
