/* SPDX-License-Identifier: MIT
 *
 * Waits for CPython's global interpreter lock: how long each thread waited, and how much time each process
 * would gain without it.
 *
 * Threads: one. State: one small struct per thread that waited, at most MAX_THREADS. Never: counts a wait of more than
 * 5 ms as several, although CPython requests the lock again every 5 ms.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "facts/path/critical_path.h"
#include "facts/state.h"
#include "facts/time_union.h"
#include "facts/wait_kind.h"
#include "facts/time_union.h"
#include "facts/workers.h"
#include "profile/process_name.h"

enum { MAX_THREADS = 65536, MAX_ROWS = 50 };

/* Between two waits of one taking of the lock. */
#define SAME_WAIT_NS 50000

struct waiter {
    const struct pt_thread *thread;
    pt_u32 stage;
    pt_u64 waits, ns, of_process_ns;
    pt_i64 last_end_ns, this_ns, longest_ns;
};

struct gil {
    struct pt_profile *profile;
    struct {
        PT_VEC(struct waiter);
    } waiters;
    struct pt_map by_thread; /* struct pt_thread * -> index in waiters, plus 1 */
    struct of_process {
        struct pt_time_union some; /* when any thread waited */
        pt_u64 ns, threads;
    } * *processes; /* by index; NULL = none waited */
};

static void begin(void *state, struct pt_profile *profile)
{
    struct gil *gil = state;
    gil->profile = profile;
    gil->processes = pt_calloc(profile->session->n_processes, sizeof *gil->processes);
}

static struct waiter *waiter_of(struct gil *gil, const struct pt_event *e)
{
    const pt_u64 *known = pt_map_find(&gil->by_thread, (uintptr_t)e->thread);
    if (!known && gil->waiters.n >= MAX_THREADS)
        return NULL;
    pt_u64 *slot = pt_map_at(&gil->by_thread, (uintptr_t)e->thread);
    if (!*slot) {
        const pt_u32 stage = pt_profile_stage_of(gil->profile, e->process);
        pt_vec_push(&gil->waiters, ((struct waiter){.thread = e->thread, .stage = stage, .last_end_ns = INT64_MIN}));
        *slot = gil->waiters.n;
        gil->processes[e->process->index]->threads++;
    }
    return &gil->waiters.items[*slot - 1];
}

static void event(void *state, const struct pt_event *e)
{
    struct gil *gil = state;
    if (pt_time_part_of_event(e) != PT_PART_gil_wait)
        return;
    struct of_process **process = &gil->processes[e->process->index];
    if (!*process)
        *process = pt_calloc(1, sizeof **process);
    pt_time_union_add(&(*process)->some, e->start_ns, pt_event_end_ns(e));
    (*process)->ns += (pt_u64)e->duration_ns;
    struct waiter *waiter = waiter_of(gil, e);
    if (!waiter)
        return;
    const bool goes_on = waiter->waits && e->start_ns - waiter->last_end_ns < SAME_WAIT_NS;
    waiter->waits += !goes_on;
    waiter->this_ns = (goes_on ? waiter->this_ns : 0) + e->duration_ns;
    waiter->longest_ns = waiter->this_ns > waiter->longest_ns ? waiter->this_ns : waiter->longest_ns;
    waiter->ns += (pt_u64)e->duration_ns;
    waiter->last_end_ns = pt_event_end_ns(e);
}

/* ---- results ---- */

/* The threads of a process together. */
static int by_time(const void *a, const void *b)
{
    const struct waiter *x = a, *y = b;
    if (x->of_process_ns != y->of_process_ns)
        return x->of_process_ns < y->of_process_ns ? 1 : -1;
    if (x->thread->process != y->thread->process)
        return x->thread->process->index < y->thread->process->index ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->thread->tid > y->thread->tid) - (x->thread->tid < y->thread->tid);
}

struct thread_row {
    const char *process;
    pt_u32 pid, tid;
    pt_u64 waits;
    double total_s, longest_s;
    struct pt_value python_place;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct thread_row, process, TEXT, "Process"),
    PT_COLUMN(struct thread_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct thread_row, tid, NUMBER, "Thread"),
    PT_COLUMN(struct thread_row, waits, COUNT, "Waits"),
    PT_COLUMN(struct thread_row, total_s, SECONDS, "Time"),
    PT_COLUMN(struct thread_row, longest_s, SECONDS, "Longest"),
    PT_PYTHON_PLACE_COLUMN(struct thread_row),
};
static const struct pt_table_kind by_thread = {PT_VIEW_gil, .most = MAX_ROWS, PT_COLUMNS(columns)};

static void add_row(struct pt_profile *profile, struct pt_rows *rows, const struct waiter *waiter)
{
    const struct pt_facts *facts = profile->facts;
    const struct pt_process *process = waiter->thread->process;
    pt_rows_add(rows,
                &(struct thread_row){
                    .process = pt_process_name(profile, process),
                    .pid = process->pid,
                    .tid = waiter->thread->tid,
                    .waits = waiter->waits,
                    .total_s = (double)waiter->ns / 1e9,
                    .longest_s = (double)waiter->longest_ns / 1e9,
                    .python_place = pt_python_place_of(&facts->places, profile, PT_PLACE_OF_THREAD,
                                                       pt_thread_number(&facts->ids, waiter->thread), PT_PART_gil_wait),
                });
}

