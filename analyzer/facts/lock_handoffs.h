/* SPDX-License-Identifier: MIT
 *
 * facts/lock_handoffs.h - which thread ended a wait for a semaphore, a condition or a lock on a file: while a thread
 * waits, each post, signal and release is an event. The thread that posts held a semaphore that is used as a lock since
 * the post before; the one that signals gave what was waited for.
 */
#ifndef PT_FACTS_LOCK_HANDOFFS_H
#define PT_FACTS_LOCK_HANDOFFS_H

#include "decode/event.h"
#include "model/session.h"
#include "util/map.h"
#include "util/vec.h"

enum { PT_LOCK_HANDOFFS = 32 /* that are kept of a lock */, PT_LOCK_WAITERS = 64 /* threads that are remembered */ };

/* A lock on a file, or on a semaphore of System V, is a system call each time: less is no wait. */
#define PT_LEAST_LOCK_CALL_NS 50000

/* Bits: what sem_init said. */
enum pt_lock_made { PT_LOCK_MADE = 1, PT_LOCK_MADE_SHARED = 2, PT_LOCK_MADE_AT_0 = 4 };

/* A stretch of a wait, and its blocker: the thread that held the lock, or gave what was waited for. */
struct pt_lock_share {
    const struct pt_thread *thread;
    pt_i64 from_ns, until_ns;
    pt_i64 again_ns; /* of it: after a post that no waiter got */
    bool takes_it;   /* the thread waits for it at times, or takes again what it posted: it is a lock */
};

/* The last hand-offs of a lock, in a ring. */
struct pt_lock_handoffs {
    struct pt_lock_handoff {
        const struct pt_thread *thread;
        pt_i64 until_ns; /* its last post; it began at the end of the hand-off before */
        pt_i64 again_ns; /* of it: after a post that no waiter got */
        pt_u64 waits;    /* that had ended at its last post */
    } last[PT_LOCK_HANDOFFS];
    pt_u64 n;
    pt_u64 waits; /* that have ended */
    struct {
        pt_u32 n; /* that were noted: the latest PT_LOCK_WAITERS are here */
        const struct pt_thread *threads[PT_LOCK_WAITERS];
    } waiters;
    const struct pt_thread *holds; /* of a lock on a file: who has it now */
};

/* Of all locks; bounded: of later ones nothing is known. */
struct pt_lock_queues {
    struct pt_map by_key; /* -> index in handoffs, plus 1 */
    struct {
        PT_VEC(struct pt_lock_handoffs *);
    } handoffs;
    struct pt_map made; /* process and address of semaphores -> enum pt_lock_made */
};

/* A lock_wake, a lock_init. */
void pt_lock_queues_point(struct pt_lock_queues *queues, const struct pt_event *event);
/* A call on a lock. Returns how many stretches its wait has, in the order of time. */
pt_u32 pt_lock_queues_call(struct pt_lock_queues *queues, const struct pt_event *event,
                           struct pt_lock_share ret_shares[PT_LOCK_HANDOFFS]);
void pt_lock_queues_fini(struct pt_lock_queues *queues);

/* Of the lock of a kind at an address of a process; NULL = it has the same one in all, of a machine that is in the
 * address then. Two processes with one address, as copies of one program have, never have one key. */
pt_u64 pt_lock_key(const struct pt_process *process, pt_u64 addr, pt_u32 kind);

/* Whose a semaphore at an address of a process is: one that processes share lies at one address in the one that made it
 * and in its copies. */
const struct pt_process *pt_lock_maker(const struct pt_lock_queues *queues, const struct pt_process *process,
                                       pt_u64 addr);
/* What its maker said of it; 0 = nothing was heard. */
pt_u32 pt_lock_made_as(const struct pt_lock_queues *queues, const struct pt_process *maker, pt_u64 addr);

#endif
