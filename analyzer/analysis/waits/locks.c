/* SPDX-License-Identifier: MIT
 *
 * Locks that were held when somebody wanted them: how long was waited, by how many threads, who held them and what
 * the holder did. The same of semaphores and conditions that are signals, and who gave them.
 *
 * Threads: one. State: a histogram per lock, at most MAX_LOCKS, and the places in which holders were met. Never: takes
 * waiting for work for contention: conditions, barriers and joins are not counted, a semaphore only when those who
 * post are those who wait. The GIL has gil.c, barriers have barriers.c.
 */
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/facts.h"
#include "facts/python.h"
#include "facts/wait_kind.h"
#include "lock_results.h"

enum { MAX_LOCKS = 4096, MAX_MADE = 1 << 16 };

/* A lock on a file is a system call each time: less is no wait. */
#define LEAST_FILE_WAIT_NS 50000
#define LEAST_IDLE_NS 1000000

enum { KIND_SHARED = 0x80 };                    /* in lock_mutex's kind */
enum { TO_SHARE = 1, ALONE = 2, RELEASED = 3 }; /* io_lock's operations */

static void begin(void *state, struct pt_profile *profile)
{
    struct locks *locks = state;
    locks->profile = profile;
    locks->stages = pt_calloc(profile->stages.n, sizeof *locks->stages);
    locks->between = pt_calloc(profile->stages.n, sizeof *locks->between);
    locks->idle = pt_calloc(profile->session->n_processes, sizeof *locks->idle);
    pt_lock_sleeps_open(&locks->sleeps, profile);
}

static pt_u64 key_of(const struct pt_process *process, pt_u64 addr, pt_u32 row)
{
    return (addr ^ (pt_u64)(process ? process->index + 1 : 0) << 48) * 256 + row;
}

/* `process`: whose address it is. NULL = it has the same one everywhere. */
static struct lock *lock_at(struct locks *locks, const struct pt_event *e, const struct pt_process *process,
                            pt_u64 addr)
{
    const pt_u32 stage = pt_profile_stage_of(locks->profile, e->process);
    pt_u64 key = process ? key_of(process, addr, e->desc->row) : key_of(NULL, addr ^ (pt_u64)stage << 32, e->desc->row);
    const bool is_other = locks->all.n >= MAX_LOCKS && !pt_map_find(&locks->by_key, key);
    if (is_other)
        key = ~(pt_u64)stage;
    pt_u64 *slot = pt_map_at(&locks->by_key, key);
    if (!*slot) {
        struct lock *lock = pt_calloc(1, sizeof *lock);
        lock->process = is_other ? NULL : process ? process : e->process;
        lock->addr = addr;
        lock->stage = stage;
        lock->row = (pt_u16)e->desc->row;
        pt_vec_push(&locks->all, lock);
        *slot = locks->all.n;
        lock->number = (pt_u32)*slot;
    }
    struct lock *lock = locks->all.items[*slot - 1];
    lock->is_of_several |= lock->process && lock->process != e->process;
    return lock;
}

/* ---- who held it ---- */

static void held_by(struct locks *locks, struct lock *lock, const struct pt_lock_share *share)
{
    const double ns = (double)(share->until_ns - share->from_ns);
    if (!share->thread)
        return;
    pt_lock_holders_note(&locks->holders, locks->profile, lock->number, share);
    if (!lock->life ? lock->row != PT_ROW_lock_cond : pt_lock_life_use(lock->life) == PT_LOCK_USE_LOCK)
        pt_lock_sleeps_held(&locks->sleeps, share->thread, share->from_ns, share->until_ns);
    if (lock->holder == share->thread) {
        lock->holder_ns += ns;
        return;
    }
    lock->holder_ns -= ns;
    if (lock->holder_ns < 0) {
        lock->holder = share->thread;
        lock->holder_ns = -lock->holder_ns;
    }
}

static void let_go(struct lock *lock, const struct pt_thread *thread, pt_i64 at_ns)
{
    if (!lock->turns)
        lock->turns = pt_calloc(1, sizeof *lock->turns);
    pt_lock_turns_add(lock->turns, thread, at_ns, lock->waits.count);
}

/* The semaphore is made anew, or the run has ended. */
static void end_life(struct lock *lock)
{
    if (!lock->life)
        return;
    lock->use_ns[pt_lock_life_use(lock->life)] += lock->life->all_ns;
    *lock->life = (struct pt_lock_life){0};
}

/* ---- waits ---- */

static void waited(struct lock *lock, const struct pt_event *e)
{
    pt_histogram_add(&lock->waits, (pt_u64)e->duration_ns);
    lock->waiters |= 1ull << pt_lock_thread_bit(e->thread);
    pt_split_time_add(&lock->time, e, e->start_ns);
}

