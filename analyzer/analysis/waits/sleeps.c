/* SPDX-License-Identifier: MIT
 *
 * Sleeping: many short sleeps are polling, few long ones are intended.
 *
 * A wait with a time limit that ran out is one, too: Event.wait(0.02); and that of an event loop for its timers, where
 * a task awaits one pause after another: while not ready: await asyncio.sleep(0.01).
 *
 * Threads: one. State: one small struct per process. Never: counts threads for which the main one does not wait:
 * monitors and timers have to sleep; or a launcher that looks whether its children have ended; or takes the same loop
 * for both.
 */
#include <stdlib.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/path/beside_pauses.h"
#include "facts/path/critical_path.h"
#include "facts/path/split_time.h"
#include "facts/wait_kind.h"
#include "facts/workers.h"
#include "profile/process_name.h"
#include "util/whole.h"
#include "lock_sleeps.h"
#include "timed_waits.h"

enum { MAX_ROWS = 50 };

struct sleeper {
    pt_u64 short_calls, long_calls, short_ns, long_ns;
    pt_u64 timed_ns; /* of the short ones: waits for a lock that ran out of time */
    pt_u64 loop_ns;  /* or of an event loop, for timers */
    struct pt_pauses pauses;
};

struct sleeps {
    struct pt_profile *profile;
    struct sleeper *processes;
    struct pt_split_time *short_ones, *long_ones; /* by stage */
    struct pt_timed_waits timed, of_loops;
};

static void begin(void *state, struct pt_profile *profile)
{
    struct sleeps *sleeps = state;
    sleeps->profile = profile;
    sleeps->of_loops.session = profile->session;
    sleeps->processes = pt_calloc(profile->session->n_processes, sizeof *sleeps->processes);
    sleeps->short_ones = pt_calloc(profile->stages.n, sizeof *sleeps->short_ones);
    sleeps->long_ones = pt_calloc(profile->stages.n, sizeof *sleeps->long_ones);
}

/* A poll that timed out is a pause of a polling loop. Not that of an event loop, which has timers and waits for all
 * descriptors at once; nor one of a pipe, which ends as soon as there is something to read. */
static bool is_sleep(const struct pt_event *e)
{
    if (e->desc->kind == PT_KIND_wait_poll)
        return pt_time_part_of_event(e) == PT_PART_sleep && e->result == 0 && e->duration_ns < PT_SHORT_SLEEP_NS &&
               pt_event_as(e, wait_poll)->timeout_ms > 0;
    return e->desc->kind == PT_KIND_wait_sleep;
}

/* NULL = it is no wait with a time limit. */
static struct pt_timed_waits *may_run_out(struct sleeps *sleeps, const struct pt_event *e)
{
    if (e->desc->role != PT_ROLE_SPAN)
        return NULL;
    return pt_time_part_of_event(e) == PT_PART_lock ? &sleeps->timed : pt_is_event_loop(e) ? &sleeps->of_loops : NULL;
}

static void event(void *state, const struct pt_event *e)
{
    struct sleeps *sleeps = state;
    struct pt_timed_waits *timed = may_run_out(sleeps, e);
    if (e->desc->role == PT_ROLE_SPAN && pt_time_part_of_event(e) == PT_PART_gil_wait)
        pt_timed_waits_gil(&sleeps->of_loops, e);
    if (!(timed || is_sleep(e)) || !pt_path_is_own(sleeps->profile->facts->paths, e) ||
        pt_path_is_handed(sleeps->profile->facts->paths, e))
        return;
    if (timed) {
        pt_timed_waits_event(timed, e);
        return;
    }
    const pt_u32 stage = pt_profile_stage_of(sleeps->profile, e->process);
    struct sleeper *sleeper = &sleeps->processes[e->process->index];
    const bool is_short = pt_is_short_pause(e);
    *(is_short ? &sleeper->short_calls : &sleeper->long_calls) += 1;
    *(is_short ? &sleeper->short_ns : &sleeper->long_ns) += (pt_u64)e->duration_ns;
    if (is_short && pt_is_main_thread(e))
        pt_pauses_add(&sleeper->pauses, sleeps->profile->facts, e);
    pt_split_time_add(&(is_short ? sleeps->short_ones : sleeps->long_ones)[stage], sleeps->profile->facts->paths, e,
                      e->start_ns);
}

