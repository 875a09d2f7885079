/* SPDX-License-Identifier: MIT
 *
 * path/own_threads.h - the critical thread within a process: the main one, and while that one only waits for the result
 * of another thread of its own that works, that other one.
 *
 * A wait for a lock is none of these: its holder keeps the main thread from work, it does not do it for it.
 */
#ifndef PT_FACTS_PATH_OWN_THREADS_H
#define PT_FACTS_PATH_OWN_THREADS_H

#include "facts/state.h"
#include "util/vec.h"

/* A time in which the main thread waited for another one, beside which no other thread of the process does much. */
struct pt_own_window {
    pt_i64 from_ns, until_ns;
    const struct pt_thread *thread;
};

struct pt_own_windows {
    PT_VEC(struct pt_own_window); /* in the order of time, without overlap */
};

/* Reads the process's waits from the trace if its totals allow that there are any. */
struct pt_own_windows pt_own_windows_of(const struct pt_facts *facts, const struct pt_process *process);

/* Of the n-th window on: the first that ends behind a time. */
size_t pt_own_windows_after(const struct pt_own_windows *windows, pt_i64 at_ns);

#endif
