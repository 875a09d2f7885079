/* SPDX-License-Identifier: MIT
 *
 * Locks that were held when somebody wanted them: how long was waited, by how many threads, and who held them.
 *
 * Threads: one. State: one small struct per lock, at most MAX_LOCKS. Never: takes waiting for work for contention:
 * conditions, barriers and joins are not counted, a semaphore only when several threads queue at it. The GIL has gil.c.
 */
#include <stdlib.h>
#include <string.h>

#include "time_part.h"
#include "workers.h"

enum { MAX_LOCKS = 4096, MAX_ROWS = 50, MAX_WAITERS = 64, FEWEST_QUEUES = 100 };

struct lock {
    const struct pt_process *process; /* NULL = those above MAX_LOCKS */
    pt_u64 addr;
    pt_u32 stage;
    pt_u16 row;
    pt_u64 waits, ns;
    pt_i64 longest_ns;
    pt_u64 waiters; /* one bit per thread: a lower bound above 64 */
    pt_u32 holder_tid;
    double holder_ns; /* heaviest holder, by the majority vote of Misra and Gries: ahead of all others by this */
    struct pt_split_time time;
};

struct locks {
    struct pt_profile *profile;
    struct {
        PT_VEC(struct lock *);
    } all;
    struct pt_map by_addr;
    struct pt_split_time *stages; /* of mutexes and read-write locks */
};

static void begin(void *state, struct pt_profile *profile)
{
    struct locks *locks = state;
    locks->profile = profile;
    locks->stages = pt_calloc(profile->stages.n, sizeof *locks->stages);
}

static struct lock *lock_at(struct locks *locks, const struct pt_event *e, pt_u64 addr)
{
    const pt_u32 stage = pt_profile_stage_of(locks->profile, e->process);
    const struct pt_process *process = e->process;
    pt_u64 key = (addr ^ (pt_u64)process->index << 48) * 8 + (e->desc->row & 7u);
    if (locks->all.n >= MAX_LOCKS && !pt_map_find(&locks->by_addr, key)) {
        key = ~(pt_u64)stage;
        process = NULL;
    }
    pt_u64 *slot = pt_map_at(&locks->by_addr, key);
    if (!*slot) {
        struct lock *lock = pt_calloc(1, sizeof *lock);
        lock->process = process;
        lock->addr = addr;
        lock->stage = stage;
        lock->row = (pt_u16)e->desc->row;
        pt_vec_push(&locks->all, lock);
        *slot = locks->all.n;
    }
    return locks->all.items[*slot - 1];
}

static void held_by(struct lock *lock, pt_u32 tid, double ns)
{
    if (!tid)
        return;
    if (lock->holder_tid == tid) {
        lock->holder_ns += ns;
        return;
    }
    lock->holder_ns -= ns;
    if (lock->holder_ns < 0) {
        lock->holder_tid = tid;
        lock->holder_ns = -lock->holder_ns;
    }
}

static void waited(struct locks *locks, const struct pt_event *e, pt_u64 addr, pt_u32 owner_tid)
{
    struct lock *lock = lock_at(locks, e, addr);
    lock->waits++;
    lock->ns += (pt_u64)e->duration_ns;
    lock->waiters |= 1ull << (e->thread->index % MAX_WAITERS);
    if (e->duration_ns > lock->longest_ns)
        lock->longest_ns = e->duration_ns;
    held_by(lock, owner_tid, (double)e->duration_ns);
    pt_split_time_add(&lock->time, e, e->start_ns);
    if (e->desc->row != PT_ROW_lock_sem)
        pt_split_time_add(&locks->stages[lock->stage], e, e->start_ns);
}

static void event(void *state, const struct pt_event *e)
{
    const char *path;
    if (pt_time_part_of_event(e, &path) == PT_PART_gil_wait)
        return;
    switch (e->desc->row) {
    case PT_ROW_lock_mutex:
        waited(state, e, pt_event_as(e, lock_mutex)->addr, pt_event_as(e, lock_mutex)->owner_tid);
        break;
    case PT_ROW_lock_rwlock:
        waited(state, e, pt_event_as(e, lock_rwlock)->addr, pt_event_as(e, lock_rwlock)->owner_tid);
        break;
    case PT_ROW_lock_sem:
        waited(state, e, pt_event_as(e, lock_sem)->addr, 0);
        break;
    default:
        break;
    }
}

/* ---- results ---- */

static bool counts(const struct lock *lock)
{
    return lock->row != PT_ROW_lock_sem || (__builtin_popcountll(lock->waiters) > 1 && lock->waits >= FEWEST_QUEUES);
}

