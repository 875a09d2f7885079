/* SPDX-License-Identifier: MIT
 *
 * Owns: the tables and metrics of locks and signals. Threads: one. Never: sees an event.
 */
#include "lock_results.h"

#include <math.h>
#include <stdlib.h>

#include "proftrace/events.h"
#include "facts/state.h"
#include "profile/process_name.h"

enum { MAX_ROWS = 50, FEWEST_QUEUES = 100, LEAST_SIGNAL_NS = 1000000, FEWEST_IDLE = 4 };

/* A semaphore is a lock if the threads that wait for it also post; without recorded posts, if many threads queue at
 * it. */
static bool is_lock(const struct pt_lock *lock)
{
    const double *use_ns = lock->use_ns;
    if (!lock->waits.count)
        return false;
    if (lock->kind == PT_KIND_lock_cond)
        return false;
    if (!lock->life)
        return lock->kind != PT_KIND_lock_sem && lock->kind != PT_KIND_lock_semop;
    if (use_ns[PT_LOCK_USE_LOCK] + use_ns[PT_LOCK_USE_SIGNAL] > 0)
        return use_ns[PT_LOCK_USE_LOCK] > use_ns[PT_LOCK_USE_SIGNAL];
    return pt_lock_turns_waiters(&lock->time.turns) > 1 && lock->waits.count >= FEWEST_QUEUES;
}

/* Some of these waits were long: not each condition of a library that is never waited for. */
static bool is_signal(const struct pt_lock *lock)
{
    return lock->waits.sum >= LEAST_SIGNAL_NS && !is_lock(lock);
}

/* A thread of a pool waited for work that never came, or not before half of the stage was over. */
static bool is_of_idle_thread(const struct pt_locks *locks, const struct pt_lock *lock)
{
    return is_signal(lock) && lock->process && lock->waits.count == 1 &&
           (pt_i64)lock->waits.max >= pt_profile_stage_wall_ns(locks->profile, lock->stage) / 2;
}

static int by_time(const void *a, const void *b)
{
    const struct pt_lock *x = *(struct pt_lock *const *)a, *y = *(struct pt_lock *const *)b;
    if (x->waits.sum != y->waits.sum)
        return x->waits.sum < y->waits.sum ? 1 : -1;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static const char *name_of_thread(struct pt_profile *profile, const struct pt_lock *lock)
{
    const struct pt_thread *holder = lock->holder;
    if (!holder)
        return "unknown";
    const struct pt_process *process = holder->process;
    const char *name = pt_thread_label(profile, holder);
    if (process == lock->process && !lock->is_of_several)
        return name;
    if (holder->tid == process->pid)
        name = pt_process_name(profile, process);
    return pt_metrics_format(&profile->metrics, "%s, process %u", name, process->pid);
}

static const char *name_of_lock(struct pt_metrics *metrics, const struct pt_lock *lock)
{
    if (!lock->process)
        return "(others)";
    if (lock->path)
        return pt_metrics_format(metrics, "file %s", pt_metrics_text(metrics, lock->path));
    if (lock->kind == PT_KIND_lock_semop)
        return pt_metrics_format(metrics, "System V semaphore %llu of set %llu",
                                 (unsigned long long)lock->addr & 0xffff, (unsigned long long)lock->addr >> 16);
    const char *kind = lock->kind == PT_KIND_lock_rwlock ? "read-write lock"
                       : lock->kind == PT_KIND_lock_sem  ? "semaphore"
                       : lock->kind == PT_KIND_lock_cond ? "condition"
                                                         : "mutex";
    return pt_metrics_format(metrics, "%s 0x%llx", kind, (unsigned long long)lock->addr);
}

struct lock_row {
    const char *lock, *process, *holder;
    struct pt_value pid, holder_in, python_place;
    pt_u64 waits, threads;
    double total_s, p50_s, p95_s, p99_s, longest_s;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct lock_row, lock, TEXT, "Lock"),
    PT_COLUMN(struct lock_row, process, TEXT, "Process"),
    PT_COLUMN(struct lock_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct lock_row, waits, COUNT, "Waits"),
    PT_COLUMN(struct lock_row, threads, COUNT, "Threads"),
    PT_COLUMN(struct lock_row, total_s, SECONDS, "Time of all"),
    PT_COLUMN(struct lock_row, holder, TEXT, "Held mostly by"),
    PT_COLUMN(struct lock_row, holder_in, TEXT, "The holder was in"),
    PT_COLUMN(struct lock_row, p50_s, SECONDS, "p50"),
    PT_COLUMN(struct lock_row, p95_s, SECONDS, "p95"),
    PT_COLUMN(struct lock_row, p99_s, SECONDS, "p99"),
    PT_COLUMN(struct lock_row, longest_s, SECONDS, "Longest"),
    PT_PYTHON_PLACE_COLUMN(struct lock_row),
};
static const struct pt_table_kind by_lock = {PT_VIEW_locks, .most = MAX_ROWS, PT_COLUMNS(columns)};
static const struct pt_table_kind by_signal = {PT_VIEW_signals, .most = MAX_ROWS, PT_COLUMNS(columns)};