struct process_row {
    const char *process;
    pt_u32 pid;
    pt_u64 sleeps;
    double total_s, mean_s;
    struct pt_value python_place;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct process_row, process, TEXT, "Process"), PT_COLUMN(struct process_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct process_row, sleeps, COUNT, "Sleeps"),  PT_COLUMN(struct process_row, total_s, SECONDS, "Time"),
    PT_COLUMN(struct process_row, mean_s, SECONDS, "Mean"),  PT_PYTHON_PLACE_COLUMN(struct process_row),
};
static const struct pt_table_kind by_process = {PT_VIEW_sleeps, .most = MAX_ROWS, PT_COLUMNS(columns)};

static struct pt_value main_place(struct pt_profile *profile, const struct pt_process *process, enum pt_time_part part)
{
    const struct pt_facts *facts = profile->facts;
    const struct pt_thread *thread = pt_main_thread(process);
    return thread ? pt_python_place_of(&facts->places, profile, PT_PLACE_OF_THREAD,
                                       pt_thread_number(&facts->ids, thread), part)
                  : pt_unknown(NULL);
}

static void add_row(struct pt_profile *profile, struct pt_rows *rows, const struct pt_process *process,
                    const struct sleeper *sleeper)
{
    const pt_u64 calls = sleeper->short_calls + sleeper->long_calls, ns = sleeper->short_ns + sleeper->long_ns;
    const enum pt_time_part part = sleeper->timed_ns > ns / 2  ? PT_PART_lock
                                   : sleeper->loop_ns > ns / 2 ? PT_PART_idle
                                                               : PT_PART_sleep;
    pt_rows_add(rows, &(struct process_row){
                          .process = pt_process_name(profile, process),
                          .pid = process->pid,
                          .sleeps = calls,
                          .total_s = (double)ns / 1e9,
                          .mean_s = (double)ns / 1e9 / (double)calls,
                          .python_place = main_place(profile, process, part),
                      });
}

static void set_worker_share(struct pt_metrics *metrics, struct pt_scope scope, const char *name,
                             const struct pt_split_time *time)
{
    const double workers_ns = (double)time->of[PT_OF_WORKERS].total_ns;
    const double all_ns = workers_ns + (double)time->of[PT_ON_PATH].total_ns + (double)time->of[PT_BESIDE].total_ns;
    pt_metrics_set(metrics, scope, name, all_ns > 0 ? pt_real(100 * workers_ns / all_ns) : pt_unknown("nothing slept"));
}

/* Polling threads wait one after another, as main threads do: their times are added. */
static void add_timed_waits(struct sleeps *sleeps)
{
    for (size_t i = 0; i < sleeps->timed.n; i++) {
        const struct pt_timed_waiter *waiter = &sleeps->timed.items[i];
        const struct pt_process *process = waiter->thread->process;
        struct pt_split_time *time = &sleeps->short_ones[pt_profile_stage_of(sleeps->profile, process)];
        if (!pt_timed_waits_poll(waiter))
            continue;
        sleeps->processes[process->index].short_calls += waiter->calls;
        sleeps->processes[process->index].short_ns += waiter->ns;
        sleeps->processes[process->index].timed_ns += waiter->ns;
        pt_split_time_add_waits(time, sleeps->profile->facts->paths, process, (pt_i64)waiter->ns);
    }
}

/* What another thread or process makes ready is late by the last pause at most; where there is none, tasks of one loop
 * wait for each other. */
static void add_loops(struct sleeps *sleeps)
{
    for (size_t i = 0; i < sleeps->of_loops.n; i++) {
        struct pt_timed_waiter *waiter = &sleeps->of_loops.items[i];
        const struct pt_process *process = waiter->thread->process;
        struct pt_split_time *time = &sleeps->short_ones[pt_profile_stage_of(sleeps->profile, process)];
        if (!pt_timed_waits_poll_in_loop(waiter) || pt_serves(process))
            continue;
        const pt_u64 cost_ns =
            process->n_threads > 1 || process->has_children ? waiter->unanswered.last_ns : waiter->unanswered.ns;
        sleeps->processes[process->index].short_calls += waiter->unanswered.calls;
        sleeps->processes[process->index].short_ns += waiter->unanswered.ns;
        sleeps->processes[process->index].loop_ns += waiter->unanswered.ns;
        pt_split_time_add_waits(time, sleeps->profile->facts->paths, process, (pt_i64)cost_ns);
    }
}

