/* SPDX-License-Identifier: MIT
 *
 * account.c - Owns: the account of a run in two numbers that must be one. Threads: one. Never: counts what the program
 * did not do itself: that a thread was there, what the kernel counted for it, samples.
 *
 * usage: account RUN. "counted": calls in the totals, and lost events that are in no total. "stored": events that are
 * in the trace, and those of which it says that they are not; calls that are only counted are added. Where directories
 * were read these need not be the same: a stream is one event, its entries are calls.
 */
#include <stdio.h>

#include "model/session.h"

static bool is_ours(pt_u32 kind)
{
    switch (kind) {
    case PT_KIND_thread_start:
    case PT_KIND_thread_clock:
    case PT_KIND_heap_sample:
    case PT_KIND_heap_sample_free:
    case PT_KIND_heap_sample_lost:
    case PT_KIND_heap_sample_thinned:
    case PT_KIND_python_place:
    case PT_KIND_python_memory:
    case PT_KIND_python_memory_free:
        return true;
    default:
        return false;
    }
}

struct account {
    pt_u64 counted, stored, entries;
};

static void add(const struct pt_process *process, struct account *account)
{
    const struct pt_quality *q = &process->quality;
    const bool has_heap = process->heap && process->heap_mode != PT_HEAP_OFF; /* releases are counted all the same */
    const pt_u64 heap = has_heap ? process->heap->allocs + process->heap->frees : 0;
    account->stored += q->events + q->overwritten + q->dropped + q->corrupt_events;
    account->stored += process->heap_mode == PT_HEAP_SAMPLED ? heap : 0;
    account->counted += heap + q->dropped - q->drops[PT_DROP_no_space];
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const pt_u64 calls = pt_totals_of(process->totals, kind)->calls;
        account->entries += kind == PT_KIND_meta_read_dir ? calls : 0;
        account->counted += is_ours(kind) ? 0 : calls;
        account->stored -= is_ours(kind) ? calls : 0;
        account->stored += kind == PT_KIND_stdio_char ? calls : 0; /* only counted, too */
    }
}

int main(int argc, char **argv)
{
    struct pt_error err = {0};
    struct pt_session *session = argc > 1 ? pt_session_open(argv[1], &err) : NULL;
    struct account account = {0};
    if (!session) {
        fprintf(stderr, "account: cannot open the run\n");
        return 1;
    }
    for (pt_u32 i = 0; i < session->n_processes; i++)
        add(session->processes[i], &account);
    printf("{\"counted\": %llu, \"stored\": %llu, \"directory_entries\": %llu}\n", (unsigned long long)account.counted,
           (unsigned long long)account.stored, (unsigned long long)account.entries);
    pt_session_close(session);
    return 0;
}