static struct pt_table *new_table(struct pt_locks *locks, pt_u32 stage, bool is_of_signals)
{
    struct pt_table *table =
        pt_metrics_add_table(&locks->profile->metrics, pt_scope_stage(stage), is_of_signals ? &by_signal : &by_lock);
    if (is_of_signals) {
        pt_table_relabel(table, "lock", "Signal");
        pt_table_relabel(table, "holder", "Given mostly by");
        pt_table_relabel(table, "holder_in", "Which was in");
    }
    if (!pt_facts_cpu(locks->profile->facts, stage)->data) /* then nobody knows where holders were */
        pt_table_drop_column(table, "holder_in");
    const char *without = pt_without_python_place(&locks->profile->facts->places);
    if (without)
        pt_table_drop_column(table, without);
    return table;
}

static struct pt_value holder_in(struct pt_locks *locks, const struct pt_lock *lock)
{
    return pt_facts_cpu(locks->profile->facts, lock->stage)->data
               ? pt_lock_holders_place(&locks->holders, locks->profile, lock->stage, lock->number)
               : pt_unknown(pt_profile_why_no_cpu_profile(locks->profile, lock->stage));
}

static double quantile_s(const struct pt_lock *lock, double quantile)
{
    return (double)pt_histogram_quantile(&lock->waits, quantile) / 1e9;
}

static void add_row(struct pt_locks *locks, struct pt_table *table, const struct pt_lock *lock)
{
    struct pt_profile *profile = locks->profile;
    const struct pt_process *process = lock->process;
    const bool is_one = process && !lock->is_of_several;
    if (!pt_table_has_room(table))
        return;
    pt_table_add(table, &(struct lock_row){
                            .lock = name_of_lock(&profile->metrics, lock),
                            .process = is_one ? pt_process_name(profile, process) : "(several)",
                            .pid = is_one ? pt_integer(process->pid) : pt_unknown("several processes waited"),
                            .waits = lock->waits.count,
                            .threads = pt_lock_turns_waiters(&lock->time.turns),
                            .total_s = (double)lock->waits.sum / 1e9,
                            .holder = process ? name_of_thread(profile, lock) : "unknown",
                            .holder_in = holder_in(locks, lock),
                            .p50_s = quantile_s(lock, 0.5),
                            .p95_s = quantile_s(lock, 0.95),
                            .p99_s = quantile_s(lock, 0.99),
                            .longest_s = (double)lock->waits.max / 1e9,
                            .python_place = process ? pt_python_place_of(&profile->facts->places, profile,
                                                                         PT_PLACE_OF_LOCK, process->index, lock->addr)
                                                    : pt_unknown(NULL),
                        });
}

static bool has_idle_pool(const struct pt_locks *locks, pt_u32 stage)
{
    pt_u64 n = 0;
    for (size_t i = 0; i < locks->all.n; i++)
        n += locks->all.items[i]->stage == stage && is_of_idle_thread(locks, locks->all.items[i]);
    return n >= FEWEST_IDLE;
}

