/* SPDX-License-Identifier: MIT
 *
 * Owns: the last hand-offs of each lock. Threads: one. Never: keeps more than MOST_LOCKS of them; takes the GIL, which
 * is given to whoever comes, for a lock that is handed over.
 */
#include "lock_handoffs.h"

#include <stdlib.h>

#include "proftrace/payloads.h"
#include "model/tree.h"
#include "util/hash.h"
#include "util/mem.h"
#include "python.h"

enum { MOST_LOCKS = 4096, MOST_MADE = 1 << 16 };

/* ---- which lock ---- */

pt_u64 pt_lock_key(const struct pt_process *process, pt_u64 addr, pt_u32 kind)
{
    return pt_hash_pair(pt_hash_pair(addr, kind), process ? (pt_u64)process->index + 1 : 0);
}

/* NULL = there are too many. */
static struct pt_lock_handoffs *handoffs_at(struct pt_lock_queues *queues, pt_u64 key)
{
    if (queues->handoffs.n >= MOST_LOCKS && !pt_map_find(&queues->by_key, key))
        return NULL;
    pt_u64 *slot = pt_map_at(&queues->by_key, key);
    if (!*slot) {
        pt_vec_push(&queues->handoffs, pt_calloc(1, sizeof **queues->handoffs.items));
        *slot = queues->handoffs.n;
    }
    return queues->handoffs.items[*slot - 1];
}

const struct pt_process *pt_lock_maker(const struct pt_lock_queues *queues, const struct pt_process *process,
                                       pt_u64 addr)
{
    for (const struct pt_process *p = process; p; p = p->parent) {
        const pt_u64 *flags = pt_map_find(&queues->made, pt_lock_key(p, addr, PT_KIND_lock_sem));
        if (flags && (p == process || *flags & PT_LOCK_MADE_SHARED))
            return p;
    }
    return process;
}

pt_u32 pt_lock_made_as(const struct pt_lock_queues *queues, const struct pt_process *maker, pt_u64 addr)
{
    const pt_u64 *flags = pt_map_find(&queues->made, pt_lock_key(maker, addr, PT_KIND_lock_sem));
    return flags ? (pt_u32)*flags : 0;
}

/* ---- hand-offs ---- */

static void hand_over(struct pt_lock_handoffs *handoffs, const struct pt_thread *thread, pt_i64 at_ns)
{
    struct pt_lock_handoff *last = handoffs->n ? &handoffs->last[(handoffs->n - 1) % PT_LOCK_HANDOFFS] : NULL;
    if (!last || last->thread != thread) {
        handoffs->last[handoffs->n++ % PT_LOCK_HANDOFFS] =
            (struct pt_lock_handoff){.thread = thread, .until_ns = at_ns, .waits = handoffs->waits};
        return;
    }
    /* Nobody who waited got what it gave: it took it again itself. */
    last->again_ns = last->waits == handoffs->waits ? last->again_ns + at_ns - last->until_ns : 0;
    last->until_ns = at_ns;
    last->waits = handoffs->waits;
}

/* Thread by thread, not by a bit for some of them: one that only posts was taken for a waiter with the same bit, and
 * what it signals for a lock. */
static bool waits_for_it(const struct pt_lock_handoffs *handoffs, const struct pt_thread *thread)
{
    const pt_u32 n = handoffs->waiters.n < PT_LOCK_WAITERS ? handoffs->waiters.n : PT_LOCK_WAITERS;
    for (pt_u32 i = 0; i < n; i++)
        if (handoffs->waiters.threads[i] == thread)
            return true;
    return false;
}

static pt_u32 share(const struct pt_lock_handoffs *handoffs, pt_i64 start_ns, pt_i64 end_ns,
                    struct pt_lock_share ret_shares[PT_LOCK_HANDOFFS])
{
    const pt_u64 kept = handoffs->n < PT_LOCK_HANDOFFS ? handoffs->n : PT_LOCK_HANDOFFS;
    pt_i64 from_ns = start_ns;
    pt_u32 n = 0;
    for (pt_u64 i = handoffs->n - kept; i < handoffs->n; i++) {
        const struct pt_lock_handoff *handoff = &handoffs->last[i % PT_LOCK_HANDOFFS];
        const pt_i64 until_ns = handoff->until_ns < end_ns ? handoff->until_ns : end_ns;
        if (until_ns <= from_ns)
            continue;
        const pt_i64 ns = until_ns - from_ns;
        ret_shares[n++] =
            (struct pt_lock_share){.takes_it = waits_for_it(handoffs, handoff->thread) || handoff->again_ns > 0,
                                   .thread = handoff->thread,
                                   .from_ns = from_ns,
                                   .until_ns = until_ns,
                                   .again_ns = handoff->again_ns < ns ? handoff->again_ns : ns};
        from_ns = until_ns;
    }
    return n;
}

/* ---- events ---- */

static void made(struct pt_lock_queues *queues, const struct pt_event *event)
{
    const pt_u64 key = pt_lock_key(event->process, pt_event_as(event, lock_init)->addr, PT_KIND_lock_sem);
    const pt_u64 *slot = pt_map_find(&queues->by_key, key);
    if (queues->made.n < MOST_MADE || pt_map_find(&queues->made, key))
        *pt_map_at(&queues->made, key) =
            PT_LOCK_MADE | (event->tag ? PT_LOCK_MADE_SHARED : 0u) | (event->aux == 0 ? PT_LOCK_MADE_AT_0 : 0u);
    if (slot)
        queues->handoffs.items[*slot - 1]->n = queues->handoffs.items[*slot - 1]->waiters.n = 0;
}

