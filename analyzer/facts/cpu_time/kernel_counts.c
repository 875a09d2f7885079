/* SPDX-License-Identifier: MIT
 *
 * Owns: the kernel's counts of threads, and what follows from them for the profiles. Threads: one while there are
 * events, then any. Never: gives a thread less than the kernel counted for it.
 */
#include "kernel_counts.h"

#include <math.h>
#include <stdlib.h>

#include "facts/workers.h"
#include "model/window.h"
#include "proftrace/format.h"
#include "proftrace/payloads.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/whole.h"

/* Below this much CPU time of threads that the kernel's count is known of, what was stolen is not measured. */
#define LEAST_KNOWN_NS 100e6
/* The kernel takes this long, at most, to take a process apart: it is counted as the process's own. */
#define END_NS 5e6

void pt_kernel_counts_open(struct pt_kernel_counts *counts, const struct pt_thread_ids *ids)
{
    *counts = (struct pt_kernel_counts){ids, pt_calloc(pt_n_threads(ids) + 1, sizeof *counts->threads)};
}

void pt_kernel_counts_close(struct pt_kernel_counts *counts)
{
    free(counts->threads);
    *counts = (struct pt_kernel_counts){0};
}

void pt_kernel_counts_call(struct pt_kernel_counts *counts, const struct pt_event *call, enum pt_time_part part,
                           pt_i64 own_ns)
{
    pt_thread_clock_call(&counts->threads[pt_thread_number(counts->ids, call->thread)].clock, call, part, own_ns);
}

void pt_kernel_counts_point(struct pt_kernel_counts *counts, const struct pt_event *event)
{
    if (event->desc->id == PT_EV_proc_exec || event->desc->id == PT_EV_proc_exec_failed)
        pt_thread_clock_exec(&counts->threads[pt_thread_number(counts->ids, event->thread)].clock,
                             event->desc->id == PT_EV_proc_exec_failed);
}

void pt_kernel_counts_read(struct pt_kernel_counts *counts, const struct pt_event *e)
{
    /* The last reading of a thread may have been made by another one, at the end of the process. */
    const struct pt_thread *thread =
        e->aux ? pt_thread_of_tid(counts->ids, e->process, e->aux, e->start_ns) : e->thread;
    const struct pt_kernel_reading now = {e->start_ns, pt_event_as(e, thread_clock)->on_cpu_ns};
    /* Devices have slots, but no clock: libraries before noted their caller's for them. */
    if (!thread || thread->process != e->process || thread->tid >= PT_DEVICE_TID)
        return;
    struct pt_kernel_count *count = &counts->threads[pt_thread_number(counts->ids, thread)];
    pt_thread_clock_read(&count->clock, thread->start_ns, e);
    if (!count->is_read)
        count->first = now;
    if (!count->is_read || now.on_cpu_ns >= count->last.on_cpu_ns)
        count->last = now;
    count->is_read = true;
}

/* ---- the profile of a stage ---- */

/* Of its life behind a reading no more than it was seen running, and no more than there was of it. */
static double after(const struct pt_cpu_timeline *cpu, pt_u32 thread, pt_i64 reading_ns)
{
    const struct pt_cpu_state *states;
    const pt_i64 end_ns = (pt_i64)cpu->data->times[thread].end_ns + cpu->shift_ns;
    const size_t n = pt_cpu_states(cpu, thread, reading_ns, INT64_MAX, &states);
    double samples = 1;
    for (size_t i = 0; i < n; i++)
        samples += states[i].flags & PT_CPU_RAN ? 1 : 0;
    return fmax(fmin((double)(end_ns - reading_ns), samples * (double)cpu->data->header.period_ns), 0);
}

/* By thread of the profile: the best reading of the library; without one it is 0. */
static struct pt_kernel_reading *library_readings(const struct pt_kernel_counts *counts,
                                                  const struct pt_cpu_profiles *cpu, pt_u32 stage)
{
    const struct pt_session *session = counts->ids->session;
    struct pt_kernel_reading *readings = pt_calloc(cpu->timelines[stage].data->n_threads, sizeof *readings);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        for (pt_u32 j = 0; cpu->stage_of[i] == stage && j < session->processes[i]->n_threads; j++) {
            const pt_u32 thread = counts->ids->first[i] + j, number = cpu->numbers[thread];
            const struct pt_kernel_count *count = &counts->threads[thread];
            if (number && count->is_read && count->last.on_cpu_ns > readings[number].on_cpu_ns)
                readings[number] = count->last;
        }
    return readings;
}