/* A row for all of them: they say the same, and are longer than what anybody looks for. */
static void add_idle_row(struct pt_locks *locks, struct pt_table *table, pt_u32 stage)
{
    struct pt_lock all = {.stage = stage};
    const struct pt_process *process = NULL;
    for (size_t i = 0; i < locks->all.n; i++) {
        const struct pt_lock *lock = locks->all.items[i];
        if (lock->stage != stage || !is_of_idle_thread(locks, lock))
            continue;
        all.is_of_several |= lock->is_of_several || (process && process != lock->process);
        process = lock->process;
        pt_histogram_add(&all.waits, lock->waits.sum);
    }
    struct pt_metrics *metrics = &locks->profile->metrics;
    if (!pt_table_has_room(table))
        return;
    pt_table_add(table,
                 &(struct lock_row){
                     .lock = pt_metrics_format(metrics, "%llu of idle threads", (unsigned long long)all.waits.count),
                     .process = all.is_of_several ? "(several)" : pt_process_name(locks->profile, process),
                     .pid = all.is_of_several ? pt_unknown("several processes waited") : pt_integer(process->pid),
                     .waits = all.waits.count,
                     .threads = all.waits.count,
                     .total_s = (double)all.waits.sum / 1e9,
                     .holder = "nobody",
                     .holder_in = pt_unknown("each was waited for once, for half of the stage or longer"),
                     .p50_s = quantile_s(&all, 0.5),
                     .p95_s = quantile_s(&all, 0.95),
                     .p99_s = quantile_s(&all, 0.99),
                     .longest_s = (double)all.waits.max / 1e9,
                     .python_place = pt_unknown("of many threads"),
                 });
}

static double cost_s(const struct pt_lock_time *time, const struct pt_profile *profile, pt_u32 stage)
{
    return fmin(pt_value_number(pt_split_time_cost(&time->waited, profile, stage)), pt_lock_turns_most_s(&time->turns));
}

struct sums {
    pt_u64 waits, ns;
    double semaphores_s, between_s; /* semaphores within a process, and between several */
    const struct pt_lock *worst;
};

static void add_locks(struct pt_locks *locks, pt_u32 stage, bool of_signals, struct sums *sums)
{
    struct pt_table *table = NULL;
    const bool folds = of_signals && has_idle_pool(locks, stage);
    for (size_t i = 0; i < locks->all.n; i++) {
        const struct pt_lock *lock = locks->all.items[i];
        if (lock->stage != stage || !(of_signals ? is_signal(lock) : is_lock(lock)))
            continue;
        sums->waits += lock->waits.count;
        sums->ns += lock->waits.sum;
        if (lock->life)
            *(lock->is_of_several ? &sums->between_s : &sums->semaphores_s) +=
                cost_s(&lock->time, locks->profile, stage);
        if (!sums->worst && lock->process)
            sums->worst = lock;
        if (!table)
            table = new_table(locks, stage, of_signals);
        if (!folds || !is_of_idle_thread(locks, lock))
            add_row(locks, table, lock);
    }
    if (folds)
        add_idle_row(locks, table, stage);
}

static void finish_stage(struct pt_locks *locks, pt_u32 stage)
{
    struct pt_profile *profile = locks->profile;
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    struct sums sums = {0}, of_signals = {0};
    add_locks(locks, stage, false, &sums);
    add_locks(locks, stage, true, &of_signals);
    pt_metrics_set(metrics, scope, "lock.contended.calls", pt_integer(sums.waits));
    pt_metrics_set(metrics, scope, "lock.contended.total_s", pt_seconds((pt_i64)sums.ns));
    pt_metrics_set(metrics, scope, "lock.contended.holder",
                   pt_text(sums.worst ? name_of_thread(profile, sums.worst) : NULL));
    pt_metrics_set(metrics, scope, "lock.contended.holder_in",
                   sums.worst ? holder_in(locks, sums.worst) : pt_unknown("no lock was waited for"));
    /* A queue's idle threads wait, too, and cost nothing: the stage can gain no more than its critical thread waited.
     */
    const double workers_s = pt_stage_number_or_0(profile, stage, "time.workers_s");
    const double own_s = pt_value_number(pt_metrics_get(metrics, scope, "time.lock_s")) + workers_s;
    const double within_s = sums.semaphores_s + cost_s(&locks->stages[stage], profile, stage);
    const double between_s = sums.between_s + cost_s(&locks->between[stage], profile, stage);
    /* Of a lock between processes also what it waits for a child that queues there. */
    const double child_s = pt_value_number(pt_metrics_get(metrics, scope, "time.child_wait_s"));
    const double most_s = between_s > 0 ? own_s + fmin(between_s, child_s) : own_s;
    pt_metrics_set(metrics, scope, "lock.contended.cost_s", pt_real(fmin(within_s + between_s, most_s)));
}

void pt_locks_finish(struct pt_locks *locks)
{
    if (locks->all.n)
        qsort(locks->all.items, locks->all.n, sizeof *locks->all.items, by_time);
    for (pt_u32 stage = 0; stage < locks->profile->stages.n; stage++)
        finish_stage(locks, stage);
}