static void woke(struct pt_lock_queues *queues, const struct pt_event *event)
{
    const pt_u64 addr = pt_event_as(event, lock_wake)->addr;
    const bool is_post = event->tag == PT_WAKE_POST;
    if (!is_post && pt_process_is_gil(event->process, addr, event->start_ns))
        return;
    struct pt_lock_handoffs *handoffs =
        handoffs_at(queues, is_post ? pt_lock_key(pt_lock_maker(queues, event->process, addr), addr, PT_KIND_lock_sem)
                                    : pt_lock_key(event->process, addr, PT_KIND_lock_cond));
    if (handoffs)
        hand_over(handoffs, event->thread, event->start_ns);
}

void pt_lock_queues_point(struct pt_lock_queues *queues, const struct pt_event *event)
{
    if (event->desc->kind == PT_KIND_lock_init)
        made(queues, event);
    else if (event->desc->kind == PT_KIND_lock_wake)
        woke(queues, event);
}

static pt_u32 waited(struct pt_lock_handoffs *handoffs, const struct pt_event *event, struct pt_lock_share *ret_shares)
{
    const pt_u32 n = handoffs->n ? share(handoffs, event->start_ns, pt_event_end_ns(event), ret_shares) : 0;
    handoffs->waits++;
    if (!waits_for_it(handoffs, event->thread))
        handoffs->waiters.threads[handoffs->waiters.n++ % PT_LOCK_WAITERS] = event->thread;
    return n;
}

/* The semaphores of System V have one number in all processes. */
static pt_u32 operated(struct pt_lock_handoffs *handoffs, const struct pt_event *event,
                       struct pt_lock_share *ret_shares)
{
    if (pt_event_as(event, lock_semop)->operation <= 0)
        return event->duration_ns >= PT_LEAST_LOCK_CALL_NS ? waited(handoffs, event, ret_shares) : 0;
    hand_over(handoffs, event->thread, event->start_ns);
    return 0;
}

static pt_u32 locked_file(struct pt_lock_handoffs *handoffs, const struct pt_event *event,
                          struct pt_lock_share *ret_shares)
{
    pt_u32 n = 0;
    if (pt_event_as(event, io_lock)->operation == PT_FILE_LOCK_RELEASED) {
        if (!handoffs->holds || handoffs->holds->process != event->process)
            return 0; /* another one had it before this call came back */
        hand_over(handoffs, handoffs->holds, event->start_ns);
        handoffs->holds = NULL;
        return 0;
    }
    /* Closing the file, or its end, lets a lock go, too. */
    if (handoffs->holds && handoffs->holds != event->thread)
        hand_over(handoffs, handoffs->holds, pt_event_end_ns(event));
    if (event->duration_ns >= PT_LEAST_LOCK_CALL_NS)
        n = waited(handoffs, event, ret_shares);
    if (event->result == 0)
        handoffs->holds = event->thread;
    return n;
}

pt_u32 pt_lock_queues_call(struct pt_lock_queues *queues, const struct pt_event *event,
                           struct pt_lock_share ret_shares[PT_LOCK_HANDOFFS])
{
    const struct pt_process *process = event->process;
    struct pt_lock_handoffs *handoffs = NULL;
    switch (event->desc->kind) {
    case PT_KIND_lock_sem: {
        const pt_u64 addr = pt_event_as(event, lock_sem)->addr;
        handoffs = handoffs_at(queues, pt_lock_key(pt_lock_maker(queues, process, addr), addr, PT_KIND_lock_sem));
        return handoffs ? waited(handoffs, event, ret_shares) : 0;
    }
    case PT_KIND_lock_cond:
        handoffs = handoffs_at(queues, pt_lock_key(process, pt_event_as(event, lock_cond)->addr, PT_KIND_lock_cond));
        return handoffs ? waited(handoffs, event, ret_shares) : 0;
    case PT_KIND_lock_semop: {
        const pt_u64 number = (pt_u64)(pt_u32)event->tag << 16 | (pt_event_as(event, lock_semop)->number & 0xffff);
        handoffs =
            handoffs_at(queues, pt_lock_key(NULL, pt_hash_pair(number, pt_machine_of(process)), PT_KIND_lock_semop));
        return handoffs ? operated(handoffs, event, ret_shares) : 0;
    }
    case PT_KIND_io_lock: {
        const pt_u32 id = pt_event_as(event, io_lock)->operation ? pt_event_as(event, io_lock)->path : 0;
        const char *path = id ? pt_process_string(process, id) : NULL;
        if (!path)
            return 0;
        const pt_u64 file = pt_hash_pair(pt_hash_text(path, PT_HASH_OF_TEXT), pt_machine_of(process));
        handoffs = handoffs_at(queues, pt_lock_key(NULL, file, PT_KIND_io_lock));
        return handoffs ? locked_file(handoffs, event, ret_shares) : 0;
    }
    default:
        return 0;
    }
}

void pt_lock_queues_fini(struct pt_lock_queues *queues)
{
    for (size_t i = 0; i < queues->handoffs.n; i++)
        free(queues->handoffs.items[i]);
    free(queues->handoffs.items);
    pt_map_fini(&queues->by_key);
    pt_map_fini(&queues->made);
}
