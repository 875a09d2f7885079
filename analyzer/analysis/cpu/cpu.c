/* SPDX-License-Identifier: MIT
 *
 * What each stage's threads did with the CPUs, from the launcher's profile: on a CPU, able to run but not running,
 * waiting; of all threads, of each, and of the critical ones; and which functions ran.
 *
 * Threads: one. State: none. Never: estimates a time that was not recorded.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "facts/cpu_code.h"
#include "facts/path/critical_path.h"
#include "facts/state.h"
#include "util/auto.h"
#include "util/mem.h"
#include "allocator_share.h"
#include "flame.h"
#include "generated.h"
#include "inline_loading.h"
#include "off_cpu_table.h"
#include "python.h"
#include "python_by_phase.h"
#include "spinning.h"
#include "stacks.h"
#include "tables.h"

enum { MOST_THREADS = 2000 };

/* ---- threads ---- */

static pt_u64 wait_ns(const struct pt_cpu_times *times)
{
    const pt_u64 idle_ns = times->preempted_ns + times->waiting_ns, runnable = pt_cpu_runnable_ns(times);
    /* Without records, waiting is the rest besides run queues. */
    if (!times->preempted_ns && !times->blocks)
        return times->waiting_ns;
    return idle_ns > runnable ? idle_ns - runnable : 0;
}

static int by_on_cpu(const void *a, const void *b)
{
    const struct pt_cpu_times *const *x = a, *const *y = b;
    if ((*x)->on_cpu_ns != (*y)->on_cpu_ns)
        return (*x)->on_cpu_ns < (*y)->on_cpu_ns ? 1 : -1;
    return (*x)->thread < (*y)->thread ? -1 : 1;
}

struct thread_row {
    pt_u32 pid, tid;
    const char *comm;
    double start_s, on_cpu_s, runnable_s, wait_s;
    pt_u64 blocks, preemptions, samples;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct thread_row, pid, NUMBER, "Pid"),
    PT_COLUMN(struct thread_row, tid, NUMBER, "Tid"),
    PT_COLUMN(struct thread_row, comm, TEXT, "Thread"),
    PT_COLUMN(struct thread_row, start_s, SECONDS, "Started"),
    PT_COLUMN(struct thread_row, on_cpu_s, SECONDS, "On CPU"),
    PT_COLUMN(struct thread_row, runnable_s, SECONDS, "Runnable"),
    PT_COLUMN(struct thread_row, wait_s, SECONDS, "Waiting"),
    PT_COLUMN(struct thread_row, blocks, COUNT, "Waits"),
    PT_COLUMN(struct thread_row, preemptions, COUNT, "Preempted"),
    PT_COLUMN(struct thread_row, samples, COUNT, "Samples"),
};
static const struct pt_table_kind by_thread = {PT_VIEW_cpu_threads, .most = MOST_THREADS, PT_COLUMNS(columns)};

static void add_threads(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_cpu_data *data)
{
    PT_AUTO(pt_freep) const struct pt_cpu_times **list = pt_calloc(data->n_threads, sizeof *list);
    struct pt_table *table = pt_metrics_add_table(metrics, scope, &by_thread);
    for (size_t i = 0; i < data->n_threads; i++)
        list[i] = &data->times[i];
    qsort(list + 1, data->n_threads - 1, sizeof *list, by_on_cpu);
    for (size_t i = 1; i < data->n_threads; i++) {
        const struct pt_cpu_thread *thread = &data->threads[list[i]->thread];
        if (!pt_table_has_room(table))
            continue;
        pt_table_add(table, &(struct thread_row){
                                .pid = thread->pid,
                                .tid = thread->tid,
                                .comm = pt_metrics_text(metrics, thread->comm),
                                .start_s = (double)thread->start_ns / 1e9,
                                .on_cpu_s = (double)list[i]->on_cpu_ns / 1e9,
                                .runnable_s = (double)pt_cpu_runnable_ns(list[i]) / 1e9,
                                .wait_s = (double)wait_ns(list[i]) / 1e9,
                                .blocks = list[i]->blocks,
                                .preemptions = list[i]->preemptions,
                                .samples = list[i]->samples,
                            });
    }
}

/* ---- metrics ---- */

struct work_of_process {
    double on_s, squares, gil_s;
};

