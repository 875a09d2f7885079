/* SPDX-License-Identifier: MIT
 *
 * Owns: which thread or process a wait was for. Threads: one during the pass, then any. Never: follows waits in a
 * circle; follows a blocker into a time in which it did not exist.
 */
#include "blockers.h"

#include "proftrace/payloads.h"
#include "workers.h"

/* Shorter waits are not followed: there are too many. */
#define LEAST_FOLLOWED_NS 100000
enum { MOST_SIBLINGS = 64 };
/* A worker's last sign of life may come after the news of its end. */
#define LATE_NEWS_NS 10000000

/* ---- when it is seen ---- */

/* The thread that ended a wait for a lock, if the call says which. */
static const struct pt_thread *owner_of(const struct pt_facts *facts, const struct pt_event *event)
{
    switch (event->desc->kind) {
    case PT_KIND_wait_thread:
        return pt_thread_joined(&facts->ids, event);
    case PT_KIND_lock_mutex:
        return pt_thread_of_tid(&facts->ids, event->process, pt_event_as(event, lock_mutex)->owner_tid,
                                event->start_ns);
    case PT_KIND_lock_rwlock:
        return pt_thread_of_tid(&facts->ids, event->process, pt_event_as(event, lock_rwlock)->owner_tid,
                                event->start_ns);
    default:
        return NULL;
    }
}

static void set(struct pt_span *span, enum pt_blocker_kind kind, pt_u32 number)
{
    span->blocker_kind = (pt_u8)kind;
    span->blocker = number;
}

static pt_i64 length_of(const struct pt_lock_share *share)
{
    return share->until_ns - share->from_ns;
}

/* The thread that released it during the wait was the holder; else the one that the call names. */
static void note_lock(struct pt_facts *facts, const struct pt_event *event, struct pt_span *span)
{
    struct pt_lock_share *shares = facts->call.shares;
    const struct pt_thread *owner = owner_of(facts, event);
    const struct pt_lock_share *longest = shares;
    facts->call.n_shares = owner ? 1 : pt_lock_queues_call(&facts->queues, event, shares);
    if (owner)
        shares[0] = (struct pt_lock_share){.thread = owner, .from_ns = span->start_ns, .until_ns = span->end_ns};
    for (pt_u32 i = 1; i < facts->call.n_shares; i++)
        longest = length_of(&shares[i]) > length_of(longest) ? &shares[i] : longest;
    if (facts->call.n_shares)
        set(span, PT_BLOCKER_THREAD, pt_thread_number(&facts->ids, longest->thread));
}

void pt_blocker_note(struct pt_facts *facts, const struct pt_event *event, struct pt_span *span)
{
    const pt_u32 channel = pt_channels_note(&facts->channels, event);
    facts->call.n_shares = 0;
    if (span->part == PT_PART_lock) {
        note_lock(facts, event, span);
    } else if (event->desc->kind == PT_KIND_wait_child) {
        const struct pt_process *child = pt_process_of_pid(&facts->ids, event->process, event->result, span->end_ns);
        if (child)
            set(span, PT_BLOCKER_PROCESS, child->index);
    } else if (channel) {
        set(span, pt_sends(event) ? PT_BLOCKER_READER : PT_BLOCKER_WRITER, channel);
    }
}

/* From the post to the wake-up it still belongs to the last holder; but a thread whose last post was in the first
 * half of the wait did not end it. */
pt_u32 pt_blocker_waits(const struct pt_facts *facts, struct pt_span ret_waits[PT_LOCK_HANDOFFS + 1])
{
    const struct pt_span *whole = &facts->call.span;
    const struct pt_lock_share *shares = facts->call.shares;
    pt_u32 n = 0;
    for (; n < facts->call.n_shares; n++) {
        ret_waits[n] = *whole;
        ret_waits[n].start_ns = shares[n].from_ns;
        ret_waits[n].end_ns = shares[n].until_ns;
        set(&ret_waits[n], PT_BLOCKER_THREAD, pt_thread_number(&facts->ids, shares[n].thread));
    }
    if (!n) {
        ret_waits[0] = *whole;
        return 1;
    }
    if (ret_waits[n - 1].end_ns >= whole->start_ns + (whole->end_ns - whole->start_ns) / 2) {
        ret_waits[n - 1].end_ns = whole->end_ns;
        return n;
    }
    ret_waits[n] = *whole;
    ret_waits[n].start_ns = ret_waits[n - 1].end_ns;
    set(&ret_waits[n], PT_BLOCKER_NONE, 0);
    return n + 1;
}

void pt_blocker_divide(struct pt_facts *facts, pt_u32 thread)
{
    struct pt_span waits[PT_LOCK_HANDOFFS + 1];
    pt_thread_timeline_divide(&facts->timelines, thread, waits, pt_blocker_waits(facts, waits));
}

/* ---- when it is asked for ---- */

/* A thread of the same process that waited for another process at that time: it receives data for this one. */
static const struct pt_thread *sibling_that_takes_data(const struct pt_facts *facts, const struct pt_thread *waiter,
                                                       const struct pt_piece *wait)
{
    const struct pt_process *process = waiter->process;
    const struct pt_thread *best = NULL;
    pt_i64 best_ns = (wait->end_ns - wait->start_ns) / 2;
    for (pt_u32 i = 0; i < process->n_threads && i < MOST_SIBLINGS; i++) {
        const struct pt_thread *other = &process->threads[i];
        const pt_i64 ns = other == waiter ? 0
                                          : pt_thread_timeline_part_ns(pt_facts_timeline(facts, other),
                                                                       PT_PART_data_wait, wait->start_ns, wait->end_ns);
        best = ns > best_ns ? other : best;
        best_ns = ns > best_ns ? ns : best_ns;
    }
    return best;
}

