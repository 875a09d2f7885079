/* SPDX-License-Identifier: MIT
 *
 * cpu_file/switches.c - Owns: the share of switches in the times of threads. Threads: one, while the profile is read.
 * Never: corrects a thread of which records are missing.
 */
#include "switches.h"

#include <stdlib.h>

#include "util/mem.h"

static pt_u64 least(pt_u64 a, pt_u64 b)
{
    return a < b ? a : b;
}

/* What one switch from the CPU and back took. */
static pt_u64 switch_ns(const struct pt_cpu_data *data, const struct pt_cpu_on_cpu *on_cpu)
{
    const struct pt_cpu_times *times = &data->times[on_cpu->thread];
    const pt_u64 switches = times->blocks + times->preemptions;
    if (times->unknown_ns || !switches || on_cpu->on_cpu_ns <= times->on_cpu_ns)
        return 0;
    return least((on_cpu->on_cpu_ns - times->on_cpu_ns) / switches, PT_CPU_LONGEST_SWITCH_NS);
}

static void move(struct pt_cpu_times *times, pt_u64 *from_ns, pt_u64 ns)
{
    ns = least(ns, *from_ns);
    *from_ns -= ns;
    times->on_cpu_ns += ns;
}

/* A recorded wait for a page gets shorter: the sums have it among those of its new length, or the rest of it would look
 * like a wait that was not recorded. */
static void shorten(struct pt_cpu_data *data, struct pt_cpu_interval *interval, pt_u64 ns)
{
    pt_u64 *blocked_ns = data->wait_sums[interval->thread].blocked_ns;
    pt_u64 *was = &blocked_ns[pt_cpu_wait_class(interval->duration_ns)];
    const pt_u64 counted_ns = least(*was, interval->duration_ns);
    interval->t_ns += ns / 2;
    interval->duration_ns -= ns;
    if (interval->kind != PT_CPU_INTERVAL_FAULT)
        return;
    data->fault_sums[interval->thread].waits_ns -= least(ns, data->fault_sums[interval->thread].waits_ns);
    *was -= counted_ns;
    blocked_ns[pt_cpu_wait_class(interval->duration_ns)] += least(counted_ns, interval->duration_ns);
}

void pt_cpu_switches_add(struct pt_cpu_data *data, const struct pt_cpu_on_cpu *on_cpu, size_t n)
{
    pt_u64 *of_thread = n ? pt_calloc(data->n_threads, sizeof *of_thread) : NULL;
    for (size_t i = 0; i < n; i++) {
        struct pt_cpu_times *times = &data->times[on_cpu[i].thread];
        const pt_u64 ns = of_thread[on_cpu[i].thread] = switch_ns(data, &on_cpu[i]);
        move(times, &times->waiting_ns, ns * least(times->blocks, 1ull << 40));
        move(times, &times->preempted_ns, ns * least(times->preemptions, 1ull << 40));
    }
    for (size_t i = 0; i < data->n_intervals && n; i++) {
        struct pt_cpu_interval *interval = &data->intervals[i];
        shorten(data, interval, least(of_thread[interval->thread], interval->duration_ns));
    }
    free(of_thread);
}
