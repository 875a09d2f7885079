/* SPDX-License-Identifier: MIT
 *
 * intervals.h - when a thread waited for a page, and when it could have run but did not: one by one.
 *
 * Time inside of a recorded call belongs to another part of the time account than time outside, so sums are not enough.
 * A thread that waits without a system call waits for a page. Where it is not known at which place a thread left the
 * CPU: the kernel reports a major fault when it is over, and the wait right before it, with almost no CPU time since,
 * was for the page. That rule alone would miss pages that were being read already, by read-ahead or for another thread:
 * since Linux 6.4 their faults count as minor ones.
 */
#ifndef PT_CPU_PROFILE_INTERVALS_H
#define PT_CPU_PROFILE_INTERVALS_H

#include "threads.h"

/* Call it before all other functions for a switch, because they change the state that it needs. */
void pt_intervals_switch_out(struct pt_live_thread *thread, pt_u64 t_ns);
void pt_intervals_switch_in(struct pt_intervals *intervals, struct pt_live_thread *thread, pt_u64 t_ns);
void pt_intervals_fault(struct pt_intervals *intervals, struct pt_live_thread *thread, pt_u64 t_ns);

#endif
