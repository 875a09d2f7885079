/* SPDX-License-Identifier: MIT
 *
 * gpu_names.c - Owns nothing; any thread. */
#include "gpu_names.h"

#include <stdio.h>
#include <stdlib.h>

#include "proftrace/cuda.h"
#include "proftrace/payloads.h"
#include "model/cuda_kinds.h"
#include "symbols/demangle.h"
#include "util/auto.h"
#include "util/mem.h"

void pt_gpu_copy_name(char name[PT_GPU_NAME_BYTES], pt_u32 kinds)
{
    const pt_u32 copy = pt_cuda_copy_of(kinds), from = pt_cuda_copy_source(kinds), to = pt_cuda_copy_target(kinds);
    snprintf(name, PT_GPU_NAME_BYTES, "Memcpy %s (%s -> %s)", pt_cuda_copy_kind(copy)->torch,
             pt_cuda_memory_kind(from)->torch, pt_cuda_memory_kind(to)->torch);
}

void pt_gpu_set_name(char name[PT_GPU_NAME_BYTES], pt_u32 kinds)
{
    snprintf(name, PT_GPU_NAME_BYTES, "Memset (%s)", pt_cuda_memory_kind(pt_cuda_copy_target(kinds))->torch);
}

const char *pt_gpu_sync_name(pt_i32 kind)
{
    switch (kind) {
    case PT_CUDA_SYNC_EVENT:
        return "Event Sync";
    case PT_CUDA_SYNC_STREAM_WAIT_EVENT:
        return "Stream Wait Event";
    case PT_CUDA_SYNC_STREAM:
        return "Stream Sync";
    case PT_CUDA_SYNC_CONTEXT:
        return "Context Sync";
    default:
        return "Unknown Sync";
    }
}

const char *pt_gpu_overhead_name(pt_i32 kind)
{
    switch (kind) {
    case PT_CUDA_OVERHEAD_COMPILER:
        return "just-in-time compiling";
    case PT_CUDA_OVERHEAD_BUFFER_FLUSH:
        return "flushing CUPTI buffers";
    case PT_CUDA_OVERHEAD_INSTRUMENTATION:
        return "CUPTI instrumentation";
    case PT_CUDA_OVERHEAD_RESOURCE:
        return "CUPTI resources";
    case PT_CUDA_OVERHEAD_MODULE_LOADING:
        return "module loading";
    case PT_CUDA_OVERHEAD_LAZY_LOADING:
        return "lazy loading";
    case PT_CUDA_OVERHEAD_QUEUE_FULL:
        return "command queue full";
    case PT_CUDA_OVERHEAD_ACTIVITY_BUFFER:
        return "requesting CUPTI buffers";
    case PT_CUDA_OVERHEAD_UVM:
        return "managed memory";
    default:
        return "overhead";
    }
}

const char *pt_gpu_kernel_name(struct pt_map *known, const struct pt_process *process, pt_u32 id)
{
    uint64_t *at = pt_map_at(known, id);
    if (*at)
        return (void *)(uintptr_t)*at;
    const char *mangled = pt_process_string(process, id);
    char *name = mangled ? pt_demangle(mangled) : NULL;
    if (!name)
        name = pt_strdup(mangled && *mangled ? mangled : "kernel");
    *at = (uintptr_t)name;
    return name;
}

#define LAUNCH_KEY (1ull << 32)

const char *pt_gpu_launch_name(struct pt_map *known, const struct pt_process *process, pt_u32 id)
{
    const uint64_t *at = pt_map_find(known, LAUNCH_KEY | id);
    if (at)
        return (void *)(uintptr_t)*at;
    char *name = pt_asprintf("launch %s", pt_gpu_kernel_name(known, process, id));
    *pt_map_at(known, LAUNCH_KEY | id) = (uintptr_t)name;
    return name;
}

void pt_gpu_kernel_names_free(struct pt_map *known)
{
    for (size_t i = 0; i < known->n; i++)
        free((void *)(uintptr_t)known->entries[i].value);
    pt_map_fini(known);
}

struct pt_gpu_queue pt_gpu_queue_parse(const char *text)
{
    struct pt_gpu_queue queue = {0};
    char *end;
    if (!text)
        return queue;
    queue.device = (pt_u32)strtoul(text, &end, 10);
    if (*end == '/')
        queue.context = (pt_u32)strtoul(end + 1, &end, 10);
    if (*end == '/')
        queue.stream = strtoll(end + 1, NULL, 10);
    if (queue.stream >= UINT32_MAX)
        queue.stream = -1; /* CUPTI's "no stream" */
    return queue;
}

pt_u32 pt_gpu_correlation(const struct pt_event *event)
{
    switch (event->desc->id) {
    case PT_EV_gpu_kernel:
        return pt_event_as(event, gpu_kernel)->correlation;
    case PT_EV_gpu_copy:
        return pt_event_as(event, gpu_copy)->correlation;
    case PT_EV_gpu_set:
        return pt_event_as(event, gpu_set)->correlation;
    case PT_EV_gpu_graph:
        return pt_event_as(event, gpu_graph)->correlation;
    default:
        return 0;
    }
}

bool pt_gpu_is_launch(const struct pt_event *event)
{
    if (event->desc->id != PT_EV_cuda_call || !pt_event_as(event, cuda_call)->correlation)
        return false;
    switch (event->tag) {
    case PT_CUDA_LAUNCH:
    case PT_CUDA_GRAPH_LAUNCH:
    case PT_CUDA_COPY:
    case PT_CUDA_COPY_ASYNC:
    case PT_CUDA_SET:
    case PT_CUDA_SET_ASYNC:
        return true;
    default:
        return false;
    }
}
