/* SPDX-License-Identifier: MIT
 *
 * timeline_gpu_counters.c - the depth of a process's GPU queue and the memory that it has there, over time.
 *
 * Owns: both sums. One thread. Never: goes on with a depth after records were lost. */
#include "timeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu_names.h"

#define POINTS 20000

static void show_depth(void *context, pt_i64 at_ns, pt_u64 value)
{
    struct pt_timeline_process *process = context;
    const struct pt_timeline_counter counter = {.process = process,
                                                .name = "GPU queue depth",
                                                .series = "launches",
                                                .key = PT_TIMELINE_KEY_DEPTH,
                                                .unit = PT_TIMELINE_UNIT_COUNT};
    if (pt_timeline_in_window(process->timeline, at_ns))
        pt_timeline_show_counter(process->timeline, &counter, at_ns, (pt_f64)value);
}

void pt_timeline_gpu_depth(struct pt_timeline_process *process, pt_i64 at_ns, int step)
{
    struct pt_timeline_gpu *gpu = process->gpu;
    if (gpu->depth_is_unknown)
        return;
    if (!gpu->depth.show) {
        gpu->depth.show = show_depth;
        gpu->depth.context = process;
        gpu->depth.bucket_ns = pt_timeline_shown_ns(process->timeline) / POINTS;
    }
    pt_thinned_add(&gpu->depth, at_ns, gpu->n_waiting += (pt_u64)(pt_i64)step);
}

static void show_memory(void *context, pt_i64 at_ns, pt_u64 value)
{
    struct pt_timeline_memory *memory = context;
    const struct pt_timeline_counter counter = {.process = memory->process,
                                                .name = memory->name,
                                                .series = "bytes",
                                                .key = memory->key,
                                                .unit = PT_TIMELINE_UNIT_BYTES};
    if (pt_timeline_in_window(memory->process->timeline, at_ns))
        pt_timeline_show_counter(memory->process->timeline, &counter, at_ns, (pt_f64)value);
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
    memory->process = process;
    memory->key = key;
    memory->series = (struct pt_thinned){
        .show = show_memory, .context = memory, .bucket_ns = pt_timeline_shown_ns(process->timeline) / POINTS};
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
