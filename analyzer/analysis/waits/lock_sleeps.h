/* SPDX-License-Identifier: MIT
 *
 * lock_sleeps.h - short sleeps of critical threads while they held a lock that others waited for: those are not
 * polling.
 */
#ifndef PT_ANALYSIS_WAITS_LOCK_SLEEPS_H
#define PT_ANALYSIS_WAITS_LOCK_SLEEPS_H

#include "analysis/analysis.h"

struct pt_lock_sleeper;
struct pt_lock_sleeps {
    const struct pt_facts *facts;
    struct pt_lock_sleeper **processes; /* NULL = its main thread has not slept */
    pt_u32 n;
};

void pt_lock_sleeps_open(struct pt_lock_sleeps *sleeps, const struct pt_profile *profile);
void pt_lock_sleeps_event(struct pt_lock_sleeps *sleeps, const struct pt_event *event);
/* `thread` held a lock, and others waited for it. After the sleeps in that time. */
void pt_lock_sleeps_held(struct pt_lock_sleeps *sleeps, const struct pt_thread *thread, pt_i64 from_ns,
                         pt_i64 until_ns);
/* Stores sleep.under_lock.calls and sleep.under_lock.total_s of each stage. */
void pt_lock_sleeps_close(struct pt_lock_sleeps *sleeps, struct pt_profile *profile);

#endif
