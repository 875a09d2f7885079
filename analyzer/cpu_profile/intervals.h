/* SPDX-License-Identifier: MIT
 *
 * intervals.h - when a thread waited for a page, and when it could have run but did not: one by one.
 *
 * What lies inside of a recorded call belongs to another part of the time account than what lies outside, so sums would
 * not do. Who waits without having called the kernel misses a page. Where it is not known from where a thread left: the
 * kernel reports a major fault when it is over, and the wait right before it, with next to nothing run since, was for
 * the page. That alone would miss pages that were on their way already, by read-ahead or for another thread: since
 * Linux 6.4 their faults end as minor ones.
 */
#ifndef PT_CPU_PROFILE_INTERVALS_H
#define PT_CPU_PROFILE_INTERVALS_H

#include "threads.h"

/* Before all else that is told of a switch, which forgets how it was. */
void pt_intervals_switch_out(struct pt_live_thread *thread, pt_u64 t_ns);
void pt_intervals_switch_in(struct pt_intervals *intervals, struct pt_live_thread *thread, pt_u64 t_ns);
void pt_intervals_fault(struct pt_intervals *intervals, struct pt_live_thread *thread, pt_u64 t_ns);

#endif