/* Threads that take turns at the GIL are on a CPU for as long each, but one at a time: of the time in which a thread
 * has something to do, it computes only in that in which it does not wait for it. */
static void add_gil_waits(const struct pt_profile *profile, pt_u32 stage, const struct pt_map *by_process,
                          struct work_of_process *work)
{
    const struct pt_facts *facts = profile->facts;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        const pt_u64 *slot = pt_map_find(by_process, process->pid);
        for (pt_u32 j = 0; slot && j < process->n_threads && pt_profile_stage_of(profile, process) == stage; j++)
            work[*slot].gil_s += (double)facts->waits[pt_thread_number(&facts->ids, &process->threads[j])].gil_ns / 1e9;
    }
}

/* A second thread that does a little more than nothing is no pool. */
#define LEAST_OF_POOL 1.5
#define LEAST_OF_ONE 0.1   /* of all computing: who does most of it */
#define LEAST_OF_MANY 0.01 /* of all computing: one of several that share it */

struct pools {
    double most;         /* threads of the process with the most */
    double n, n_threads; /* processes with several, and how many these have together */
};

/* How many threads of one process share its work: (sum of CPU times)^2 / sum of squares. A computing thread and an
 * idle pool count as one. */
static struct pools pools_of(const struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_data *data)
{
    PT_AUTO(pt_freep) struct work_of_process *work = pt_calloc(data->n_threads, sizeof *work);
    struct pt_map by_process = {0};
    struct pools pools = {0};
    double all_s = 0;
    for (size_t i = 1; i < data->n_threads; i++) {
        pt_u64 *slot = pt_map_at(&by_process, data->threads[i].pid);
        *slot = *slot ? *slot : i;
        const double on_s = (double)data->times[i].on_cpu_ns / 1e9;
        work[*slot].on_s += on_s;
        work[*slot].squares += on_s * on_s;
        all_s += on_s;
    }
    add_gil_waits(profile, stage, &by_process, work);
    for (size_t i = 1; i < data->n_threads; i++) {
        if (!(work[i].on_s >= LEAST_OF_MANY * all_s && work[i].squares > 0))
            continue;
        const double threads =
            work[i].on_s * work[i].on_s / work[i].squares * work[i].on_s / (work[i].on_s + work[i].gil_s);
        pools.most = work[i].on_s >= LEAST_OF_ONE * all_s ? fmax(pools.most, threads) : pools.most;
        pools.n += threads >= LEAST_OF_POOL;
        pools.n_threads += threads >= LEAST_OF_POOL ? threads : 0;
    }
    pt_map_fini(&by_process);
    return pools;
}

static void set_all(struct pt_profile *profile, struct pt_scope scope, const struct pt_cpu_data *data)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pools pools = pools_of(profile, scope.index, data);
    double queued_s = 0;
    for (pt_u32 i = 1; i < data->n_threads; i++)
        queued_s += (double)pt_cpu_runnable_ns(&data->times[i]) / 1e9;
    pt_metrics_set(metrics, scope, "cpu.queued_s", pt_real(queued_s));
    pt_metrics_set(metrics, scope, "cpu.samples", pt_integer(data->totals.samples));
    pt_metrics_set(metrics, scope, "cpu.computing_threads", pt_real(pools.most));
    pt_metrics_set(metrics, scope, "cpu.pools.count", pt_real(pools.n));
    pt_metrics_set(metrics, scope, "cpu.pools.threads", pt_real(pools.n_threads));
    pt_metrics_set(metrics, scope, "cpu.sampling_s", pt_seconds((pt_i64)data->totals.own_cpu_ns));
}

static void set_python(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_cpu_view *view,
                       const struct pt_path_thread *threads)
{
    const struct pt_cpu_data *data = view->data;
    double samples = 0, python = 0;
    for (size_t i = 0; i < data->n_counts; i++) {
        const double share = threads[data->counts[i].thread].share;
        samples += share * (double)data->counts[i].samples;
        python += pt_cpu_runs_python(view, data->counts[i].node) ? share * (double)data->counts[i].samples : 0;
    }
    const struct pt_value none =
        pt_unknown(data->note ? pt_metrics_text(metrics, data->note) : "no CPU sample of this thread was taken");
    const bool is_known = samples > 0 && data->header.flags & PT_CPU_SAMPLED;
    pt_metrics_set(metrics, scope, "cpu.main_python_share", is_known ? pt_real(python / samples) : none);
}

