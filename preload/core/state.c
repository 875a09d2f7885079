/* SPDX-License-Identifier: MIT
 *
 * state.c - holds what the whole library reads: the switches and the calling thread's slot; and reads the clock where
 * that is not just the counter.
 *
 * Written by the constructor, by the thread that closes a sandbox, and (its own slot) by each thread that attaches.
 * Never reads the counter in a thread that may not: it would be killed.
 */
#include "state.h"

#include <sys/prctl.h>

#include "sys.h"

struct pt_switches pt_switches;
struct pt_tracer_thread pt_no_thread;
__thread struct pt_thread_local pt_local = {&pt_no_thread, PT_LOCAL_OURS};

/* How often a thread was sealed and that was not refused, or the answer is not there yet. */
static pt_u64 n_seals;

void pt_thread_seal(void)
{
    if (!pt_local_is_ours())
        return;
    __atomic_add_fetch(&n_seals, 1, __ATOMIC_SEQ_CST);
    if (pt_switches.tsc)
        pt_switches.tsc = PT_TSC_NOT_FOR_ALL;
    pt_local.mark = PT_LOCAL_SEALED;
}

/* The clock is never free again: a thread that was made meanwhile has inherited the ban, keeps it, and has no mark
 * before its first hook, which would read the counter and end the program. */
void pt_thread_unseal(void)
{
    if (pt_local_mark() == PT_LOCAL_SEALED)
        pt_local.mark = PT_LOCAL_OURS;
}

/* The clock is free again, unless another thread is or was sealed: or is so since a moment ago. */
void pt_thread_seal_refused(void)
{
    if (pt_local_mark() != PT_LOCAL_SEALED)
        return;
    pt_local.mark = PT_LOCAL_OURS;
    if (__atomic_sub_fetch(&n_seals, 1, __ATOMIC_SEQ_CST) || !pt_switches.tsc)
        return;
    pt_switches.tsc = PT_TSC_FREE;
    if (__atomic_load_n(&n_seals, __ATOMIC_SEQ_CST))
        pt_switches.tsc = PT_TSC_NOT_FOR_ALL;
}

/* A new thread inherits from its maker that it may not read the counter. */
static int may_read_counter(void)
{
    int tsc_mode = 0;
    return !pt_switches.frozen && pt_syscall2(SYS_prctl, PR_GET_TSC, &tsc_mode) == 0 && tsc_mode == PR_TSC_ENABLE;
}

/* The kernel itself: clock_gettime may be the program's own, with calls that are recorded, or a faked clock; and the
 * vDSO's reads the counter, which this process may not. Under a filter, which may kill for it, time stands still. */
static pt_u64 clock_of_kernel(void)
{
    static pt_u64 latest_ns;
    pt_u64 latest = __atomic_load_n(&latest_ns, __ATOMIC_RELAXED);
    if (pt_switches.frozen)
        return latest;
    const pt_u64 now = pt_sys_clock_ns(CLOCK_MONOTONIC);
    while (latest < now &&
           !__atomic_compare_exchange_n(&latest_ns, &latest, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return now;
}

PT_COLD pt_u64 pt_clock_slow(void)
{
    if (pt_local_mark() == PT_LOCAL_SEALED)
        return 0;
    if (!pt_switches.tsc)
        return clock_of_kernel();
    if (may_read_counter())
        return __rdtsc();
    pt_thread_seal();
    return 0;
}
