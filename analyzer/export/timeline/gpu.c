/* SPDX-License-Identifier: MIT
 *
 * timeline/gpu.c - what GPUs did, under the process that made them do it: a track per stream, arrows from the calls.
 *
 * Owns: the streams, devices and unanswered launches of a process. One thread. Never: guesses which call started what.
 */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "proftrace/cuda.h"
#include "proftrace/payloads.h"
#include "gpu_counters.h"
#include "gpu_names.h"
#include "show.h"
#include "tracks.h"

#define STREAM_TRACKS 8
#define LINKS (1u << 14)     /* launches and work whose other end may still come: the driver queues about 1,000 */
#define ORDER_GPU (1u << 20) /* after all threads */
#define ORDER_DEVICE (1u << 16)

/* A launch or its work, waiting for the other. */
struct link {
    pt_u32 correlation; /* 0 = free */
    bool is_work;       /* else a call */
    bool is_waiting;    /* counted in the depth of the queue */
    struct pt_timeline_track *track;
    pt_i64 start_ns;
    pt_u64 arrow; /* its id, which no other call has, though it had this correlation */
};

struct device {
    struct pt_timeline_process *process;
    pt_u32 number, first_context;
    char group[160];
    struct pt_timeline_tracks syncs;
};

struct queue {
    struct pt_timeline_tracks tracks;
    struct device *device;
    pt_u32 context;
    pt_i64 stream;
    pt_u32 order;
};

struct pt_timeline_gpu {
    struct pt_map queues;  /* by string id: struct queue * */
    struct pt_map devices; /* by number: struct device * */
    struct pt_map kernels; /* by string id: names as people write them */
    struct pt_timeline_tracks overheads;
    struct link *links;
    struct pt_timeline_gpu_counters counters;
};

static struct pt_timeline_gpu *gpu_of(struct pt_timeline_process *process)
{
    if (process->gpu)
        return process->gpu;
    process->gpu = pt_calloc(1, sizeof *process->gpu);
    process->gpu->links = pt_calloc(LINKS, sizeof *process->gpu->links);
    process->gpu->overheads.limit = STREAM_TRACKS;
    process->gpu->counters.process = process;
    /* Calls that are left out are not counted either. */
    process->gpu->counters.depth_is_unknown =
        process->timeline->min_duration_ns > 0 || process->timeline->window.from_ns > 0;
    return process->gpu;
}

/* ---- tracks ---- */

static struct device *device_of(struct pt_timeline_process *process, pt_u32 number)
{
    uint64_t *known = pt_map_at(&process->gpu->devices, number);
    if (*known)
        return (void *)(uintptr_t)*known;
    struct device *device = pt_calloc(1, sizeof *device);
    device->process = process;
    device->number = number;
    device->syncs.limit = PT_TIMELINE_TRACKS;
    snprintf(device->group, sizeof device->group, "GPU %u", number);
    *known = (uintptr_t)device;
    return device;
}

static struct pt_timeline_track *new_track(struct pt_timeline_process *process, const char *group, pt_u32 order)
{
    struct pt_timeline_track *track = pt_timeline_track_new(process, order);
    track->group = group;
    track->tid = pt_timeline_ids_new_tid(&process->timeline->ids);
    return track;
}

static pt_u32 device_order(const struct device *device)
{
    return ORDER_GPU + (device->number & 0xff) * ORDER_DEVICE;
}

static struct pt_timeline_track *make_stream_track(void *context, pt_u32 index)
{
    struct queue *queue = context;
    struct device *device = queue->device;
    const pt_u32 order = device_order(device) + (1 + queue->order % 1000) * (PT_TIMELINE_TRACKS + 1) + index;
    struct pt_timeline_track *track = new_track(device->process, device->group, order);
    int used = snprintf(track->name, sizeof track->name, "stream %lld", (long long)queue->stream);
    if (queue->context != device->first_context)
        used += snprintf(track->name + used, sizeof track->name - (size_t)used, " of context %u", queue->context);
    if (index)
        snprintf(track->name + used, sizeof track->name - (size_t)used, " (overlapping)");
    return track;
}

static struct pt_timeline_track *make_sync_track(void *context, pt_u32 index)
{
    struct device *device = context;
    struct pt_timeline_track *track = new_track(device->process, device->group, device_order(device) + index);
    snprintf(track->name, sizeof track->name, "synchronisation");
    return track;
}

static struct pt_timeline_track *make_overhead_track(void *context, pt_u32 index)
{
    struct pt_timeline_track *track = new_track(context, NULL, ORDER_GPU - PT_TIMELINE_TRACKS + index);
    snprintf(track->name, sizeof track->name, "CUDA overhead");
    return track;
}