/* What CUPTI took of the time that counts: the program would not have it without us. */
static void set_cupti(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_cpu_view *view,
                      const struct pt_path_thread *threads)
{
    const struct pt_cpu_data *data = view->data;
    double s = 0;
    for (size_t i = 0; i < data->n_counts; i++)
        if (view->frames.items[view->frame_of[data->counts[i].node]].is_in_cupti)
            s += threads[data->counts[i].thread].share * (double)data->counts[i].samples *
                 view->sample_s[data->counts[i].thread];
    if (s > 0)
        pt_metrics_set(metrics, scope, "cpu.main_cupti_s", pt_real(s));
}

/* An allocator gives memory back, or takes it. */
static bool is_mapping(const struct pt_cpu_view *view, pt_u32 node)
{
    return view->frames.items[view->frame_of[node]].is_in_allocator &&
           pt_code_of_function(view->functions.items[pt_cpu_function_at(view, node)].name) == PT_CODE_MAPPING;
}

/* The kernel's own work for pages that were missing, and for those that an allocator gives back. */
static void set_main_faults(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_cpu_view *view,
                            const struct pt_path_thread *threads)
{
    const struct pt_cpu_data *data = view->data;
    double s = 0, all_s = 0, mapping_s = 0;
    for (size_t i = 0; i < data->n_counts; i++) {
        const double one_s = (double)data->counts[i].samples * view->sample_s[data->counts[i].thread];
        mapping_s += is_mapping(view, data->counts[i].node) ? threads[data->counts[i].thread].share * one_s : 0;
        if (!pt_cpu_is_page_fault(view, data->counts[i].node))
            continue;
        s += threads[data->counts[i].thread].share * one_s;
        all_s += one_s;
    }
    const bool sees_kernel = data->header.flags & PT_CPU_SAMPLED && !(data->header.flags & PT_CPU_USER_ONLY);
    pt_metrics_set(metrics, scope, "cpu.main_fault_s",
                   sees_kernel ? pt_real(s) : pt_unknown("the kernel's share of the CPU time could not be sampled"));
    if (!sees_kernel)
        return;
    pt_metrics_set(metrics, scope, "cpu.fault_s", pt_real(all_s));
    pt_metrics_set(metrics, scope, "cpu.main_mapping_s", pt_real(mapping_s));
}

/* What it did within recorded calls, by their part of the account. */
static void set_main_in_calls(struct pt_profile *profile, pt_u32 stage, const struct pt_path_thread *threads)
{
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(profile->facts, stage);
    double on_s[PT_PART__COUNT] = {0}, preempted_s[PT_PART__COUNT] = {0};
    for (pt_u32 thread = 1; thread < cpu->data->n_threads; thread++)
        for (size_t i = cpu->first[thread]; threads[thread].share > 0 && i < cpu->first[thread + 1]; i++) {
            const struct pt_cpu_state *one = &cpu->states[i];
            if (!one->part || one->part > PT_PART__COUNT)
                continue;
            if (one->flags & PT_CPU_RAN)
                on_s[one->part - 1] += threads[thread].share * profile->facts->views[stage].sample_s[thread];
            else if (one->flags & PT_CPU_IS_EXACT && one->flags & PT_CPU_PREEMPTED)
                preempted_s[one->part - 1] += threads[thread].share * (double)(one->end_ns - one->start_ns) / 1e9;
        }
    for (int part = 0; part < PT_PART__COUNT; part++) {
        const struct pt_scope scope = pt_scope_stage(stage);
        pt_metrics_set(&profile->metrics, scope, pt_time_parts[part].on_cpu_metric, pt_real(on_s[part]));
        pt_metrics_set(&profile->metrics, scope, pt_time_parts[part].preempted_metric, pt_real(preempted_s[part]));
    }
}

/* While a launcher waits for its children, what it does beside is not on the path. */
static double handed_s(const struct pt_facts *facts, pt_u32 stage, pt_u32 thread, const struct pt_process *process)
{
    const struct pt_cpu_view *view = &facts->views[stage];
    double samples = 0;
    for (size_t i = 0; process && i < facts->paths->processes[process->index].windows.n; i++) {
        const struct pt_path_window *window = &facts->paths->processes[process->index].windows.items[i];
        const struct pt_cpu_between between =
            pt_cpu_between(pt_facts_cpu(facts, stage), view, thread, window->from_ns, window->until_ns);
        samples += between.python + between.native;
    }
    return samples * view->sample_s[thread];
}