/* A forkserver writes that a worker has ended: it is the worker that was waited for. */
static const struct pt_thread *worker_behind(const struct pt_facts *facts, const struct pt_thread *writer,
                                             const struct pt_piece *wait)
{
    const struct pt_session *session = facts->profile->session;
    const struct pt_process *best = NULL;
    if (!writer || !pt_is_of_multiprocessing(writer->process))
        return writer;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *one = session->processes[i];
        if (one->parent == writer->process && one->end_ns > wait->start_ns &&
            one->end_ns <= wait->end_ns + LATE_NEWS_NS && (!best || one->end_ns > best->end_ns))
            best = one;
    }
    return best && pt_main_thread(best) ? pt_main_thread(best) : writer;
}

const struct pt_thread *pt_blocker_of(const struct pt_facts *facts, const struct pt_thread *waiter,
                                      const struct pt_piece *wait)
{
    const struct pt_span *span = wait->span;
    switch ((enum pt_blocker_kind)span->blocker_kind) {
    case PT_BLOCKER_THREAD:
        return pt_thread_of_number(&facts->ids, span->blocker);
    case PT_BLOCKER_PROCESS:
        return pt_main_thread(facts->profile->session->processes[span->blocker]);
    case PT_BLOCKER_WRITER:
    case PT_BLOCKER_READER:
        return worker_behind(facts,
                             pt_channels_other_thread(&facts->channels, waiter, span->blocker,
                                                      span->blocker_kind == PT_BLOCKER_WRITER, span->end_ns),
                             wait);
    case PT_BLOCKER_NONE:
        break;
    }
    return span->part == PT_PART_lock ? sibling_that_takes_data(facts, waiter, wait) : NULL;
}

/* ---- on and on ---- */

static bool is_in(const struct pt_chain *chain, const struct pt_thread *thread)
{
    for (pt_u32 i = 0; i < chain->n; i++)
        if (chain->threads[i] == thread)
            return true; /* it waits for one of those that wait for it */
    return false;
}

/* The time of a wait in which its target lived. */
static void clip_to_life(const struct pt_facts *facts, const struct pt_thread *target, struct pt_piece *wait)
{
    const struct pt_process *process = target->process;
    const struct pt_thread_life life = pt_thread_life(facts, target);
    const pt_i64 born_ns = target == pt_main_thread(process) || !life.is_exact ? process->start_ns : life.start_ns;
    wait->start_ns = wait->start_ns > born_ns ? wait->start_ns : born_ns;
    wait->end_ns = wait->end_ns < process->end_ns ? wait->end_ns : process->end_ns;
}

/* The blocker of the last thread of the chain, and for how much of the piece; NULL = none that may be followed. */
static const struct pt_thread *target_of(struct pt_chain *chain, struct pt_piece *wait)
{
    const struct pt_thread *target = pt_blocker_of(chain->facts, chain->threads[chain->n - 1], wait);
    if (!target || is_in(chain, target))
        return NULL;
    clip_to_life(chain->facts, target, wait);
    return wait->end_ns > wait->start_ns && (!chain->enter || chain->enter(chain, wait, target)) ? target : NULL;
}

/* A piece, cut to a shorter time. */
static struct pt_piece cut_piece(const struct pt_piece *piece, pt_i64 start_ns, pt_i64 end_ns)
{
    struct pt_piece cut = *piece;
    cut.start_ns = start_ns;
    cut.end_ns = end_ns;
    cut.called_ns *= (double)(end_ns - start_ns) / (double)(piece->end_ns - piece->start_ns);
    return cut;
}

static void show_rest(struct pt_chain *chain, const struct pt_piece *piece, pt_i64 start_ns, pt_i64 end_ns)
{
    const struct pt_piece rest = cut_piece(piece, start_ns, end_ns);
    if (end_ns > start_ns)
        chain->show(chain, &rest, NULL);
}

static void show_piece(void *context, const struct pt_piece *piece)
{
    struct pt_chain *chain = context;
    struct pt_piece wait = *piece;
    const bool may_follow =
        piece->span && piece->end_ns - piece->start_ns >= LEAST_FOLLOWED_NS && chain->n <= PT_MOST_STEPS;
    const struct pt_thread *target = may_follow ? target_of(chain, &wait) : NULL;
    if (!target) {
        chain->show(chain, piece, NULL);
        return;
    }
    wait = cut_piece(piece, wait.start_ns, wait.end_ns);
    show_rest(chain, piece, wait.end_ns, piece->end_ns);
    chain->show(chain, &wait, target);
    pt_chain_split(chain, target, wait.start_ns, wait.end_ns);
    show_rest(chain, piece, piece->start_ns, wait.start_ns);
}

void pt_chain_split(struct pt_chain *chain, const struct pt_thread *thread, pt_i64 start_ns, pt_i64 end_ns)
{
    chain->threads[chain->n++] = thread;
    pt_thread_timeline_split(pt_facts_timeline(chain->facts, thread), start_ns, end_ns, show_piece, chain);
    chain->n--;
}

bool pt_chain_follow(struct pt_chain *chain, const struct pt_thread *waiter, const struct pt_span *wait)
{
    struct pt_piece piece = {.span = wait, .start_ns = wait->start_ns, .end_ns = wait->end_ns};
    chain->threads[chain->n++] = waiter;
    const struct pt_thread *target = target_of(chain, &piece);
    if (target)
        pt_chain_split(chain, target, piece.start_ns, piece.end_ns);
    chain->n--;
    return target;
}
