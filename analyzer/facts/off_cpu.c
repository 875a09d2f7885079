/* SPDX-License-Identifier: MIT
 *
 * Owns: the reasons and weights of times off the CPU. Threads: one. Never: counts a nanosecond that the kernel's
 * records do not have; explains more time than calls lasted; counts a call and what it contains.
 */
#include "off_cpu.h"

#include <stdint.h>
#include <stdlib.h>

#include "util/mem.h"
#include "util/whole.h"

_Static_assert(PT_CPU_WAIT_CLASSES <= 32 && PT_PART__COUNT <= 32, "a key has 5 bits for each");

/* ---- calls by their length ---- */

static pt_u64 key_of(pt_u32 thread, pt_u32 class, pt_u32 part)
{
    return (pt_u64)thread << 10 | class << 5 | part;
}

void pt_off_calls_open(struct pt_off_calls *calls, const struct pt_cpu_data *data)
{
    *calls = (struct pt_off_calls){0};
    if (!data || !(data->header.flags & PT_CPU_WAITS))
        return;
    calls->n_threads = (pt_u32)data->n_threads;
    calls->threads = pt_calloc(data->n_threads, sizeof *calls->threads);
    for (pt_u32 i = 0; i < data->n_threads; i++) {
        calls->threads[i].last_start_ns = INT64_MIN;
        for (pt_u32 class = 0; class < PT_CPU_WAIT_CLASSES; class ++)
            calls->threads[i].unsampled |= (pt_u32)(data->wait_sums[i].blocked_ns[class] > 0) << class;
    }
    for (size_t i = 0; i < data->n_waits; i++)
        if (!(data->waits[i].flags & PT_CPU_WAIT_PREEMPTED))
            calls->threads[data->waits[i].thread].unsampled &=
                ~((pt_u32)1 << pt_cpu_wait_class(data->waits[i].duration_ns));
    calls->threads[0].unsampled = 0; /* thread 0 = unknown */
}

void pt_off_calls_close(struct pt_off_calls *calls)
{
    free(calls->threads);
    pt_map_fini(&calls->ns);
    *calls = (struct pt_off_calls){0};
}

void pt_off_calls_add(struct pt_off_calls *calls, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns, pt_u32 part)
{
    struct pt_off_calls_thread *of = &calls->threads[thread];
    const pt_i64 ns = end_ns - start_ns;
    const pt_u32 class = pt_cpu_wait_class(ns > 0 ? (pt_u64)ns : 0);
    if (!(of->unsampled >> class & 1) || start_ns <= of->last_start_ns)
        return;
    of->last_start_ns = start_ns;
    *pt_map_at(&calls->ns, key_of(thread, class, part)) += (pt_u64)ns;
}

void pt_off_calls_split(const struct pt_off_calls *calls, pt_u32 thread, pt_u32 class, pt_u64 all_ns,
                        double to_s[PT_PART__COUNT])
{
    double part_ns[PT_PART__COUNT] = {0}, sum_ns = 0;
    for (pt_u32 part = 0; part < PT_PART__COUNT; part++) {
        const pt_u64 *ns = pt_map_find(&calls->ns, key_of(thread, class, part));
        part_ns[part] = ns ? (double)*ns : 0;
        sum_ns += part_ns[part];
    }
    const double scale = sum_ns > (double)all_ns ? (double)all_ns / sum_ns : 1;
    for (int part = 0; part < PT_PART__COUNT; part++)
        to_s[part] += scale * part_ns[part] / 1e9;
    if (sum_ns < (double)all_ns)
        to_s[PT_PART_unattributed] += ((double)all_ns - sum_ns) / 1e9;
}

/* ---- how much ---- */

static pt_u32 class_of(const struct pt_cpu_state *state)
{
    return state->flags & PT_CPU_PREEMPTED ? PT_CPU_WAIT_CLASSES
                                           : pt_cpu_wait_class((pt_u64)(state->end_ns - state->start_ns));
}

struct pt_off_weights pt_off_cpu_weigh(const struct pt_cpu_timeline *timeline, pt_u32 thread)
{
    const struct pt_cpu_wait_sums *sums = &timeline->data->wait_sums[thread];
    struct pt_off_weights weights = {0};
    for (pt_u32 class = 0; class < PT_CPU_WAIT_CLASSES; class ++)
        weights.all_ns[class] = (double)sums->blocked_ns[class];
    weights.all_ns[PT_CPU_WAIT_CLASSES] = (double)sums->preempted_ns;
    for (size_t i = timeline->first[thread]; i < timeline->first[thread + 1]; i++) {
        const struct pt_cpu_state *state = &timeline->states[i];
        if (state->flags & PT_CPU_HAS_STACK)
            weights.sampled_ns[class_of(state)] += (double)(state->end_ns - state->start_ns);
    }
    return weights;
}

double pt_off_cpu_s(const struct pt_off_weights *weights, const struct pt_cpu_state *state)
{
    const pt_u32 class = class_of(state);
    const double ns = (double)(state->end_ns - state->start_ns), sampled_ns = weights->sampled_ns[class];
    const double share = sampled_ns > 0 ? ns / sampled_ns : 0;
    /* Without sums, as when the launcher was killed, each represents only itself. */
    return (weights->all_ns[class] > sampled_ns ? share * weights->all_ns[class] : ns) / 1e9;
}

double pt_off_cpu_unsampled_s(const struct pt_off_calls *calls, pt_u32 thread, const struct pt_off_weights *weights,
                              double to_s[PT_PART__COUNT])
{
    double all_s = 0;
    for (pt_u32 class = 0; class < PT_OFF_CLASSES; class ++) {
        if (weights->sampled_ns[class] > 0)
            continue;
        all_s += weights->all_ns[class] / 1e9;
        if (class < PT_CPU_WAIT_CLASSES)
            pt_off_calls_split(calls, thread, class, pt_whole(weights->all_ns[class]), to_s);
        else
            to_s[PT_PART_runnable] += weights->all_ns[class] / 1e9;
    }
    return all_s;
}

/* ---- why ---- */

const char *pt_off_cpu_unsampled_reason(enum pt_time_part part)
{
    return part == PT_PART_unattributed ? "Unknown"
           : part == PT_PART_native     ? "Other calls" /* fork, mmap ... */
                                        : pt_time_parts[part].label;
}

enum pt_time_part pt_off_cpu_part(const struct pt_cpu_state *state)
{
    if (state->flags & PT_CPU_PREEMPTED)
        return PT_PART_runnable;
    if (state->flags & PT_CPU_FAULT)
        return PT_PART_page_fault;
    return state->part ? (enum pt_time_part)(state->part - 1) : PT_PART_unattributed;
}

const char *pt_off_cpu_reason(const struct pt_cpu_state *state)
{
    if (state->flags & PT_CPU_PREEMPTED)
        return pt_time_parts[PT_PART_runnable].label;
    if (state->flags & PT_CPU_FAULT)
        return pt_time_parts[PT_PART_page_fault].label;
    if (!state->part)
        return pt_time_parts[PT_PART_unattributed].label;
    return pt_off_cpu_unsampled_reason((enum pt_time_part)(state->part - 1));
}