/* False = none of them is in the profile. */
static bool set_main(struct pt_profile *profile, pt_u32 stage, const struct pt_path_thread *threads)
{
    const struct pt_cpu_view *view = &profile->facts->views[stage];
    const struct pt_scope scope = pt_scope_stage(stage);
    double on_s = 0, runnable_s = 0;
    bool is_any = false;
    for (pt_u32 i = 1; i < view->data->n_threads; i++) {
        const struct pt_cpu_times *times = &view->data->times[i];
        if (threads[i].share <= 0)
            continue;
        const double all_s = (double)times->on_cpu_ns / 1e9;
        on_s += threads[i].share * all_s -
                fmin(handed_s(profile->facts, stage, i, threads[i].process), threads[i].share * all_s);
        runnable_s += threads[i].share * (double)pt_cpu_runnable_ns(times) / 1e9;
        is_any = true;
    }
    if (!is_any)
        return false;
    pt_metrics_set(&profile->metrics, scope, "cpu.main_on_s", pt_real(on_s));
    pt_metrics_set(&profile->metrics, scope, "cpu.main_runnable_s", pt_real(runnable_s));
    set_python(&profile->metrics, scope, view, threads);
    set_cupti(&profile->metrics, scope, view, threads);
    set_main_faults(&profile->metrics, scope, view, threads);
    return true;
}

/* The critical thread that used the CPUs most: the one that trains. 0 = none is in the profile. */
static pt_u32 busiest(const struct pt_cpu_data *data, const struct pt_path_thread *threads)
{
    pt_u32 best = 0;
    for (pt_u32 i = 1; i < data->n_threads; i++)
        if (threads[i].share > 0 && (!best || data->times[i].on_cpu_ns > data->times[best].on_cpu_ns))
            best = i;
    return best;
}

static void set_main_unknown(struct pt_metrics *metrics, struct pt_scope scope, const char *reason)
{
    static const char *const names[] = {"cpu.main_on_s", "cpu.main_runnable_s", "cpu.main_python_share",
                                        "cpu.main_fault_s"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pt_metrics_set(metrics, scope, names[i], pt_unknown(reason));
}

static void set_unknown(struct pt_metrics *metrics, struct pt_scope scope, const char *reason)
{
    pt_metrics_set(metrics, scope, "cpu.samples", pt_unknown(reason));
    set_main_unknown(metrics, scope, reason);
}

/* ---- all ---- */

static void finish_stage(struct pt_profile *profile, pt_u32 stage)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_facts *facts = profile->facts;
    struct pt_cpu_view *view = &facts->views[stage];
    if (*facts->cpu.problems[stage].text)
        set_unknown(metrics, scope, pt_metrics_text(metrics, facts->cpu.problems[stage].text));
    if (!view->data)
        return;
    PT_AUTO(pt_freep) struct pt_path_thread *threads = pt_path_threads(facts, stage);
    pt_cpu_name_generated(profile, stage, view);
    set_all(profile, scope, view->data);
    if (set_main(profile, stage, threads))
        set_main_in_calls(profile, stage, threads);
    else
        set_main_unknown(metrics, scope, "the main thread is not in the CPU profile");
    add_threads(metrics, scope, view->data);
    pt_cpu_tables(metrics, scope, view);
    pt_cpu_python(metrics, scope, view);
    pt_cpu_python_by_phase(profile, stage, view, threads);
    pt_cpu_flame(metrics, scope, view);
    const pt_u32 critical = busiest(view->data, threads);
    pt_loading(profile, stage, view, critical);
    pt_allocator(profile, stage, view);
    pt_spinning(profile, stage, view, threads);
    pt_off_cpu_table(profile, stage, threads);
    pt_cpu_stacks(profile, stage, threads, critical);
}

static void finish(void *state, struct pt_profile *profile)
{
    (void)state;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        finish_stage(profile, stage);
}

const struct pt_analysis pt_analysis_cpu = {
    .name = "cpu",
    .summary = "time on CPUs, in run queues and waiting; hot functions and stacks, and those that waited",
    .asks_facts = true,
    .finish = finish,
};