/* What the thread ran by the kernel's count; NAN = there is none. */
static double counted_ns(const struct pt_cpu_timeline *cpu, pt_u32 thread, const struct pt_kernel_reading *library)
{
    const struct pt_cpu_kernel *launcher = &cpu->data->kernel[thread];
    const double seen_ns = (double)cpu->data->times[thread].on_cpu_ns;
    if (launcher->kernel_on_ns > library->on_cpu_ns) {
        const double then_ns = (double)launcher->seen_on_ns, is_ns = (double)launcher->kernel_on_ns;
        return is_ns + fmax(seen_ns - then_ns, 0) * (then_ns > LEAST_KNOWN_NS ? fmin(is_ns / then_ns, 1) : 1);
    }
    if (!library->on_cpu_ns)
        return NAN;
    const double is_ns = (double)library->on_cpu_ns;
    return is_ns + fmin(fmax(seen_ns - is_ns, 0), after(cpu, thread, library->at_ns));
}

static void set(struct pt_cpu_times *times, double on_ns)
{
    const pt_u64 ns = pt_whole(fmax(on_ns, 0));
    if (ns < times->on_cpu_ns) {
        times->preempted_ns += times->on_cpu_ns - ns;
        times->run_delay_ns += times->on_cpu_ns - ns;
    }
    times->on_cpu_ns = ns;
}

/* What is known of no thread is as with the others: a hypervisor takes CPUs from all of them. */
static void settle(const struct pt_kernel_counts *counts, const struct pt_cpu_profiles *profiles, pt_u32 stage)
{
    const struct pt_cpu_timeline *cpu = &profiles->timelines[stage];
    PT_AUTO(pt_freep) struct pt_kernel_reading *readings = library_readings(counts, profiles, stage);
    PT_AUTO(pt_freep) double *counted = pt_calloc(cpu->data->n_threads, sizeof *counted);
    double known_ns = 0, seen_ns = 0;
    for (pt_u32 i = 1; i < cpu->data->n_threads; i++) {
        counted[i] = counted_ns(cpu, i, &readings[i]);
        known_ns += isnan(counted[i]) ? 0 : counted[i];
        seen_ns += isnan(counted[i]) ? 0 : (double)cpu->data->times[i].on_cpu_ns;
    }
    const double share = seen_ns > LEAST_KNOWN_NS ? fmin(known_ns / seen_ns, 1) : 1;
    for (pt_u32 i = 1; i < cpu->data->n_threads; i++)
        set(&cpu->data->times[i], isnan(counted[i]) ? share * (double)cpu->data->times[i].on_cpu_ns : counted[i]);
}

void pt_kernel_counts_settle(const struct pt_kernel_counts *counts, struct pt_cpu_profiles *cpu,
                             struct pt_cpu_view *views)
{
    for (pt_u32 stage = 0; stage < cpu->n_stages; stage++) {
        if (!cpu->timelines[stage].data)
            continue;
        settle(counts, cpu, stage);
        if (views)
            pt_cpu_view_weigh(&views[stage]);
    }
}

/* ---- images of processes ---- */

/* Of the whole process up to the end of this image. A process that was killed noted its time some while before. */
static double process_ns(const struct pt_kernel_counts *counts, const struct pt_cpu_profiles *cpu,
                         const struct pt_process *process)
{
    const struct pt_cpu_data *data = cpu->timelines[cpu->stage_of[process->index]].data;
    double ns = 0;
    if (pt_session_is_window(process->session))
        return NAN;
    if (process->state == PT_PROCESS_EXECED)
        return process->cpu_ns ? (double)process->cpu_ns : NAN;
    for (pt_u32 i = 0; i < process->n_threads; i++) {
        const pt_u32 thread = counts->ids->first[process->index] + i, number = cpu->numbers[thread];
        const struct pt_kernel_count *count = &counts->threads[thread];
        ns += number ? (double)data->times[number].on_cpu_ns : count->is_read ? (double)count->last.on_cpu_ns : 0;
    }
    ns = fmax(ns, (double)process->cpu_ns);
    return ns > 0 ? ns : NAN;
}

/* Before its recorded life began: what it cannot have run since then. */
static double early_ns(const struct pt_process *process, const struct pt_kernel_count *count, double before_ns)
{
    const double lived_ns = fmax((double)(count->first.at_ns - process->start_ns), 0);
    return count->is_read ? fmax((double)count->first.on_cpu_ns - before_ns - lived_ns, 0) : 0;
}