static void waited_for(struct locks *locks, const struct pt_event *e, pt_u64 addr, pt_u32 owner_tid)
{
    struct lock *lock = lock_at(locks, e, e->process, addr);
    if (!lock->last_owner || lock->last_owner->tid != owner_tid)
        lock->last_owner = pt_thread_of_tid(&locks->profile->facts->ids, e->process, owner_tid, e->start_ns);
    const struct pt_lock_share all = {
        .thread = lock->last_owner, .from_ns = e->start_ns, .until_ns = pt_event_end_ns(e)};
    waited(lock, e);
    held_by(locks, lock, &all);
    const bool is_shared = e->desc->row == PT_ROW_lock_mutex && e->tag & KIND_SHARED;
    pt_split_time_add(&(is_shared ? locks->between : locks->stages)[lock->stage], e, e->start_ns);
}

/* Idle workers of a pool queue for the right to wait for the next task: nobody of them is kept from work. */
static void took_data(struct locks *locks, const struct pt_event *e)
{
    if (e->duration_ns < LEAST_IDLE_NS || !pt_is_main_thread(e) || pt_time_part_of_event(e) != PT_PART_data_wait)
        return;
    locks->idle[e->process->index].start_ns = e->start_ns;
    locks->idle[e->process->index].end_ns = pt_event_end_ns(e);
}

static bool held_idly(const struct locks *locks, const struct pt_lock_share *share)
{
    const pt_u32 process = share->thread->process->index;
    const pt_i64 start_ns = locks->idle[process].start_ns, end_ns = locks->idle[process].end_ns;
    const pt_i64 common_ns =
        (end_ns < share->until_ns ? end_ns : share->until_ns) - (start_ns > share->from_ns ? start_ns : share->from_ns);
    return share->thread->tid == share->thread->process->pid && common_ns * 2 > share->until_ns - share->from_ns;
}

/* Those who let others go on during the wait had it, one after the other. */
static void waited_in_turns(struct locks *locks, struct lock *lock, const struct pt_event *e)
{
    struct pt_lock_share shares[PT_LOCK_TURNS];
    const pt_u32 n = lock->turns ? pt_lock_turns_share(lock->turns, e->start_ns, pt_event_end_ns(e), shares) : 0;
    waited(lock, e);
    for (pt_u32 i = 0; i < n; i++) {
        if (lock->life)
            pt_lock_life_share(lock->life, &shares[i], held_idly(locks, &shares[i]));
        held_by(locks, lock, &shares[i]);
    }
}

/* ---- semaphores ---- */

/* A semaphore that processes share lies at one address in the one that made it and in its copies. */
static const struct pt_process *maker_of(const struct locks *locks, const struct pt_process *process, pt_u64 addr)
{
    for (const struct pt_process *p = process; p; p = p->parent) {
        const pt_u64 *about = pt_map_find(&locks->made, key_of(p, addr, PT_ROW_lock_sem));
        if (about && (p == process || *about & PT_LOCK_MADE_SHARED))
            return p;
    }
    return process;
}

static struct lock *semaphore_at(struct locks *locks, const struct pt_event *e, const struct pt_process *process,
                                 pt_u64 addr)
{
    struct lock *lock = lock_at(locks, e, process, addr);
    if (!lock->life && lock->process) {
        const pt_u64 *about = process ? pt_map_find(&locks->made, key_of(process, addr, e->desc->row)) : NULL;
        lock->life = pt_calloc(1, sizeof *lock->life);
        lock->life->starts_at_0 = about && *about & PT_LOCK_MADE_AT_0;
    }
    return lock;
}

static void semaphore_waited(struct locks *locks, const struct pt_event *e, struct lock *lock)
{
    if (lock->life) {
        lock->life->all_ns += (double)e->duration_ns;
        lock->life->waiters |= 1ull << pt_lock_thread_bit(e->thread);
        lock->life->waits += e->result == 0;
    }
    waited_in_turns(locks, lock, e);
}

/* One that nobody waits for is not kept as a lock: Python makes thousands. */
static void made(struct locks *locks, const struct pt_event *e)
{
    const pt_u64 key = key_of(e->process, pt_event_as(e, lock_init)->addr, PT_ROW_lock_sem);
    if (locks->made.n < MAX_MADE || pt_map_find(&locks->made, key))
        *pt_map_at(&locks->made, key) =
            PT_LOCK_MADE | (e->tag ? PT_LOCK_MADE_SHARED : 0u) | (e->aux == 0 ? PT_LOCK_MADE_AT_0 : 0u);
    const pt_u64 *slot = pt_map_find(&locks->by_key, key);
    struct lock *lock = slot ? locks->all.items[*slot - 1] : NULL;
    if (!lock || !lock->life)
        return;
    end_life(lock);
    lock->life->starts_at_0 = e->aux == 0;
    if (lock->turns)
        lock->turns->n = 0;
}