static int by_time(const void *a, const void *b)
{
    const struct lock *x = *(struct lock *const *)a, *y = *(struct lock *const *)b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static const char *name_of_thread(struct pt_metrics *metrics, const struct lock *lock, pt_u32 tid)
{
    if (!tid)
        return "unknown";
    for (pt_u32 i = 0; i < lock->process->n_threads; i++)
        if (lock->process->threads[i].tid == tid)
            return tid == lock->process->pid ? pt_metrics_format(metrics, "main thread %u", tid)
                                             : pt_metrics_format(metrics, "thread %u", tid);
    return pt_metrics_format(metrics, "thread %u of another process", tid);
}

static void add_row(struct pt_metrics *metrics, struct pt_table *table, const struct lock *lock)
{
    static const char *const kinds[] = {"mutex", "read-write lock", "semaphore"};
    const struct pt_process *process = lock->process;
    struct pt_value *row = pt_table_add_row(table);
    row[0] = pt_text(!process ? "(others)"
                              : pt_metrics_format(metrics, "%s 0x%llx",
                                                  kinds[lock->row == PT_ROW_lock_rwlock ? 1
                                                        : lock->row == PT_ROW_lock_sem  ? 2
                                                                                        : 0],
                                                  (unsigned long long)lock->addr));
    row[1] = pt_text(!process ? "(several)" : process->comm ? process->comm : pt_base_name(process->exe));
    row[2] = process ? pt_integer(process->pid) : pt_unknown(NULL);
    row[3] = pt_integer(lock->waits);
    row[4] = pt_integer((pt_u64)__builtin_popcountll(lock->waiters));
    row[5] = pt_seconds((pt_i64)lock->ns);
    row[6] = pt_seconds(lock->longest_ns);
    row[7] = pt_text(process ? name_of_thread(metrics, lock, lock->holder_tid) : "unknown");
}

static void finish_stage(const struct locks *locks, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"lock", "Lock", PT_SHOW_TEXT},
        {"process", "Process", PT_SHOW_TEXT},
        {"pid", "PID", PT_SHOW_NUMBER},
        {"waits", "Waits", PT_SHOW_COUNT},
        {"threads", "Threads", PT_SHOW_COUNT},
        {"total_s", "Time of all", PT_SHOW_SECONDS},
        {"longest_s", "Longest", PT_SHOW_SECONDS},
        {"holder", "Held mostly by", PT_SHOW_TEXT},
    };
    struct pt_metrics *metrics = &locks->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    struct pt_table *table = NULL;
    pt_u64 waits = 0, ns = 0;
    double cost_s = pt_value_number(pt_split_time_cost(&locks->stages[stage], locks->profile, stage));
    const char *holder = NULL;
    for (size_t i = 0; i < locks->all.n; i++) {
        const struct lock *lock = locks->all.items[i];
        if (lock->stage != stage || !counts(lock))
            continue;
        waits += lock->waits;
        ns += lock->ns;
        if (lock->row == PT_ROW_lock_sem)
            cost_s += pt_value_number(pt_split_time_cost(&lock->time, locks->profile, stage));
        if (!holder && lock->process)
            holder = name_of_thread(metrics, lock, lock->holder_tid);
        if (!table)
            table = pt_metrics_table(metrics, scope, "locks", "Locks waited for", columns,
                                     sizeof columns / sizeof *columns);
        if (table->n_rows < MAX_ROWS)
            add_row(metrics, table, lock);
        else
            table->rows_left_out++;
    }
    pt_metrics_set(metrics, scope, "lock.contended.calls", pt_integer(waits));
    pt_metrics_set(metrics, scope, "lock.contended.total_s", pt_seconds((pt_i64)ns));
    pt_metrics_set(metrics, scope, "lock.contended.holder", pt_text(holder));
    /* A queue's idle threads wait, too, and cost nothing: the stage can gain no more than its critical thread waited.
     */
    const double own_s = pt_value_number(pt_metrics_get(metrics, scope, "time.lock_s"));
    pt_metrics_set(metrics, scope, "lock.contended.cost_s", pt_real(cost_s < own_s ? cost_s : own_s));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct locks *locks = state;
    if (locks->all.n)
        qsort(locks->all.items, locks->all.n, sizeof *locks->all.items, by_time);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        finish_stage(locks, stage);
    for (size_t i = 0; i < locks->all.n; i++)
        free(locks->all.items[i]);
    free(locks->all.items);
    free(locks->stages);
    pt_map_fini(&locks->by_addr);
}

const struct pt_analysis pt_analysis_locks = {
    .name = "locks",
    .summary = "waits for mutexes, read-write locks and semaphores, and who held them",
    .categories = PT_CATEGORY_WAIT,
    .state_size = sizeof(struct locks),
    .begin = begin,
    .event = event,
    .finish = finish,
};