/* Who starts a program and then calls nothing waits for its end, as a shell does: what it used meanwhile is little. One
 * that starts a monitor before it computes is mostly heard of after that; one that makes workers may compute beside
 * them. Of more processes than a few thousand that began later nobody is asked: it may have done anything. */
static pt_i64 waited_until_ns(const struct pt_process *process, pt_i64 heard_ns)
{
    enum { START_NS = 100000000, MOST_LATER = 4096 };
    const struct pt_session *session = process->session;
    const bool is_script = pt_runs_scripts(process);
    pt_i64 until_ns = heard_ns;
    if (!process->has_children ||
        (session->n_processes > MOST_LATER &&
         session->processes[session->n_processes - MOST_LATER]->start_ns >= heard_ns - START_NS))
        return until_ns;
    for (pt_u32 i = session->n_processes; i-- > 0 && session->processes[i]->start_ns >= heard_ns - START_NS;) {
        const struct pt_process *child = session->processes[i];
        const pt_i64 end_ns = pt_process_end_is_open(child) ? child->gone_ns : child->end_ns;
        if (child->parent == process && end_ns > until_ns && (is_script || !pt_is_worker(child)))
            until_ns = end_ns;
    }
    return until_ns < process->end_ns ? until_ns : process->end_ns;
}

/* The last sign of what the main thread used: of another, which may but wait a second at a time, none of it follows. */
static pt_i64 heard_of_main_ns(const struct pt_kernel_counts *counts, const struct pt_process *process)
{
    const struct pt_thread *main_one = pt_main_thread(process);
    pt_i64 heard_ns =
        process->cpu_ns && process->cpu_noted_ns > process->start_ns ? process->cpu_noted_ns : process->start_ns;
    if (!main_one)
        return heard_ns;
    const struct pt_kernel_count *count = &counts->threads[pt_thread_number(counts->ids, main_one)];
    heard_ns = main_one->end_ns > heard_ns ? main_one->end_ns : heard_ns;
    return count->is_read && count->last.at_ns > heard_ns ? count->last.at_ns : heard_ns;
}

/* What a process that was killed may have used since anything was last heard of it: the program that computes for an
 * hour and calls nothing seemed to have used what its start did. */
static double unheard_ns(const struct pt_kernel_counts *counts, const struct pt_cpu_profiles *cpu,
                         const struct pt_process *process)
{
    if (process->state != PT_PROCESS_LIVE)
        return 0;
    for (pt_u32 i = 0; i < process->n_threads; i++)
        if (cpu->numbers[counts->ids->first[process->index] + i])
            return 0;
    const pt_i64 heard_ns = heard_of_main_ns(counts, process);
    return (double)(process->end_ns - waited_until_ns(process, heard_ns));
}

bool pt_may_be_much_more(double unheard_ns, double noted_ns)
{
    const double most_share = 0.5, least_ns = 20e6;
    return unheard_ns > least_ns + noted_ns * most_share;
}

struct pt_image_use pt_kernel_counts_image(const struct pt_kernel_counts *counts, const struct pt_cpu_profiles *cpu,
                                           const struct pt_process *process)
{
    static const struct pt_kernel_count none;
    const struct pt_thread *main_one = pt_main_thread(process);
    const struct pt_kernel_count *count = main_one ? &counts->threads[pt_thread_number(counts->ids, main_one)] : &none;
    const double before_ns = process->previous_image ? (double)process->previous_image->cpu_ns : 0;
    const double recorded_ns = fmax((double)(process->end_ns - process->start_ns), 0);
    const double most_ns = recorded_ns * (process->n_threads ? process->n_threads : 1);
    struct pt_image_use use = {process_ns(counts, cpu, process) - before_ns, NAN, recorded_ns, NAN, 0};
    if (!(use.cpu_ns >= 0)) {
        use.cpu_ns = NAN;
        return use;
    }
    const double unrecorded_ns = fmin(early_ns(process, count, before_ns), use.cpu_ns);
    use.lived_ns = recorded_ns + unrecorded_ns;
    use.recorded_cpu_ns = use.cpu_ns - unrecorded_ns;
    /* What ran on while the process ended is no longer recorded life. */
    if (use.recorded_cpu_ns > most_ns && use.recorded_cpu_ns < most_ns + END_NS)
        use.recorded_cpu_ns = most_ns;
    if (recorded_ns > 0 && use.recorded_cpu_ns <= most_ns)
        use.percent = 100 * use.recorded_cpu_ns / recorded_ns;
    use.unheard_ns = fmax(unheard_ns(counts, cpu, process), 0);
    return use;
}
