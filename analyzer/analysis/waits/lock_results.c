/* SPDX-License-Identifier: MIT
 *
 * Owns: the tables and metrics of locks and signals. Threads: one. Never: sees an event.
 */
#include "lock_results.h"

#include <math.h>
#include <stdlib.h>

#include "proftrace/events.h"
#include "facts/state.h"

enum { MAX_ROWS = 50, FEWEST_QUEUES = 100, LEAST_SIGNAL_NS = 1000000 };

/* A semaphore is a lock when those who wait for it also post; without posts, when many queue at it. */
static bool is_lock(const struct lock *lock)
{
    const double *use_ns = lock->use_ns;
    if (!lock->waits.count)
        return false;
    if (lock->row == PT_ROW_lock_cond)
        return false;
    if (!lock->life)
        return lock->row != PT_ROW_lock_sem && lock->row != PT_ROW_lock_semop;
    if (use_ns[PT_LOCK_USE_LOCK] + use_ns[PT_LOCK_USE_SIGNAL] > 0)
        return use_ns[PT_LOCK_USE_LOCK] > use_ns[PT_LOCK_USE_SIGNAL];
    return __builtin_popcountll(lock->waiters) > 1 && lock->waits.count >= FEWEST_QUEUES;
}

/* Some of these waits were long: not each condition of a library that is never waited for. */
static bool is_signal(const struct lock *lock)
{
    return lock->waits.sum >= LEAST_SIGNAL_NS && !is_lock(lock);
}

static int by_time(const void *a, const void *b)
{
    const struct lock *x = *(struct lock *const *)a, *y = *(struct lock *const *)b;
    if (x->waits.sum != y->waits.sum)
        return x->waits.sum < y->waits.sum ? 1 : -1;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static const char *name_of_thread(struct pt_profile *profile, const struct lock *lock)
{
    const struct pt_thread *holder = lock->holder;
    if (!holder)
        return "unknown";
    const struct pt_process *process = holder->process;
    const char *name = pt_thread_label(profile, holder);
    if (process == lock->process && !lock->is_of_several)
        return name;
    if (holder->tid == process->pid)
        name = process->comm ? process->comm : pt_base_name(process->exe);
    return pt_metrics_format(&profile->metrics, "%s, process %u", name, process->pid);
}

static const char *name_of_lock(struct pt_metrics *metrics, const struct lock *lock)
{
    if (!lock->process)
        return "(others)";
    if (lock->path)
        return pt_metrics_format(metrics, "file %s", pt_metrics_text(metrics, lock->path));
    if (lock->row == PT_ROW_lock_semop)
        return pt_metrics_format(metrics, "System V semaphore %llu of set %llu",
                                 (unsigned long long)lock->addr & 0xffff, (unsigned long long)lock->addr >> 16);
    const char *kind = lock->row == PT_ROW_lock_rwlock ? "read-write lock"
                       : lock->row == PT_ROW_lock_sem  ? "semaphore"
                       : lock->row == PT_ROW_lock_cond ? "condition"
                                                       : "mutex";
    return pt_metrics_format(metrics, "%s 0x%llx", kind, (unsigned long long)lock->addr);
}

enum { HOLDER = 6, HOLDER_IN = 7, N_COLUMNS = 12 };

/* Without the CPU profile nobody knows where holders were. */
static struct pt_table *new_table(struct pt_metrics *metrics, struct pt_scope scope, bool has_profile,
                                  bool is_of_signals)
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
    if (!is_of_signals)
        return pt_metrics_table(metrics, scope, "locks", "Locks waited for", columns, n);
    columns[0].label = "Signal";
    columns[HOLDER].label = "Given mostly by";
    if (has_profile)
        columns[HOLDER_IN].label = "Which was in";
    return pt_metrics_table(metrics, scope, "signals", "Semaphores and conditions waited for", columns, n);
}

