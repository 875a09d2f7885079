/* SPDX-License-Identifier: MIT
 *
 * Owns: recorded calls by the length of the waits that they may be. Threads: one. Never: explains more time than calls
 * lasted, counts a call and what it contains.
 */
#include "off_cpu_calls.h"

#include <stdint.h>
#include <stdlib.h>

#include "util/mem.h"

_Static_assert(PT_CPU_WAIT_CLASSES <= 32 && PT_PART__COUNT <= 32, "a key has 5 bits for each");

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
}

void pt_off_calls_close(struct pt_off_calls *calls)
{
    free(calls->threads);
    pt_map_fini(&calls->ns);
    *calls = (struct pt_off_calls){0};
}

void pt_off_calls_event(struct pt_off_calls *calls, pt_u32 thread, const struct pt_event *event)
{
    if (!calls->threads || !thread || thread >= calls->n_threads)
        return;
    struct pt_off_calls_thread *of = &calls->threads[thread];
    const pt_i64 start_ns = event->start_ns, ns = pt_event_end_ns(event) - start_ns;
    const pt_u32 class = pt_cpu_wait_class(ns > 0 ? (pt_u64)ns : 0);
    if (!(of->unsampled >> class & 1) || start_ns <= of->last_start_ns)
        return;
    of->last_start_ns = start_ns;
    *pt_map_at(&calls->ns, key_of(thread, class, pt_time_part_of_event(event))) += (pt_u64)ns;
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
