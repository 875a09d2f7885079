/* SPDX-License-Identifier: MIT
 *
 * Owns: the sampled waits of a stage's threads, their reasons and weights. Threads: one. Never: counts a nanosecond
 * that the kernel's records do not have.
 */
#include "off_cpu.h"

#include <stdlib.h>

#include "util/auto.h"
#include "util/mem.h"

static int by_thread_and_time(const void *a, const void *b)
{
    const struct pt_off_wait *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x->duration_ns < y->duration_ns ? -1 : x->duration_ns > y->duration_ns;
}

void pt_off_cpu_open(struct pt_off_cpu *off, const struct pt_cpu_threads *threads)
{
    const struct pt_cpu_data *data = threads->data;
    *off = (struct pt_off_cpu){.threads = threads};
    pt_off_calls_open(&off->calls, data);
    if (!data || !data->n_waits)
        return;
    off->n = data->n_waits;
    off->waits = pt_calloc(off->n, sizeof *off->waits);
    off->first = pt_calloc(data->n_threads + 1, sizeof *off->first);
    for (size_t i = 0; i < off->n; i++) {
        const struct pt_cpu_wait *wait = &data->waits[i];
        off->waits[i] = (struct pt_off_wait){.t_ns = (pt_i64)wait->t_ns + threads->shift_ns,
                                             .duration_ns = wait->duration_ns,
                                             .thread = wait->thread,
                                             .node = wait->node,
                                             .flags = wait->flags};
        off->first[wait->thread + 1]++;
    }
    qsort(off->waits, off->n, sizeof *off->waits, by_thread_and_time);
    for (size_t i = 1; i <= data->n_threads; i++)
        off->first[i] += off->first[i - 1];
    off->quiet = pt_calloc(PT_OFF_QUIET, sizeof *off->quiet);
}

void pt_off_cpu_close(struct pt_off_cpu *off)
{
    free(off->waits);
    free(off->first);
    free(off->quiet);
    pt_off_calls_close(&off->calls);
    *off = (struct pt_off_cpu){0};
}

/* ---- why ---- */

/* `next` is the first wait behind the call: calls between it and the one before will find none. The thread's number is
 * that of its tid as long as nobody else has it. */
static void note_quiet(struct pt_off_cpu *off, pt_u32 thread, size_t next, const struct pt_event *event)
{
    const pt_u32 tid = event->thread->tid;
    const pt_u64 *last = pt_map_find(&off->threads->by_tid, tid);
    struct pt_off_quiet *quiet = &off->quiet[tid % PT_OFF_QUIET];
    if (!last || *last != thread || !pt_off_calls_are_quiet(&off->calls, thread))
        return;
    const pt_i64 began_ns = (pt_i64)off->threads->data->threads[thread].start_ns + off->threads->shift_ns;
    const pt_i64 last_ns = next > off->first[thread] ? off->waits[next - 1].t_ns : INT64_MIN;
    *quiet = (struct pt_off_quiet){
        .tid = tid,
        .from_ns = last_ns > began_ns ? last_ns : began_ns,
        .until_ns = next < off->first[thread + 1] ? off->waits[next].t_ns : INT64_MAX,
    };
}

static bool is_quiet(const struct pt_off_cpu *off, const struct pt_event *event, pt_i64 end_ns)
{
    const struct pt_off_quiet *quiet = off->quiet ? &off->quiet[event->thread->tid % PT_OFF_QUIET] : NULL;
    return quiet && quiet->tid == event->thread->tid && event->start_ns > quiet->from_ns && end_ns < quiet->until_ns;
}

/* What a call contains ended before it and came first: the innermost one has the wait. */
void pt_off_cpu_event(struct pt_off_cpu *off, const struct pt_event *event)
{
    if ((!off->n && !off->calls.threads) || event->desc->role != PT_ROLE_SPAN)
        return;
    const pt_i64 end_ns = pt_event_end_ns(event);
    if (is_quiet(off, event, end_ns))
        return;
    const pt_u32 thread = pt_cpu_threads_find(off->threads, event->thread->tid, event->start_ns);
    pt_off_calls_event(&off->calls, thread, event);
    if (!off->n)
        return;
    size_t low = off->first[thread], high = off->first[thread + 1];
    const size_t end = high;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (off->waits[middle].t_ns < event->start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; thread && low < end && off->waits[low].t_ns <= end_ns; low++)
        if (!off->waits[low].part)
            off->waits[low].part = pt_time_part_of_event(event) + 1;
    if (thread)
        note_quiet(off, thread, low, event);
}

const char *pt_off_cpu_reason(const struct pt_off_wait *wait)
{
    if (wait->flags & PT_CPU_WAIT_PREEMPTED)
        return pt_time_parts[PT_PART_runnable].label;
    if (wait->flags & PT_CPU_WAIT_FAULT)
        return pt_time_parts[PT_PART_page_fault].label;
    if (wait->part == PT_PART_native + 1) /* fork, mmap ... */
        return "Other calls";
    return pt_time_parts[wait->part ? wait->part - 1 : PT_PART_unattributed].label;
}

const char *pt_off_cpu_unsampled_reason(enum pt_time_part part)
{
    return part == PT_PART_unattributed ? "Unknown"
           : part == PT_PART_native     ? "Other calls"
                                        : pt_time_parts[part].label;
}

/* ---- how much ---- */

enum { CLASSES = PT_CPU_WAIT_CLASSES + 1 }; /* the last one: preempted */

static pt_u32 class_of(const struct pt_off_wait *wait)
{
    return wait->flags & PT_CPU_WAIT_PREEMPTED ? PT_CPU_WAIT_CLASSES : pt_cpu_wait_class(wait->duration_ns);
}

static void weigh_thread(struct pt_off_cpu *off, pt_u32 thread)
{
    double sampled_ns[CLASSES] = {0};
    const struct pt_cpu_wait_sums *sums = &off->threads->data->wait_sums[thread];
    const size_t from = off->n ? off->first[thread] : 0, until = off->n ? off->first[thread + 1] : 0;
    for (size_t i = from; i < until; i++)
        sampled_ns[class_of(&off->waits[i])] += (double)off->waits[i].duration_ns;
    for (size_t i = from; i < until; i++) {
        const pt_u32 class = class_of(&off->waits[i]);
        const double all_ns = (double)(class < PT_CPU_WAIT_CLASSES ? sums->blocked_ns[class] : sums->preempted_ns);
        const double share = sampled_ns[class] > 0 ? (double)off->waits[i].duration_ns / sampled_ns[class] : 0;
        /* Without sums, as when the launcher was killed, each stands for itself. */
        off->waits[i].s = (all_ns > sampled_ns[class] ? share * all_ns : (double)off->waits[i].duration_ns) / 1e9;
    }
    for (pt_u32 class = 0; class < PT_CPU_WAIT_CLASSES; class ++) {
        if (sampled_ns[class] > 0)
            continue;
        off->unsampled_s += (double)sums->blocked_ns[class] / 1e9;
        pt_off_calls_split(&off->calls, thread, class, sums->blocked_ns[class], off->unsampled_of_s);
    }
    if (sampled_ns[PT_CPU_WAIT_CLASSES] > 0)
        return;
    off->unsampled_s += (double)sums->preempted_ns / 1e9;
    off->unsampled_of_s[PT_PART_runnable] += (double)sums->preempted_ns / 1e9;
}

void pt_off_cpu_weigh(struct pt_off_cpu *off)
{
    for (pt_u32 i = 1; off->threads->data && i < off->threads->data->n_threads; i++)
        weigh_thread(off, i);
}