static struct queue *queue_of(struct pt_timeline_process *process, pt_u32 id)
{
    uint64_t *known = pt_map_at(&process->gpu->queues, id);
    if (*known)
        return (void *)(uintptr_t)*known;
    const struct pt_gpu_queue parsed = pt_gpu_queue_parse(pt_process_string(process->process, id));
    struct queue *queue = pt_calloc(1, sizeof *queue);
    queue->device = device_of(process, parsed.device);
    if (!queue->device->first_context)
        queue->device->first_context = parsed.context;
    queue->context = parsed.context;
    queue->stream = parsed.stream;
    queue->order = (pt_u32)process->gpu->queues.n;
    queue->tracks.limit = STREAM_TRACKS;
    *known = (uintptr_t)queue;
    return queue;
}

/* ---- arrows ---- */

static struct link *link_at(struct pt_timeline_process *process, pt_u32 correlation)
{
    return &gpu_of(process)->links[correlation % LINKS];
}

void pt_timeline_gpu_call(struct pt_timeline *timeline, struct pt_timeline_slice *slice)
{
    const struct pt_event *event = slice->event;
    struct pt_timeline_process *process = slice->track->process;
    if (!pt_gpu_is_launch(event))
        return;
    const pt_u32 correlation = pt_event_as(event, cuda_call)->correlation;
    struct link *link = link_at(process, correlation);
    const bool has_ended = link->correlation == correlation && link->is_work;
    if (has_ended && link->start_ns < slice->start_ns)
        return; /* clocks that disagree: no arrow points back in time */
    if (has_ended) {
        slice->call = (struct pt_timeline_place){slice->track, slice->start_ns};
        slice->work = (struct pt_timeline_place){link->track, link->start_ns};
    }
    const bool is_waiting =
        !has_ended && event->result >= 0 && (event->tag == PT_CUDA_LAUNCH || event->tag == PT_CUDA_GRAPH_LAUNCH);
    if (link->is_waiting)
        pt_timeline_gpu_depth(&process->gpu->counters, pt_event_end_ns(event), -1);
    if (is_waiting)
        pt_timeline_gpu_depth(&process->gpu->counters, pt_event_end_ns(event), 1);
    slice->arrow_from = has_ended ? link->arrow : ++timeline->n_arrows;
    *link = (struct link){correlation, false, is_waiting, slice->track, slice->start_ns, slice->arrow_from};
}

static void link_work(struct pt_timeline *timeline, struct pt_timeline_slice *slice)
{
    struct pt_timeline_process *process = slice->track->process;
    const pt_u32 correlation = pt_gpu_correlation(slice->event);
    struct link *link = link_at(process, correlation);
    if (!correlation)
        return;
    if (link->correlation == correlation && !link->is_work) {
        if (link->is_waiting)
            pt_timeline_gpu_depth(&process->gpu->counters, slice->end_ns, -1);
        link->is_waiting = false;
        if (link->start_ns > slice->start_ns)
            return;
        slice->call = (struct pt_timeline_place){link->track, link->start_ns};
        slice->work = (struct pt_timeline_place){slice->track, slice->start_ns};
        slice->arrow_to = link->arrow;
        return;
    }
    if (link->correlation == correlation)
        return; /* the call comes later; the first piece of its work has the arrow */
    if (link->is_waiting)
        pt_timeline_gpu_depth(&process->gpu->counters, slice->end_ns, -1);
    *link = (struct link){correlation, true, false, slice->track, slice->start_ns, ++timeline->n_arrows};
    slice->arrow_to = link->arrow;
}

/* ---- slices ---- */

static void name_work(struct pt_timeline_process *process, const struct pt_event *event,
                      struct pt_timeline_slice *slice, char text[PT_GPU_NAME_BYTES])
{
    slice->name = text;
    switch (event->desc->id) {
    case PT_EV_gpu_kernel: {
        const pt_u32 id = pt_event_as(event, gpu_kernel)->name;
        slice->name = pt_gpu_kernel_name(&process->gpu->kernels, process->process, id);
        slice->name_key = 1ull << 63 | (pt_u64)process->process->index << 32 | id;
        break;
    }
    case PT_EV_gpu_copy:
        pt_gpu_copy_name(text, (pt_u32)event->tag);
        break;
    case PT_EV_gpu_set:
        pt_gpu_set_name(text, (pt_u32)event->tag);
        break;
    case PT_EV_gpu_graph:
        snprintf(text, PT_GPU_NAME_BYTES, "graph %llu", (unsigned long long)pt_event_as(event, gpu_graph)->graph);
        break;
    case PT_EV_gpu_sync:
        slice->name = pt_gpu_sync_name(event->tag);
        break;
    default:
        slice->name = pt_gpu_overhead_name(event->tag);
    }
}

