/* SPDX-License-Identifier: MIT
 *
 * Locks that were held when somebody wanted them: how long was waited, by how many threads, who held them and what
 * the holder did.
 *
 * Threads: one. State: a histogram per lock, at most MAX_LOCKS, and the places in which holders were met. Never: takes
 * waiting for work for contention: conditions, barriers and joins are not counted, a semaphore only when several
 * threads queue at it. The GIL has gil.c.
 */
#include <stdlib.h>
#include <string.h>

#include "time_part.h"
#include "histogram.h"
#include "lock_holders.h"
#include "workers.h"

enum { MAX_LOCKS = 4096, MAX_ROWS = 50, MAX_WAITERS = 64, FEWEST_QUEUES = 100 };

struct lock {
    const struct pt_process *process; /* NULL = those above MAX_LOCKS */
    pt_u64 addr;
    pt_u32 stage, number;
    pt_u16 row;
    struct pt_histogram waits; /* ns */
    pt_u64 waiters;            /* one bit per thread: a lower bound above 64 */
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
    struct pt_lock_holders holders;
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
        lock->number = (pt_u32)*slot;
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
    pt_histogram_add(&lock->waits, (pt_u64)e->duration_ns);
    lock->waiters |= 1ull << (e->thread->index % MAX_WAITERS);
    if (owner_tid && locks->profile->cpu)
        pt_lock_holders_note(&locks->holders, &locks->profile->cpu[lock->stage], lock->number, owner_tid, e);
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
    return lock->row != PT_ROW_lock_sem ||
           (__builtin_popcountll(lock->waiters) > 1 && lock->waits.count >= FEWEST_QUEUES);
}

static int by_time(const void *a, const void *b)
{
    const struct lock *x = *(struct lock *const *)a, *y = *(struct lock *const *)b;
    if (x->waits.sum != y->waits.sum)
        return x->waits.sum < y->waits.sum ? 1 : -1;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static const char *name_of_thread(struct pt_profile *profile, const struct lock *lock, pt_u32 tid)
{
    if (!tid)
        return "unknown";
    for (pt_u32 i = 0; i < lock->process->n_threads; i++)
        if (lock->process->threads[i].tid == tid)
            return pt_thread_label(profile, lock->stage, &lock->process->threads[i]);
    return pt_metrics_format(&profile->metrics, "thread %u of another process", tid);
}

static const char *name_of_lock(struct pt_metrics *metrics, const struct lock *lock)
{
    const char *kind = lock->row == PT_ROW_lock_rwlock ? "read-write lock"
                       : lock->row == PT_ROW_lock_sem  ? "semaphore"
                                                       : "mutex";
    return lock->process ? pt_metrics_format(metrics, "%s 0x%llx", kind, (unsigned long long)lock->addr) : "(others)";
}

enum { HOLDER_IN = 7, N_COLUMNS = 12 };

/* Without the CPU profile nobody knows where holders were. */
static struct pt_table *new_table(struct pt_metrics *metrics, struct pt_scope scope, bool has_profile)
{
    static const struct pt_column all[N_COLUMNS] = {
        {"lock", "Lock", PT_SHOW_TEXT},
        {"process", "Process", PT_SHOW_TEXT},
        {"pid", "PID", PT_SHOW_NUMBER},
        {"waits", "Waits", PT_SHOW_COUNT},
        {"threads", "Threads", PT_SHOW_COUNT},
        {"total_s", "Time of all", PT_SHOW_SECONDS},
        {"holder", "Held mostly by", PT_SHOW_TEXT},
        {"holder_in", "The holder was in", PT_SHOW_TEXT},
        {"p50_s", "p50", PT_SHOW_SECONDS},
        {"p95_s", "p95", PT_SHOW_SECONDS},
        {"p99_s", "p99", PT_SHOW_SECONDS},
        {"longest_s", "Longest", PT_SHOW_SECONDS},
    };
    struct pt_column columns[N_COLUMNS];
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < N_COLUMNS; i++)
        if (i != HOLDER_IN || has_profile)
            columns[n++] = all[i];
    return pt_metrics_table(metrics, scope, "locks", "Locks waited for", columns, n);
}

static void add_row(struct locks *locks, struct pt_table *table, const struct lock *lock)
{
    static const double quantiles[] = {0.5, 0.95, 0.99};
    struct pt_metrics *metrics = &locks->profile->metrics;
    const struct pt_process *process = lock->process;
    struct pt_value *row = pt_table_add_row(table);
    row[0] = pt_text(name_of_lock(metrics, lock));
    row[1] = pt_text(!process ? "(several)" : process->comm ? process->comm : pt_base_name(process->exe));
    row[2] = process ? pt_integer(process->pid) : pt_unknown(NULL);
    row[3] = pt_integer(lock->waits.count);
    row[4] = pt_integer((pt_u64)__builtin_popcountll(lock->waiters));
    row[5] = pt_seconds((pt_i64)lock->waits.sum);
    row[6] = pt_text(process ? name_of_thread(locks->profile, lock, lock->holder_tid) : "unknown");
    pt_u32 at = 7;
    if (table->n_columns == N_COLUMNS)
        row[at++] = pt_lock_holders_place(&locks->holders, locks->profile, lock->stage, lock->number);
    for (int i = 0; i < 3; i++)
        row[at++] = pt_seconds((pt_i64)pt_histogram_quantile(&lock->waits, quantiles[i]));
    row[at] = pt_seconds((pt_i64)lock->waits.max);
}

static void finish_stage(struct locks *locks, pt_u32 stage)
{
    const bool has_profile = locks->profile->cpu && locks->profile->cpu[stage].data;
    struct pt_value place = pt_unknown("needs the CPU profile of proftrace run");
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
        waits += lock->waits.count;
        ns += lock->waits.sum;
        if (lock->row == PT_ROW_lock_sem)
            cost_s += pt_value_number(pt_split_time_cost(&lock->time, locks->profile, stage));
        if (!holder && lock->process) {
            holder = name_of_thread(locks->profile, lock, lock->holder_tid);
            if (has_profile)
                place = pt_lock_holders_place(&locks->holders, locks->profile, stage, lock->number);
        }
        if (!table)
            table = new_table(metrics, scope, has_profile);
        if (table->n_rows < MAX_ROWS)
            add_row(locks, table, lock);
        else
            table->rows_left_out++;
    }
    pt_metrics_set(metrics, scope, "lock.contended.calls", pt_integer(waits));
    pt_metrics_set(metrics, scope, "lock.contended.total_s", pt_seconds((pt_i64)ns));
    pt_metrics_set(metrics, scope, "lock.contended.holder", pt_text(holder));
    if (has_profile)
        pt_metrics_set(metrics, scope, "lock.contended.holder_in", place);
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
    pt_lock_holders_fini(&locks->holders);
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