/* While k threads wait, k + 1 could run, on as many CPUs as there are: that much shorter the time would be. */
static double gain_s(const struct pt_profile *profile, const struct of_process *process)
{
    const double some_s = (double)process->some.total_ns / 1e9, all_s = (double)process->ns / 1e9;
    const double usable = pt_profile_usable_cpus(profile), cpus = usable >= 1 ? usable : INFINITY;
    const double runners = fmin(some_s > 0 ? 1 + all_s / some_s : 1, cpus);
    return some_s * (1 - 1 / runners);
}

/* What its threads computed but the one that did most, which queued for a CPU as that one did: no more can be done at
 * the same time. One that takes what it waited for and waits again, as who fills a queue, has nothing to do meanwhile.
 * INFINITY = not known. */
static double beside_s(const struct pt_profile *profile, const struct pt_process *process)
{
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(profile->facts, pt_profile_stage_of(profile, process));
    double all_ns = 0, most_ns = 0, queued_ns = 0;
    for (pt_u32 i = 0; i < process->n_threads; i++) {
        const pt_u32 thread = cpu->data ? pt_facts_cpu_thread(profile->facts, &process->threads[i]) : 0;
        if (!thread)
            return INFINITY;
        const struct pt_cpu_times *times = &cpu->data->times[thread];
        const double ns = (double)times->on_cpu_ns;
        all_ns += ns;
        queued_ns = ns > most_ns ? (double)pt_cpu_runnable_ns(times) : queued_ns;
        most_ns = fmax(most_ns, ns);
    }
    return most_ns > 0 ? (all_ns - most_ns) / 1e9 * (1 + queued_ns / most_ns) : INFINITY;
}

/* Each process has a GIL of its own: what threads of one wait for, those of another do not hold. Several processes
 * gain at the same time. The critical thread gains no more than it waited: for the GIL, or for those that did. */
static const struct of_process *worst_of(const struct gil *gil, pt_u32 stage, double *ret_cost_s)
{
    const struct pt_profile *profile = gil->profile;
    static const char *const own[] = {"time.gil_wait_s", "time.lock_s",       "time.data_wait_s",
                                      "time.workers_s",  "time.child_wait_s", "time.idle_s"};
    const struct of_process *worst = NULL;
    double most_s = -1, own_s = 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        own_s += pt_stage_number_or_0(profile, stage, own[i]);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        const struct of_process *of = gil->processes[process->index];
        /* What feeds a queue in a worker competes with its main thread: it is a process of its own already. */
        const bool is_beside = pt_is_worker(process) && !pt_path_has(profile->facts->paths, process);
        const double s = of && !is_beside && pt_profile_stage_of(profile, process) == stage
                             ? fmin(gain_s(profile, of), beside_s(profile, process))
                             : -1;
        worst = s > most_s ? of : worst;
        most_s = fmax(s, most_s);
    }
    *ret_cost_s = fmin(most_s, own_s);
    return worst;
}

static void finish_stage(const struct gil *gil, pt_u32 stage)
{
    struct pt_metrics *metrics = &gil->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    struct pt_rows rows = pt_rows(metrics, scope, &by_thread);
    rows.without = pt_without_python_place(&gil->profile->facts->places);
    pt_u64 waits = 0, ns = 0;
    pt_i64 longest_ns = 0;
    for (size_t i = 0; i < gil->waiters.n; i++) {
        const struct waiter *waiter = &gil->waiters.items[i];
        if (waiter->stage != stage)
            continue;
        waits += waiter->waits;
        ns += waiter->ns;
        longest_ns = waiter->longest_ns > longest_ns ? waiter->longest_ns : longest_ns;
        add_row(gil->profile, &rows, waiter);
    }
    double cost_s;
    const struct of_process *worst = worst_of(gil, stage, &cost_s);
    if (!worst)
        return;
    pt_metrics_set(metrics, scope, "gil.wait.calls", pt_integer(waits));
    pt_metrics_set(metrics, scope, "gil.threads.count", pt_integer(worst->threads));
    pt_metrics_set(metrics, scope, "gil.total_s", pt_seconds((pt_i64)ns));
    pt_metrics_set(metrics, scope, "gil.longest_s", pt_seconds(longest_ns));
    pt_metrics_set(metrics, scope, "gil.cost_s", pt_real(cost_s));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct gil *gil = state;
    for (size_t i = 0; i < gil->waiters.n; i++)
        gil->waiters.items[i].of_process_ns = gil->processes[gil->waiters.items[i].thread->process->index]->ns;
    if (gil->waiters.n)
        qsort(gil->waiters.items, gil->waiters.n, sizeof *gil->waiters.items, by_time);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        finish_stage(gil, stage);
    free(gil->waiters.items);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++)
        free(gil->processes[i]);
    free(gil->processes);
    pt_map_fini(&gil->by_thread);
}

const struct pt_analysis pt_analysis_gil = {
    .name = "gil",
    .summary = "waits for CPython's global interpreter lock",
    .categories = PT_CATEGORY_WAIT,
    .state_size = sizeof(struct gil),
    .begin = begin,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