static struct pt_timeline_track *place_work(struct pt_timeline *timeline, struct pt_timeline_process *process,
                                            const struct pt_event *event, pt_i64 *start_ns, pt_i64 *end_ns)
{
    struct pt_timeline_gpu *gpu = process->gpu;
    if (event->desc->id == PT_EV_gpu_overhead)
        return pt_timeline_place(timeline, &gpu->overheads, make_overhead_track, process, start_ns, end_ns);
    /* The queue is the second word of all others. */
    struct queue *queue = queue_of(process, (pt_u32)(event->words[0] >> 32));
    if (event->desc->id == PT_EV_gpu_sync)
        return pt_timeline_place(timeline, &queue->device->syncs, make_sync_track, queue->device, start_ns, end_ns);
    return pt_timeline_place(timeline, &queue->tracks, make_stream_track, queue, start_ns, end_ns);
}

static void show_work(struct pt_timeline *timeline, struct pt_timeline_process *process, const struct pt_event *event)
{
    char text[PT_GPU_NAME_BYTES];
    pt_i64 start_ns = event->start_ns, end_ns = pt_event_end_ns(event);
    if (event->duration_ns < timeline->min_duration_ns || !pt_window_clip(&timeline->window, &start_ns, &end_ns))
        return;
    struct pt_timeline_track *track = place_work(timeline, process, event, &start_ns, &end_ns);
    if (!track)
        return;
    struct pt_timeline_slice slice = {
        .track = track, .start_ns = start_ns, .end_ns = end_ns, .event = event, .with_strings = true};
    name_work(process, event, &slice, text);
    link_work(timeline, &slice);
    pt_timeline_show(timeline, &slice);
}

static void show_point(struct pt_timeline *timeline, struct pt_timeline_process *process, const struct pt_event *event)
{
    struct pt_timeline_gpu *gpu = process->gpu;
    switch (event->desc->id) {
    case PT_EV_gpu_memory:
        pt_timeline_gpu_memory(&gpu->counters, event);
        return;
    case PT_EV_gpu_device: {
        struct device *device = device_of(process, (pt_u32)event->tag);
        const char *name = pt_process_string(process->process, event->aux);
        if (name && *name)
            snprintf(device->group, sizeof device->group, "GPU %u (%.120s)", device->number, name);
        return;
    }
    case PT_EV_gpu_lost:
        gpu->counters.depth_is_unknown = true;
        break;
    case PT_EV_gpu_tracing:
        break;
    default:
        return; /* pools, nodes of graphs, clocks: nothing to draw */
    }
    if (pt_window_has(&timeline->window, event->start_ns))
        pt_timeline_show_instant(timeline, &(struct pt_timeline_slice){.track = process->main_track,
                                                                       .start_ns = event->start_ns,
                                                                       .end_ns = event->start_ns,
                                                                       .event = event,
                                                                       .with_strings = true,
                                                                       .is_of_process = true});
}

void pt_timeline_gpu_event(struct pt_timeline *timeline, struct pt_timeline_process *process,
                           const struct pt_event *event)
{
    gpu_of(process);
    if (event->desc->role == PT_ROLE_SPAN)
        show_work(timeline, process, event);
    else
        show_point(timeline, process, event);
}

const char *pt_timeline_gpu_launch_name(struct pt_timeline_process *process, pt_u32 kernel)
{
    return pt_gpu_launch_name(&gpu_of(process)->kernels, process->process, kernel);
}

/* ---- the end ---- */

void pt_timeline_gpu_finish(struct pt_timeline_process *process)
{
    if (process->gpu)
        pt_timeline_gpu_counters_finish(&process->gpu->counters);
}

void pt_timeline_gpu_free(struct pt_timeline_process *process)
{
    struct pt_timeline_gpu *gpu = process->gpu;
    if (!gpu)
        return;
    for (size_t i = 0; i < gpu->queues.n; i++) {
        struct queue *queue = (void *)(uintptr_t)gpu->queues.entries[i].value;
        pt_timeline_tracks_free(&queue->tracks);
        free(queue);
    }
    for (size_t i = 0; i < gpu->devices.n; i++) {
        struct device *device = (void *)(uintptr_t)gpu->devices.entries[i].value;
        pt_timeline_tracks_free(&device->syncs);
        free(device);
    }
    pt_timeline_gpu_counters_free(&gpu->counters);
    pt_gpu_kernel_names_free(&gpu->kernels);
    pt_timeline_tracks_free(&gpu->overheads);
    pt_map_fini(&gpu->queues);
    pt_map_fini(&gpu->devices);
    free(gpu->links);
    free(gpu);
    process->gpu = NULL;
}
