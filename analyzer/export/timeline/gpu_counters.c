/* SPDX-License-Identifier: MIT
 *
 * timeline/gpu_counters.c - the depth of a process's GPU queue and the memory that it has there, over time.
 *
 * Owns: both sums. One thread. Never: goes on with a depth after records were lost. */
#include "timeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu_names.h"

#define POINTS 20000

void pt_timeline_gpu_depth(struct pt_timeline_process *process, pt_i64 at_ns, int step)
{
    struct pt_timeline_gpu *gpu = process->gpu;
    if (gpu->depth_is_unknown)
        return;
    if (!gpu->depth.show) {
        gpu->depth_counter = (struct pt_timeline_counter){.process = process,
                                                          .name = "GPU queue depth",
                                                          .series = "launches",
                                                          .key = PT_TIMELINE_KEY_DEPTH,
                                                          .unit = PT_TIMELINE_UNIT_COUNT};
        pt_timeline_show_series(&gpu->depth, &gpu->depth_counter, POINTS);
    }
    pt_thinned_add(&gpu->depth, at_ns, gpu->n_waiting += (pt_u64)(pt_i64)step);
}

/* "0/3" is device memory of GPU 0, "0/3/7" what lies in its pool 7: one counter. */
static struct pt_timeline_memory *memory_of(struct pt_timeline_process *process, pt_u32 place)
{
    struct pt_timeline_gpu *gpu = pt_timeline_gpu_of(process);
    uint64_t *known = pt_map_at(&gpu->places, place);
    if (*known)
        return (void *)(uintptr_t)*known;
    const char *text = pt_process_string(process->process, place);
    char *end = NULL;
    const pt_u32 device = (pt_u32)strtoul(text ? text : "", &end, 10);
    const pt_u32 kind = end && *end == '/' ? (pt_u32)strtoul(end + 1, NULL, 10) : 0;
    const pt_u64 key = PT_TIMELINE_KEY_MEMORY + (device << 3 & 0xfff8) + (kind & 7);
    uint64_t *same = pt_map_at(&gpu->memories, key);
    if (*same) {
        *known = *same;
        return (void *)(uintptr_t)*same;
    }
    struct pt_timeline_memory *memory = pt_calloc(1, sizeof *memory);
    memory->counter = (struct pt_timeline_counter){
        .process = process, .name = memory->name, .series = "bytes", .key = key, .unit = PT_TIMELINE_UNIT_BYTES};
    pt_timeline_show_series(&memory->series, &memory->counter, POINTS);
    snprintf(memory->name, sizeof memory->name, "GPU %u memory (%s)", device, pt_gpu_memory_name(kind));
    *known = *same = (uintptr_t)memory;
    return memory;
}

void pt_timeline_gpu_memory(struct pt_timeline_process *process, const struct pt_event *event)
{
    const struct pt_ev_gpu_memory *change = pt_event_as(event, gpu_memory);
    struct pt_timeline_memory *memory = memory_of(process, event->aux);
    if (event->tag != 1)
        memory->bytes += change->bytes;
    else
        memory->bytes -= change->bytes < memory->bytes ? change->bytes : memory->bytes;
    pt_thinned_add(&memory->series, event->start_ns, memory->bytes);
}

void pt_timeline_gpu_finish(struct pt_timeline_process *process)
{
    struct pt_timeline_gpu *gpu = process->gpu;
    if (!gpu)
        return;
    pt_thinned_flush(&gpu->depth);
    for (size_t i = 0; i < gpu->memories.n; i++)
        pt_thinned_flush(&((struct pt_timeline_memory *)(uintptr_t)gpu->memories.entries[i].value)->series);
}

void pt_timeline_gpu_counters_free(struct pt_timeline_gpu *gpu)
{
    for (size_t i = 0; i < gpu->memories.n; i++)
        free((void *)(uintptr_t)gpu->memories.entries[i].value);
    pt_map_fini(&gpu->memories);
    pt_map_fini(&gpu->places);
}
