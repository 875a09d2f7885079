/* SPDX-License-Identifier: MIT
 *
 * Owns: what is known of a thread of the account: its recorded time, its life. Threads: one. Never: shows a thread that
 * exec kept as two: all images of its process are its life.
 */
#include "state.h"

#include <math.h>

#include "proftrace/events.h"

/* ---- recorded time ---- */

/* Of waits for conditions that were overwritten, as many were for the GIL as of those that were seen. */
static void move_to_gil(const struct pt_account_thread *seen, double missing_ns, struct pt_account_split *split)
{
    const double seen_ns = seen->seen_ns[PT_KIND_lock_cond];
    const double gil_ns = seen_ns > 0 ? missing_ns * seen->gil_cond_ns / seen_ns : 0;
    split->ns[PT_PART_lock] -= gil_ns;
    split->ns[PT_PART_gil_wait] += gil_ns;
}

/* Of calls that were overwritten: all or nothing, by what one took on average. */
static double missing_copies_ns(const struct pt_account_thread *seen, const struct pt_thread *thread, pt_u32 kind)
{
    const struct pt_kind_totals *totals = pt_totals_of(thread->totals, kind);
    const bool copy = (double)totals->ns < PT_COPIES_BELOW_NS * (double)totals->calls;
    return copy ? fmax((double)totals->ns - seen->seen_ns[kind], 0) : 0;
}

/* Samples stand for the time between calls in which it computed; in the rest nobody knows what it did. */
static void move_to_workers(const struct pt_account_working *working, enum pt_time_part from,
                            struct pt_account_split *split)
{
    const double ns = fmin(working->known_ns + fmin(working->gap_ns, working->sampled_ns), split->ns[from]);
    split->ns[from] -= fmax(ns, 0);
    split->ns[PT_PART_workers] += fmax(ns, 0);
}

void pt_account_name_workers(const struct pt_account *account, const struct pt_thread *thread,
                             struct pt_account_split *split, bool all)
{
    const struct pt_account_thread *seen = &account->threads[pt_account_number(account, thread)];
    move_to_workers(&seen->for_threads, PT_PART_lock, split);
    if (all)
        move_to_workers(&seen->for_helpers, PT_PART_lock, split);
    move_to_workers(&seen->for_children, PT_PART_child_wait, split);
    move_to_workers(&(struct pt_account_working){.known_ns = seen->pauses.computed_ns}, PT_PART_sleep, split);
}

/* Totals are exact, events may have been overwritten: what is missing goes to the kind's usual part. */
void pt_account_add_thread(const struct pt_account *account, const struct pt_thread *thread,
                           struct pt_account_split *split, bool all)
{
    const struct pt_account_thread *seen = &account->threads[pt_account_number(account, thread)];
    for (int part = 0; part < PT_PART__COUNT; part++)
        split->ns[part] += seen->ns[part];
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const enum pt_time_part part = pt_time_part_of_kind(kind);
        const double missing_ns = (double)pt_totals_of(thread->totals, kind)->ns - seen->seen_ns[kind];
        if (part != PT_PART_unattributed && missing_ns > 0)
            split->ns[part] += missing_ns;
        if (kind == PT_KIND_lock_cond && missing_ns > 0)
            move_to_gil(seen, missing_ns, split);
    }
    pt_account_name_workers(account, thread, split, all);
    split->copied_read_ns += seen->copied_read_ns + missing_copies_ns(seen, thread, PT_KIND_stdio_read);
    split->copied_write_ns += seen->copied_write_ns + missing_copies_ns(seen, thread, PT_KIND_stdio_write);
    split->starting_ns += (double)pt_totals_of(thread->totals, PT_KIND_proc_spawn)->ns;
    split->ns[PT_PART_heap] +=
        (double)(thread->heap_allocs + thread->heap_frees) * account->heap_costs_ns[pt_account_number(account, thread)];
}

bool pt_account_calls_cuda(const struct pt_thread *thread)
{
    pt_u64 calls = 0;
    for (; thread; thread = pt_thread_before_exec(thread))
        for (pt_u32 kind = PT_KIND_cuda_call; kind <= PT_KIND_cuda_memory; kind++)
            calls += pt_totals_of(thread->process->totals, kind)->calls; /* CUPTI's calls are in a slot of the device */
    return calls > 0;
}
