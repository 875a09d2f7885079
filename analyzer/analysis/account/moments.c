/* SPDX-License-Identifier: MIT
 *
 * What the kernel's records say about the threads of a stage beside their calls: when one was preempted, when it waited
 * for a page, where it was seen computing. What lies inside of a recorded call is part of that.
 *
 * Threads: one. State: a mark for each sample and interval of the CPU profile. Never: takes libc's code for native when
 * the interpreter called it.
 */
#include "moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_file/cpu_data.h"
#include "facts/python.h"

static const char no_launcher[] = "needs the launcher's sampling: start the command with proftrace run";

/* ---- reading ---- */

/* copying and allocating are what the caller does: libc, and ourselves around it */
static bool is_servant(const char *path)
{
    static const char *const names[] = {"libc.so", "libc-", "libm.so", "libm-", "libpthread", "libproftrace"};
    const char *base = pt_base_name(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(base, names[i], strlen(names[i])))
            return true;
    return false;
}

static bool is_python(const struct pt_cpu_data *data, pt_u32 node)
{
    while (node && is_servant(data->modules[data->nodes[node].module].path))
        node = data->nodes[node].parent;
    return node && pt_is_python_file(data->modules[data->nodes[node].module].path);
}

static int by_time(const void *a, const void *b)
{
    const struct account_interval *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* A file may claim any time: wraps around instead of being undefined. */
static pt_i64 shifted(pt_u64 t_ns, pt_i64 shift_ns)
{
    return (pt_i64)(t_ns + (pt_u64)shift_ns);
}

static void take_intervals(struct account_moments *moments, const struct pt_cpu_data *data, pt_i64 shift_ns)
{
    moments->intervals = pt_calloc(data->n_intervals + 1, sizeof *moments->intervals);
    moments->first = pt_calloc(data->n_threads + 2, sizeof *moments->first);
    for (size_t i = 0; i < data->n_intervals; i++)
        if (data->intervals[i].kind <= PT_CPU_INTERVAL_FAULT)
            moments->first[data->intervals[i].thread + 2]++;
    for (size_t i = 2; i < data->n_threads + 2; i++)
        moments->first[i] += moments->first[i - 1];
    for (size_t i = 0; i < data->n_intervals; i++) {
        const struct pt_cpu_interval *one = &data->intervals[i];
        if (one->kind > PT_CPU_INTERVAL_FAULT)
            continue;
        const pt_i64 start_ns = shifted(one->t_ns, shift_ns);
        moments->intervals[moments->first[one->thread + 1]++] = (struct account_interval){
            .start_ns = start_ns,
            .end_ns = shifted(one->duration_ns, start_ns),
            .is_fault = one->kind == PT_CPU_INTERVAL_FAULT,
        };
    }
    for (size_t i = 0; i < data->n_threads; i++)
        qsort(moments->intervals + moments->first[i], moments->first[i + 1] - moments->first[i],
              sizeof *moments->intervals, by_time);
}

static void take_all(struct account_moments *moments, const struct pt_cpu_threads *cpu, const struct pt_process *root)
{
    const struct pt_cpu_data *data = cpu->data;
    /* The profile's times on the clock of the trace: by the clock that both have, where the root noted it. */
    const pt_i64 shift_ns = shifted(data->header.begin_monotonic_ns - root->start_monotonic_ns, root->start_ns);
    moments->cpu = cpu;
    moments->sample_shift_ns = shifted(0 - (pt_u64)cpu->shift_ns, shift_ns);
    moments->is_python = pt_calloc(data->n_nodes + 1, sizeof *moments->is_python);
    for (pt_u32 node = 1; node < data->n_nodes; node++)
        moments->is_python[node] = is_python(data, node);
    moments->is_inside = pt_calloc(data->n_samples + data->n_waits + 1, sizeof *moments->is_inside);
    take_intervals(moments, data, shift_ns);
    moments->next_interval = pt_calloc(data->n_threads + 1, sizeof *moments->next_interval);
    moments->next_sample = pt_calloc(data->n_threads + 1, sizeof *moments->next_sample);
    for (size_t i = 0; i < data->n_threads; i++) {
        moments->next_interval[i] = moments->first[i];
        moments->next_sample[i] = cpu->first[i];
        moments->faults += i ? (double)data->fault_sums[i].faults : 0;
        moments->fault_ns += i ? (double)data->fault_sums[i].waits_ns : 0;
    }
}

void pt_account_moments_open(struct account_moments *moments, struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_stage *one = &profile->stages.items[stage];
    const struct pt_cpu_data *data = profile->cpu ? profile->cpu[stage].data : NULL;
    moments->fault_reason = no_launcher;
    if (!one->root || !data)
        return;
    const pt_u32 flags = data->header.flags;
    moments->has_faults = flags & PT_CPU_FAULTS;
    moments->is_user_only = flags & PT_CPU_USER_ONLY;
    moments->period_ns = (double)data->header.period_ns;
    moments->has_samples = data->totals.samples <= data->n_samples;
    moments->fault_reason = data->note
                                ? pt_metrics_text(&profile->metrics, data->note)
                                : "the CPU profile has no page faults: the kernel refused them, or it is an old one";
    take_all(moments, &profile->cpu[stage], one->root);
}

void pt_account_moments_close(struct account_moments *moments)
{
    free(moments->intervals);
    free(moments->first);
    free(moments->next_interval);
    free(moments->next_sample);
    free(moments->is_inside);
    free(moments->is_python);
}

pt_u32 pt_account_moments_thread(const struct account_moments *moments, const struct pt_thread *thread)
{
    enum { SLACK_NS = 1000000 }; /* of two clocks that were read one after the other */
    const struct pt_cpu_threads *cpu = moments->cpu;
    if (!cpu)
        return 0;
    const pt_u32 number = pt_cpu_threads_find(cpu, thread->tid, thread->start_ns + SLACK_NS);
    return number && cpu->data->threads[number].pid == thread->process->pid ? number : 0;
}

/* ---- inside or outside ---- */

static pt_i64 middle_of(const struct account_interval *interval)
{
    return interval->start_ns + (interval->end_ns - interval->start_ns) / 2;
}

static pt_i64 enclose(struct account_interval *interval)
{
    const bool counts = !interval->is_inside && !interval->is_fault;
    interval->is_inside = true;
    return counts ? interval->end_ns - interval->start_ns : 0;
}

/* Calls of a thread come in the order of their ends: what lies before the last one's end is seen again only by a call
 * around that one. */
static pt_i64 intervals_in(struct account_moments *moments, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns)
{
    const size_t first = moments->first[thread], n = moments->first[thread + 1];
    size_t back = moments->next_interval[thread], *next = &moments->next_interval[thread];
    pt_i64 preempted_ns = 0;
    while (back > first && middle_of(&moments->intervals[back - 1]) >= start_ns)
        preempted_ns += enclose(&moments->intervals[--back]);
    for (; *next < n && middle_of(&moments->intervals[*next]) <= end_ns; ++*next)
        if (middle_of(&moments->intervals[*next]) >= start_ns)
            preempted_ns += enclose(&moments->intervals[*next]);
    return preempted_ns;
}

static void samples_in(struct account_moments *moments, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns)
{
    const struct pt_cpu_threads *cpu = moments->cpu;
    const size_t first = cpu->first[thread], n = cpu->first[thread + 1];
    size_t back = moments->next_sample[thread], *next = &moments->next_sample[thread];
    start_ns = shifted(0 - (pt_u64)moments->sample_shift_ns, start_ns);
    end_ns = shifted(0 - (pt_u64)moments->sample_shift_ns, end_ns);
    while (back > first && cpu->moments[back - 1].t_ns >= start_ns)
        moments->is_inside[--back] = true;
    for (; *next < n && cpu->moments[*next].t_ns <= end_ns; ++*next)
        moments->is_inside[*next] = cpu->moments[*next].t_ns >= start_ns;
}

/* From the last interval and sample behind which the calls so far have come to the first before which they are. */
static struct account_quiet quiet_around(const struct account_moments *moments, pt_u32 thread)
{
    const struct pt_cpu_moment *samples = moments->cpu->moments;
    const size_t interval = moments->next_interval[thread], sample = moments->next_sample[thread];
    struct account_quiet quiet = {INT64_MIN, INT64_MAX};
    if (interval > moments->first[thread])
        quiet.from_ns = middle_of(&moments->intervals[interval - 1]);
    if (interval < moments->first[thread + 1])
        quiet.until_ns = middle_of(&moments->intervals[interval]);
    if (sample > moments->cpu->first[thread]) {
        const pt_i64 t_ns = shifted((pt_u64)moments->sample_shift_ns, samples[sample - 1].t_ns);
        quiet.from_ns = t_ns > quiet.from_ns ? t_ns : quiet.from_ns;
    }
    if (sample < moments->cpu->first[thread + 1]) {
        const pt_i64 t_ns = shifted((pt_u64)moments->sample_shift_ns, samples[sample].t_ns);
        quiet.until_ns = t_ns < quiet.until_ns ? t_ns : quiet.until_ns;
    }
    return quiet;
}

pt_i64 pt_account_moments_in(struct account_moments *moments, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns,
                             struct account_quiet *ret_quiet)
{
    samples_in(moments, thread, start_ns, end_ns);
    const pt_i64 preempted_ns = intervals_in(moments, thread, start_ns, end_ns);
    *ret_quiet = quiet_around(moments, thread);
    return preempted_ns;
}

/* ---- between two times ---- */

static bool is_sample(const struct pt_cpu_moment *moment)
{
    return moment->end_ns == moment->t_ns;
}

void pt_account_moments_between(const struct account_moments *moments, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns,
                                struct account_between *between)
{
    const struct pt_cpu_moment *found;
    size_t low = moments->first[thread], high = moments->first[thread + 1];
    const size_t end = high;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (moments->intervals[middle].end_ns <= start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && moments->intervals[low].start_ns < end_ns; low++) {
        const struct account_interval *one = &moments->intervals[low];
        const pt_i64 from_ns = one->start_ns > start_ns ? one->start_ns : start_ns;
        const pt_i64 to_ns = one->end_ns < end_ns ? one->end_ns : end_ns;
        *(one->is_fault ? &between->fault_ns : &between->preempted_ns) += (double)(to_ns - from_ns);
    }
    const size_t n = pt_cpu_threads_moments(moments->cpu, thread, start_ns - moments->sample_shift_ns,
                                            end_ns - moments->sample_shift_ns, &found);
    for (size_t i = 0; i < n; i++)
        if (is_sample(&found[i]))
            (*(moments->is_python[found[i].node] ? &between->python : &between->native))++;
}

double pt_account_moments_sample_ns(const struct account_moments *moments, pt_u32 thread)
{
    const struct pt_cpu_times *times = &moments->cpu->data->times[thread];
    const double on_ns = times->samples ? (double)times->on_cpu_ns / (double)times->samples : 0;
    return on_ns > 0 && on_ns < 2 * moments->period_ns ? on_ns : moments->period_ns;
}

/* ---- results ---- */

void pt_account_moments_result(const struct account_moments *moments, pt_u32 thread, struct account_cpu *cpu)
{
    double python = 0, samples = 0, preempted_ns = 0, fault_ns = 0, all_fault_ns = 0;
    cpu->fault_reason = moments->fault_reason;
    cpu->fault_s = cpu->samples_s = NAN;
    if (!thread)
        return;
    for (size_t i = moments->first[thread]; i < moments->first[thread + 1]; i++) {
        const struct account_interval *one = &moments->intervals[i];
        const double ns = (double)(one->end_ns - one->start_ns);
        preempted_ns += one->is_fault ? 0 : ns;
        all_fault_ns += one->is_fault ? ns : 0;
        fault_ns += one->is_fault && !one->is_inside ? ns : 0;
    }
    for (size_t i = moments->cpu->first[thread]; i < moments->cpu->first[thread + 1]; i++)
        if (is_sample(&moments->cpu->moments[i]) && !moments->is_inside[i]) {
            samples++;
            python += moments->is_python[moments->cpu->moments[i].node];
        }
    /* More of them than were kept one by one. */
    fault_ns += fmax((double)moments->cpu->data->fault_sums[thread].waits_ns - all_fault_ns, 0);
    cpu->preempted_s = preempted_ns / 1e9;
    if (moments->has_faults)
        cpu->fault_s = fault_ns / 1e9;
    if (moments->is_user_only && moments->has_samples)
        cpu->samples_s = samples * moments->period_ns / 1e9;
    if (moments->has_samples && samples > 0)
        cpu->python_share = python / samples;
}