static void woke(struct locks *locks, const struct pt_event *e)
{
    const pt_u64 addr = pt_event_as(e, lock_wake)->addr;
    const bool is_post = e->tag == 1;
    if (!is_post && pt_process_is_gil(e->process, addr, e->start_ns))
        return;
    struct pt_event as_wait = *e; /* as its waiters will look it up */
    as_wait.desc = pt_event_desc_by_id(is_post ? PT_EV_lock_sem : PT_EV_lock_cond);
    struct lock *lock = is_post ? semaphore_at(locks, &as_wait, maker_of(locks, e->process, addr), addr)
                                : lock_at(locks, &as_wait, e->process, addr);
    let_go(lock, e->thread, e->start_ns);
}

/* The semaphores of System V have one number in all processes. */
static void operated(struct locks *locks, const struct pt_event *e)
{
    const struct pt_ev_lock_semop *call = pt_event_as(e, lock_semop);
    struct lock *lock = semaphore_at(locks, e, NULL, (pt_u64)(pt_u32)e->tag << 16 | (call->number & 0xffff));
    if (call->operation > 0)
        let_go(lock, e->thread, e->start_ns);
    else if (e->duration_ns >= LEAST_FILE_WAIT_NS)
        semaphore_waited(locks, e, lock);
}

/* ---- files ---- */

static void locked_file(struct locks *locks, const struct pt_event *e)
{
    const struct pt_ev_io_lock *call = pt_event_as(e, io_lock);
    const char *path = call->path ? pt_process_string(e->process, call->path) : NULL;
    const pt_i64 end_ns = pt_event_end_ns(e);
    if (!path || !call->operation)
        return;
    path = pt_intern_text(&locks->paths, path);
    struct lock *lock = lock_at(locks, e, NULL, (pt_u64)(uintptr_t)path);
    if (lock->process)
        lock->path = path;
    if (call->operation == RELEASED) {
        if (!lock->holds || lock->holds->process != e->process)
            return; /* another one had it before this call came back */
        let_go(lock, lock->holds, e->start_ns);
        lock->holds = NULL;
        return;
    }
    /* Closing the file, or its end, lets a lock go, too. */
    if (lock->holds && lock->holds != e->thread)
        let_go(lock, lock->holds, end_ns);
    if (e->duration_ns >= LEAST_FILE_WAIT_NS) {
        waited_in_turns(locks, lock, e);
        pt_split_time_add(&locks->between[lock->stage], e, e->start_ns);
    }
    if (e->result == 0)
        lock->holds = e->thread;
}

static void event(void *state, const struct pt_event *e)
{
    struct locks *locks = state;
    switch (e->desc->row) {
    case PT_ROW_lock_mutex:
        if (!pt_process_is_gil(e->process, pt_event_as(e, lock_mutex)->addr, e->start_ns))
            waited_for(locks, e, pt_event_as(e, lock_mutex)->addr, pt_event_as(e, lock_mutex)->owner_tid);
        break;
    case PT_ROW_lock_rwlock:
        waited_for(locks, e, pt_event_as(e, lock_rwlock)->addr, pt_event_as(e, lock_rwlock)->owner_tid);
        break;
    case PT_ROW_lock_sem: {
        const pt_u64 addr = pt_event_as(e, lock_sem)->addr;
        semaphore_waited(locks, e, semaphore_at(locks, e, maker_of(locks, e->process, addr), addr));
        break;
    }
    case PT_ROW_lock_cond:
        if (!pt_process_is_gil(e->process, pt_event_as(e, lock_cond)->addr, e->start_ns))
            waited_in_turns(locks, lock_at(locks, e, e->process, pt_event_as(e, lock_cond)->addr), e);
        break;
    case PT_ROW_lock_semop:
        operated(locks, e);
        break;
    case PT_ROW_lock_wake:
        woke(locks, e);
        break;
    case PT_ROW_lock_init:
        made(locks, e);
        break;
    case PT_ROW_io_lock:
        locked_file(locks, e);
        break;
    case PT_ROW_wait_sleep:
        pt_lock_sleeps_event(&locks->sleeps, e);
        break;
    case PT_ROW_io_read:
    case PT_ROW_wait_poll:
        took_data(locks, e);
        break;
    default:
        break;
    }
}

static void finish(void *state, struct pt_profile *profile)
{
    struct locks *locks = state;
    for (size_t i = 0; i < locks->all.n; i++)
        end_life(locks->all.items[i]);
    pt_locks_finish(locks);
    for (size_t i = 0; i < locks->all.n; i++) {
        free(locks->all.items[i]->turns);
        free(locks->all.items[i]->life);
        free(locks->all.items[i]);
    }
    free(locks->all.items);
    free(locks->stages);
    free(locks->between);
    free(locks->idle);
    pt_map_fini(&locks->by_key);
    pt_map_fini(&locks->made);
    pt_intern_fini(&locks->paths);
    pt_lock_holders_fini(&locks->holders);
    pt_lock_sleeps_close(&locks->sleeps, profile);
}

const struct pt_analysis pt_analysis_locks = {
    .name = "locks",
    .summary = "waits for locks, semaphores, conditions and locks on files, and who held or gave them",
    .categories = PT_CATEGORY_WAIT | PT_CATEGORY_IO,
    .state_size = sizeof(struct locks),
    .begin = begin,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
