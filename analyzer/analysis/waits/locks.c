/* SPDX-License-Identifier: MIT
 *
 * Lock contention: how long threads waited, how many, which thread held the lock and what it did. The same for
 * semaphores and conditions that are signals, with the thread that gave them.
 *
 * Threads: one. State: a histogram per lock, at most MAX_LOCKS, and the places at which holders were sampled. Never:
 * counts waiting for work as contention: conditions, barriers and joins do not count, and a semaphore only if the
 * threads that wait also post. gil.c has the GIL, barriers.c has barriers.
 */
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/state.h"
#include "facts/wait_kind.h"
#include "model/tree.h"
#include "util/hash.h"
#include "lock_results.h"

enum { MAX_LOCKS = 4096 };

#define LEAST_IDLE_NS 1000000

static void begin(void *state, struct pt_profile *profile)
{
    struct pt_locks *locks = state;
    locks->profile = profile;
    locks->stages = pt_calloc(profile->stages.n, sizeof *locks->stages);
    locks->between = pt_calloc(profile->stages.n, sizeof *locks->between);
    locks->idle = pt_calloc(profile->session->n_processes, sizeof *locks->idle);
    pt_lock_sleeps_open(&locks->sleeps, profile);
}

/* `process`: whose address it is. NULL = it has the same one everywhere. */
static struct pt_lock *lock_at(struct pt_locks *locks, const struct pt_event *e, const struct pt_process *process,
                               pt_u64 addr)
{
    const pt_u32 stage = pt_profile_stage_of(locks->profile, e->process);
    pt_u64 key = pt_lock_key(
        process, process ? addr : pt_hash_pair(addr, pt_hash_pair(stage, pt_machine_of(e->process))), e->desc->kind);
    const bool is_other = locks->all.n >= MAX_LOCKS && !pt_map_find(&locks->by_key, key);
    if (is_other)
        key = ~(pt_u64)stage;
    pt_u64 *slot = pt_map_at(&locks->by_key, key);
    if (!*slot) {
        struct pt_lock *lock = pt_calloc(1, sizeof *lock);
        lock->process = is_other ? NULL : process ? process : e->process;
        lock->addr = addr;
        lock->stage = stage;
        lock->kind = (pt_u16)e->desc->kind;
        pt_vec_push(&locks->all, lock);
        *slot = locks->all.n;
        lock->number = (pt_u32)*slot;
    }
    struct pt_lock *lock = locks->all.items[*slot - 1];
    lock->is_of_several |= lock->process && lock->process != e->process;
    return lock;
}

/* ---- who held it ---- */

