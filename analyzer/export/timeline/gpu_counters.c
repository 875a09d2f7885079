/* SPDX-License-Identifier: MIT
 *
 * timeline/gpu_counters.c - the depth of a process's GPU queue and the memory that it has there, over time.
 *
 * Owns: both sums. One thread. Never: continues a depth after records were lost. */
#include "gpu_counters.h"

#include <stdio.h>
#include <stdlib.h>

#include "proftrace/payloads.h"
#include "model/cuda_kinds.h"
#include "gpu_names.h"
#include "show.h"

#define POINTS 20000

struct memory {
    struct pt_timeline_counter counter;
    struct pt_thinned series;
    pt_u64 bytes;
    char name[64];
};

void pt_timeline_gpu_depth(struct pt_timeline_gpu_counters *counters, pt_i64 at_ns, int step)
{
    if (counters->depth_is_unknown)
        return;
    if (!counters->depth.show) {
        counters->depth_counter = (struct pt_timeline_counter){.process = counters->process,
                                                               .name = "GPU queue depth",
                                                               .series = "launches",
                                                               .key = PT_TIMELINE_KEY_DEPTH,
                                                               .unit = PT_TIMELINE_UNIT_COUNT};
        pt_timeline_show_series(&counters->depth, &counters->depth_counter, POINTS);
    }
    pt_thinned_add(&counters->depth, at_ns, counters->n_waiting += (pt_u64)(pt_i64)step);
}

/* "0/3" is device memory of GPU 0, "0/3/7" that in its pool 7: both are one counter. */
static struct memory *memory_of(struct pt_timeline_gpu_counters *counters, pt_u32 place)
{
    uint64_t *known = pt_map_at(&counters->places, place);
    if (*known)
        return (void *)(uintptr_t)*known;
    const char *text = pt_process_string(counters->process->process, place);
    char *end = NULL;
    const pt_u32 device = (pt_u32)strtoul(text ? text : "", &end, 10);
    const pt_u32 kind = end && *end == '/' ? (pt_u32)strtoul(end + 1, NULL, 10) : 0;
    const pt_u64 key = PT_TIMELINE_KEY_MEMORY + (device << 3 & 0xfff8) + (kind & 7);
    uint64_t *same = pt_map_at(&counters->memories, key);
    if (*same) {
        *known = *same;
        return (void *)(uintptr_t)*same;
    }
    struct memory *memory = pt_calloc(1, sizeof *memory);
    memory->counter = (struct pt_timeline_counter){.process = counters->process,
                                                   .name = memory->name,
                                                   .series = "bytes",
                                                   .key = key,
                                                   .unit = PT_TIMELINE_UNIT_BYTES};
    pt_timeline_show_series(&memory->series, &memory->counter, POINTS);
    snprintf(memory->name, sizeof memory->name, "GPU %u memory (%s)", device, pt_cuda_memory_kind(kind)->torch);
    *known = *same = (uintptr_t)memory;
    return memory;
}

void pt_timeline_gpu_memory(struct pt_timeline_gpu_counters *counters, const struct pt_event *event)
{
    const struct pt_ev_gpu_memory *change = pt_event_as(event, gpu_memory);
    struct memory *memory = memory_of(counters, event->aux);
    if (event->tag != 1)
        memory->bytes += change->bytes;
    else
        memory->bytes -= change->bytes < memory->bytes ? change->bytes : memory->bytes;
    pt_thinned_add(&memory->series, event->start_ns, memory->bytes);
}

void pt_timeline_gpu_counters_finish(struct pt_timeline_gpu_counters *counters)
{
    if (counters->depth_is_unknown)
        pt_thinned_flush(&counters->depth);
    else
        pt_timeline_end_series(counters->process, &counters->depth);
    for (size_t i = 0; i < counters->memories.n; i++)
        pt_timeline_end_series(counters->process,
                               &((struct memory *)(uintptr_t)counters->memories.entries[i].value)->series);
}

void pt_timeline_gpu_counters_free(struct pt_timeline_gpu_counters *counters)
{
    for (size_t i = 0; i < counters->memories.n; i++)
        free((void *)(uintptr_t)counters->memories.entries[i].value);
    pt_map_fini(&counters->memories);
    pt_map_fini(&counters->places);
}