static void add_row(struct locks *locks, struct pt_table *table, const struct lock *lock)
{
    static const double quantiles[] = {0.5, 0.95, 0.99};
    struct pt_metrics *metrics = &locks->profile->metrics;
    const struct pt_process *process = lock->process;
    struct pt_value *row = pt_table_add_row(table);
    row[0] = pt_text(name_of_lock(metrics, lock));
    const bool is_one = process && !lock->is_of_several;
    row[1] = pt_text(!is_one ? "(several)" : process->comm ? process->comm : pt_base_name(process->exe));
    row[2] = is_one ? pt_integer(process->pid) : pt_unknown("several processes waited");
    row[3] = pt_integer(lock->waits.count);
    row[4] = pt_integer((pt_u64)__builtin_popcountll(lock->waiters));
    row[5] = pt_seconds((pt_i64)lock->waits.sum);
    row[6] = pt_text(process ? name_of_thread(locks->profile, lock) : "unknown");
    pt_u32 at = 7;
    if (table->n_columns == N_COLUMNS)
        row[at++] = pt_lock_holders_place(&locks->holders, locks->profile, lock->stage, lock->number);
    for (int i = 0; i < 3; i++)
        row[at++] = pt_seconds((pt_i64)pt_histogram_quantile(&lock->waits, quantiles[i]));
    row[at] = pt_seconds((pt_i64)lock->waits.max);
}

struct sums {
    pt_u64 waits, ns;
    double semaphores_s, between_s; /* semaphores within a process, and between several */
    const struct lock *worst;
};

static void add_locks(struct locks *locks, pt_u32 stage, bool of_signals, struct sums *sums)
{
    const bool has_profile = pt_facts_cpu(locks->profile->facts, stage)->data;
    struct pt_table *table = NULL;
    for (size_t i = 0; i < locks->all.n; i++) {
        const struct lock *lock = locks->all.items[i];
        if (lock->stage != stage || !(of_signals ? is_signal(lock) : is_lock(lock)))
            continue;
        sums->waits += lock->waits.count;
        sums->ns += lock->waits.sum;
        if (lock->life)
            *(lock->is_of_several ? &sums->between_s : &sums->semaphores_s) +=
                pt_value_number(pt_split_time_cost(&lock->time, locks->profile, stage));
        if (!sums->worst && lock->process)
            sums->worst = lock;
        if (!table)
            table = new_table(&locks->profile->metrics, pt_scope_stage(stage), has_profile, of_signals);
        if (table->n_rows < MAX_ROWS)
            add_row(locks, table, lock);
        else
            table->rows_left_out++;
    }
}

static void finish_stage(struct locks *locks, pt_u32 stage)
{
    struct pt_profile *profile = locks->profile;
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    struct sums sums = {0}, of_signals = {0};
    add_locks(locks, stage, false, &sums);
    add_locks(locks, stage, true, &of_signals);
    const double cost_s =
        sums.semaphores_s + pt_value_number(pt_split_time_cost(&locks->stages[stage], profile, stage));
    pt_metrics_set(metrics, scope, "lock.contended.calls", pt_integer(sums.waits));
    pt_metrics_set(metrics, scope, "lock.contended.total_s", pt_seconds((pt_i64)sums.ns));
    pt_metrics_set(metrics, scope, "lock.contended.holder",
                   pt_text(sums.worst ? name_of_thread(profile, sums.worst) : NULL));
    if (pt_facts_cpu(profile->facts, stage)->data)
        pt_metrics_set(metrics, scope, "lock.contended.holder_in",
                       sums.worst ? pt_lock_holders_place(&locks->holders, profile, stage, sums.worst->number)
                                  : pt_unknown("no lock was waited for"));
    else
        pt_metrics_set(metrics, scope, "lock.contended.holder_in",
                       pt_unknown("needs the CPU profile of proftrace run"));
    /* A queue's idle threads wait, too, and cost nothing: the stage can gain no more than its critical thread waited.
     */
    const double own_s = pt_value_number(pt_metrics_get(metrics, scope, "time.lock_s"));
    const double between_s =
        sums.between_s + pt_value_number(pt_split_time_cost(&locks->between[stage], profile, stage));
    /* Of a lock between processes also what it waits for a child that queues there. */
    const double child_s = pt_value_number(pt_metrics_get(metrics, scope, "time.child_wait_s"));
    const double most_s = between_s > 0 ? own_s + fmin(between_s, child_s) : own_s;
    pt_metrics_set(metrics, scope, "lock.contended.cost_s", pt_real(fmin(cost_s + between_s, most_s)));
}

void pt_locks_finish(struct locks *locks)
{
    if (locks->all.n)
        qsort(locks->all.items, locks->all.n, sizeof *locks->all.items, by_time);
    for (pt_u32 stage = 0; stage < locks->profile->stages.n; stage++)
        finish_stage(locks, stage);
}