static void held_by(struct pt_locks *locks, struct pt_lock *lock, const struct pt_lock_share *share)
{
    const double ns = (double)(share->until_ns - share->from_ns);
    if (!share->thread)
        return;
    pt_lock_holders_note(&locks->holders, locks->profile, lock->number, share);
    if (!lock->life ? lock->kind != PT_KIND_lock_cond : pt_lock_life_use(lock->life) == PT_LOCK_USE_LOCK)
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

/* The semaphore is made anew, or the run has ended. */
static void end_life(struct pt_lock *lock)
{
    if (!lock->life)
        return;
    lock->use_ns[pt_lock_life_use(lock->life)] += lock->life->all_ns;
    pt_lock_life_clear(lock->life);
}

/* ---- waits ---- */

static void add_time(const struct pt_locks *locks, struct pt_lock_time *time, const struct pt_event *e)
{
    const struct pt_facts *facts = locks->profile->facts;
    pt_split_time_add(&time->waited, facts->paths, e, e->start_ns);
    pt_lock_turns_waited(&time->turns, e->thread, e->start_ns, pt_event_end_ns(e));
    for (pt_u32 i = 0; i < facts->call.n_shares; i++) {
        const struct pt_lock_share *share = &facts->call.shares[i];
        pt_lock_turns_held(&time->turns, share->thread, (double)(share->until_ns - share->from_ns));
    }
}

static void waited(const struct pt_locks *locks, struct pt_lock *lock, const struct pt_event *e)
{
    pt_histogram_add(&lock->waits, (pt_u64)e->duration_ns);
    add_time(locks, &lock->time, e);
}

/* Idle workers of a pool queue for the right to wait for the next task: none of them is kept from work. */
static void took_data(struct pt_locks *locks, const struct pt_event *e)
{
    if (e->duration_ns < LEAST_IDLE_NS || !pt_is_main_thread(e) || pt_time_part_of_event(e) != PT_PART_data_wait)
        return;
    locks->idle[e->process->index].start_ns = e->start_ns;
    locks->idle[e->process->index].end_ns = pt_event_end_ns(e);
}

static bool holder_was_idle(const struct pt_locks *locks, const struct pt_lock_share *share)
{
    const pt_u32 process = share->thread->process->index;
    const pt_i64 start_ns = locks->idle[process].start_ns, end_ns = locks->idle[process].end_ns;
    const pt_i64 common_ns =
        (end_ns < share->until_ns ? end_ns : share->until_ns) - (start_ns > share->from_ns ? start_ns : share->from_ns);
    return share->thread->tid == share->thread->process->pid && common_ns * 2 > share->until_ns - share->from_ns;
}

/* The holders, or the threads that gave the signal, one after the other. */
static void was_held(struct pt_locks *locks, struct pt_lock *lock, const struct pt_event *e)
{
    const struct pt_facts *facts = locks->profile->facts;
    waited(locks, lock, e);
    for (pt_u32 i = 0; i < facts->call.n_shares; i++) {
        const struct pt_lock_share *share = &facts->call.shares[i];
        if (lock->life)
            pt_lock_life_share(lock->life, share, holder_was_idle(locks, share));
        held_by(locks, lock, share);
    }
}

static void wanted_mutex(struct pt_locks *locks, const struct pt_event *e, pt_u64 addr)
{
    struct pt_lock *lock = lock_at(locks, e, e->process, addr);
    const bool is_shared = e->desc->kind == PT_KIND_lock_mutex && e->tag & PT_MUTEX_SHARED;
    was_held(locks, lock, e);
    add_time(locks, &(is_shared ? locks->between : locks->stages)[lock->stage], e);
}

/* ---- semaphores ---- */

/* `process`: whose address it is; NULL = it has the same one everywhere. */
static void semaphore_waited(struct pt_locks *locks, const struct pt_event *e, const struct pt_process *process,
                             pt_u64 addr)
{
    const struct pt_facts *facts = locks->profile->facts;
    struct pt_lock *lock = lock_at(locks, e, process, addr);
    if (!lock->life && lock->process) {
        lock->life = pt_calloc(1, sizeof *lock->life);
        lock->life->starts_at_0 = process && pt_lock_made_as(&facts->queues, process, addr) & PT_LOCK_MADE_AT_0;
    }
    if (lock->life) {
        lock->life->all_ns += (double)e->duration_ns;
        pt_lock_life_waiter(lock->life, e->thread);
        lock->life->waits += e->result == 0;
    }
    for (pt_u32 i = 0; i < facts->call.n_shares; i++)
        lock->is_of_several |= lock->process && facts->call.shares[i].thread->process != lock->process;
    was_held(locks, lock, e);
}

/* A lock without waits is not kept: Python makes thousands. */
static void made(struct pt_locks *locks, const struct pt_event *e)
{
    const pt_u64 key = pt_lock_key(e->process, pt_event_as(e, lock_init)->addr, PT_KIND_lock_sem);
    const pt_u64 *slot = pt_map_find(&locks->by_key, key);
    struct pt_lock *lock = slot ? locks->all.items[*slot - 1] : NULL;
    if (!lock || !lock->life)
        return;
    end_life(lock);
    lock->life->starts_at_0 = e->aux == 0;
}

/* The semaphores of System V have one number in all processes. */
static void operated(struct pt_locks *locks, const struct pt_event *e)
{
    const struct pt_ev_lock_semop *call = pt_event_as(e, lock_semop);
    if (call->operation <= 0 && e->duration_ns >= PT_LEAST_LOCK_CALL_NS)
        semaphore_waited(locks, e, NULL, (pt_u64)(pt_u32)e->tag << 16 | (call->number & 0xffff));
}

/* ---- files ---- */

static void locked_file(struct pt_locks *locks, const struct pt_event *e)
{
    const struct pt_ev_io_lock *call = pt_event_as(e, io_lock);
    const char *path = call->path ? pt_process_string(e->process, call->path) : NULL;
    if (!path || !call->operation || call->operation == PT_FILE_LOCK_RELEASED || e->duration_ns < PT_LEAST_LOCK_CALL_NS)
        return;
    path = pt_intern_text(&locks->paths, path);
    struct pt_lock *lock = lock_at(locks, e, NULL, (pt_u64)(uintptr_t)path);
    if (lock->process)
        lock->path = path;
    was_held(locks, lock, e);
    add_time(locks, &locks->between[lock->stage], e);
}

/* The GIL has gil.c. */
static void wanted_lock(struct pt_locks *locks, const struct pt_event *e)
{
    const struct pt_facts *facts = locks->profile->facts;
    switch (e->desc->kind) {
    case PT_KIND_lock_mutex:
        wanted_mutex(locks, e, pt_event_as(e, lock_mutex)->addr);
        break;
    case PT_KIND_lock_rwlock:
        wanted_mutex(locks, e, pt_event_as(e, lock_rwlock)->addr);
        break;
    case PT_KIND_lock_sem: {
        const pt_u64 addr = pt_event_as(e, lock_sem)->addr;
        semaphore_waited(locks, e, pt_lock_maker(&facts->queues, e->process, addr), addr);
        break;
    }
    case PT_KIND_lock_cond:
        was_held(locks, lock_at(locks, e, e->process, pt_event_as(e, lock_cond)->addr), e);
        break;
    case PT_KIND_lock_semop:
        operated(locks, e);
        break;
    case PT_KIND_io_lock:
        locked_file(locks, e);
        break;
    default:
        break;
    }
}

static bool wants(const void *state, pt_u32 kind)
{
    (void)state;
    return pt_event_descs[kind].category == PT_CATEGORY_WAIT || kind == PT_KIND_io_lock || kind == PT_KIND_io_read;
}

static void event(void *state, const struct pt_event *e)
{
    struct pt_locks *locks = state;
    switch (e->desc->kind) {
    case PT_KIND_lock_init:
        made(locks, e);
        break;
    case PT_KIND_wait_sleep:
        pt_lock_sleeps_event(&locks->sleeps, e);
        break;
    case PT_KIND_io_read:
    case PT_KIND_wait_poll:
        took_data(locks, e);
        break;
    default:
        if (e->desc->role == PT_ROLE_SPAN && pt_time_part_of_event(e) == PT_PART_lock)
            wanted_lock(locks, e);
        break;
    }
}

static void finish(void *state, struct pt_profile *profile)
{
    struct pt_locks *locks = state;
    for (size_t i = 0; i < locks->all.n; i++)
        end_life(locks->all.items[i]);
    pt_locks_finish(locks);
    for (size_t i = 0; i < locks->all.n; i++) {
        free(locks->all.items[i]->life);
        pt_lock_turns_fini(&locks->all.items[i]->time.turns);
        free(locks->all.items[i]);
    }
    for (pt_u32 i = 0; i < profile->stages.n; i++) {
        pt_lock_turns_fini(&locks->stages[i].turns);
        pt_lock_turns_fini(&locks->between[i].turns);
    }
    free(locks->all.items);
    free(locks->stages);
    free(locks->between);
    free(locks->idle);
    pt_map_fini(&locks->by_key);
    pt_intern_fini(&locks->paths);
    pt_lock_holders_fini(&locks->holders);
    pt_lock_sleeps_close(&locks->sleeps, profile);
}

const struct pt_analysis pt_analysis_locks = {
    .name = "locks",
    .summary = "waits for locks, semaphores, conditions and locks on files, and who held or gave them",
    .categories = PT_CATEGORY_WAIT | PT_CATEGORY_IO,
    .state_size = sizeof(struct pt_locks),
    .begin = begin,
    .wants = wants,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
