/* SPDX-License-Identifier: MIT
 *
 * waits/lock_use.h - whether a semaphore is used as a lock or as a signal.
 */
#ifndef PT_ANALYSIS_WAITS_LOCK_USE_H
#define PT_ANALYSIS_WAITS_LOCK_USE_H

#include "facts/lock_handoffs.h"

enum { PT_LOCK_THREADS = 64 };

/* A semaphore from one sem_init to the next: Python's conditions make one for each wait, at addresses used before. */
struct pt_lock_life {
    bool starts_at_0; /* it could not be taken at first: a signal */
    pt_u64 waits;     /* that ended well */
    double all_ns;
    double idle_ns; /* of it: while its holder waited for data itself */
    pt_u32 n_threads;
    struct pt_lock_life_thread {
        const struct pt_thread *thread;
        bool waits;
        double by_ns, again_ns; /* of all_ns: the thread ended these waits */
    } threads[PT_LOCK_THREADS]; /* beyond so many, some have one place */
};

void pt_lock_life_clear(struct pt_lock_life *life);
void pt_lock_life_waiter(struct pt_lock_life *life, const struct pt_thread *thread);
void pt_lock_life_share(struct pt_lock_life *life, const struct pt_lock_share *share, bool was_idle);

enum pt_lock_use { PT_LOCK_USE_UNKNOWN /* no post was recorded */, PT_LOCK_USE_LOCK, PT_LOCK_USE_SIGNAL };
enum pt_lock_use pt_lock_life_use(const struct pt_lock_life *life);

#endif