/* While own threads compute, it waits for these: to ask them another way would not make them faster. */
static void take_off_computing(struct sleeps *sleeps)
{
    const struct pt_session *session = sleeps->profile->session;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        struct pt_split_time *time = &sleeps->short_ones[pt_profile_stage_of(sleeps->profile, process)];
        const double ns =
            pt_pauses_computed_ns(&sleeps->processes[process->index].pauses, sleeps->profile->facts, process);
        pt_split_time_add_waits(time, sleeps->profile->facts->paths, process, -(pt_i64)ns);
    }
}

static void finish_stage(const struct sleeps *sleeps, pt_u32 stage)
{
    struct pt_profile *profile = sleeps->profile;
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    struct pt_rows rows = pt_rows(metrics, scope, &by_process);
    rows.without = pt_without_python_place(&profile->facts->places);
    struct sleeper sum = {0};
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        const struct sleeper *one = &sleeps->processes[process->index];
        if (pt_profile_stage_of(profile, process) != stage || !(one->short_calls + one->long_calls))
            continue;
        sum.short_calls += one->short_calls;
        sum.long_calls += one->long_calls;
        sum.short_ns += one->short_ns;
        sum.timed_ns += one->timed_ns;
        sum.loop_ns += one->loop_ns;
        add_row(profile, &rows, process, one);
    }
    /* A thread that sleeps while others wait for its lock does not poll: locks.c reports it. */
    const pt_u64 held = pt_whole(pt_value_number(pt_metrics_get(metrics, scope, "sleep.under_lock.calls")));
    const double held_s = pt_value_number(pt_metrics_get(metrics, scope, "sleep.under_lock.total_s"));
    const double cost_s = pt_value_number(pt_split_time_cost(&sleeps->short_ones[stage], profile, stage)) - held_s;
    sum.short_calls -= held < sum.short_calls ? held : sum.short_calls;
    sum.short_ns -= held_s * 1e9 < (double)sum.short_ns ? pt_whole(held_s * 1e9) : sum.short_ns;
    pt_metrics_set(metrics, scope, "sleep.short.calls", pt_integer(sum.short_calls));
    pt_metrics_set(metrics, scope, "sleep.short.mean_s",
                   sum.short_calls ? pt_real((double)sum.short_ns / 1e9 / (double)sum.short_calls)
                                   : pt_unknown("no short sleeps"));
    pt_metrics_set(metrics, scope, "sleep.short.cost_s", pt_real(cost_s > 0 ? cost_s : 0));
    pt_metrics_set(metrics, scope, "sleep.short.timed_wait_percent",
                   sum.short_ns ? pt_real(100 * (double)sum.timed_ns / (double)sum.short_ns)
                                : pt_unknown("no short sleeps"));
    pt_metrics_set(metrics, scope, "sleep.short.loop_percent",
                   sum.short_ns ? pt_real(100 * (double)sum.loop_ns / (double)sum.short_ns)
                                : pt_unknown("no short sleeps"));
    set_worker_share(metrics, scope, "sleep.short.worker_percent", &sleeps->short_ones[stage]);
    set_worker_share(metrics, scope, "sleep.long.worker_percent", &sleeps->long_ones[stage]);
    pt_metrics_set(metrics, scope, "sleep.long.calls", pt_integer(sum.long_calls));
    pt_metrics_set(metrics, scope, "sleep.long.cost_s", pt_split_time_cost(&sleeps->long_ones[stage], profile, stage));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct sleeps *sleeps = state;
    take_off_computing(sleeps);
    add_timed_waits(sleeps);
    add_loops(sleeps);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        finish_stage(sleeps, stage);
    free(sleeps->processes);
    free(sleeps->short_ones);
    free(sleeps->long_ones);
    pt_timed_waits_fini(&sleeps->timed);
    pt_timed_waits_fini(&sleeps->of_loops);
}

const struct pt_analysis pt_analysis_sleeps = {
    .name = "sleeps",
    .summary = "short and long sleeps of main threads, and of those that these wait for",
    .categories = PT_CATEGORY_WAIT,
    .state_size = sizeof(struct sleeps),
    .begin = begin,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
