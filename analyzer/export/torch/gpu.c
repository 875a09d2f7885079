/* SPDX-License-Identifier: MIT
 *
 * torch/gpu.c - GPU work as PyTorch's profiler writes it: process = device, thread = stream.
 *
 * Owns: what is known of the devices. One thread. Never: says a property that the trace does not have. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/cuda.h"
#include "proftrace/payloads.h"
#include "export/out/put.h"
#include "export/timeline/gpu_names.h"
#include "util/json/json_text.h"
#include "util/json/json_walk.h"
#include "util/mem.h"
#include "line.h"
#include "projection.h"

#define SORT_GPU 5000000 /* GPUs below all processes */

static struct pt_torch_device *device_of(struct pt_torch_file *file, pt_u32 number)
{
    uint64_t *at = pt_map_at(&file->device_at, number);
    if (*at)
        return &file->devices.items[*at - 1];
    *at = file->devices.n + 1;
    char label[32];
    snprintf(label, sizeof label, "GPU %u", number);
    pt_torch_name_process(file, number, label, SORT_GPU + (pt_i64)number);
    const struct pt_torch_device device = {.number = number};
    pt_vec_push(&file->devices, device);
    return &file->devices.items[file->devices.n - 1];
}

static void name_stream(struct pt_torch_file *file, const struct pt_gpu_queue *queue)
{
    char name[40];
    device_of(file, queue->device);
    uint64_t *named = pt_map_at(&file->streams, (pt_u64)queue->device << 32 | (pt_u32)queue->stream);
    if (*named)
        return;
    *named = 1;
    snprintf(name, sizeof name, "stream %lld", (long long)queue->stream);
    pt_torch_name_thread(file, (struct pt_torch_track){queue->device, queue->stream}, name);
}

static char *put_dims(char *at, const char *key, const unsigned dims[3])
{
    at = pt_put(pt_put(pt_put(at, ",\""), key), "\":[");
    for (int i = 0; i < 3; i++) {
        at = pt_put_u64(at, dims[i]);
        *at++ = i < 2 ? ',' : ']';
    }
    return at;
}

/* How a launch fills the device, as PyTorch counts it: were its blocks spread evenly over all multiprocessors. */
static char *put_shares(char *at, const struct pt_torch_device *device, const unsigned grid[3], const unsigned block[3])
{
    if (!device->multiprocessors || !device->warp_threads)
        return at;
    const double blocks = (double)grid[0] * grid[1] * grid[2] / device->multiprocessors;
    at = pt_put_f64(pt_put(at, ",\"blocks per SM\":"), blocks);
    return pt_put_f64(pt_put(at, ",\"warps per SM\":"), blocks * block[0] * block[1] * block[2] / device->warp_threads);
}

/* "x,y,z x,y,z regs static+dynamic" */
static char *put_config(char *at, const struct pt_torch_device *device, const char *config)
{
    unsigned grid[3], block[3], registers, fixed, dynamic;
    if (!config || sscanf(config, "%u,%u,%u %u,%u,%u %u %u+%u", &grid[0], &grid[1], &grid[2], &block[0], &block[1],
                          &block[2], &registers, &fixed, &dynamic) != 9)
        return at;
    at = pt_torch_arg(at, "registers per thread", registers);
    at = pt_torch_arg(at, "shared memory", (pt_i64)fixed + dynamic);
    at = put_shares(at, device, grid, block);
    return put_dims(put_dims(at, "grid", grid), "block", block);
}

static char *put_where(char *at, const struct pt_gpu_queue *queue, pt_u32 correlation)
{
    at = pt_torch_arg(at, "device", queue->device);
    at = pt_torch_arg(at, "context", queue->context);
    at = pt_torch_arg(at, "stream", queue->stream);
    return pt_torch_arg(at, "correlation", correlation);
}

static char *put_bytes(char *at, pt_u64 bytes, pt_i64 duration_ns)
{
    at = pt_torch_arg(at, "bytes", (pt_i64)bytes);
    if (duration_ns > 0)
        at = pt_put_f64(pt_put(at, ",\"memory bandwidth (GB/s)\":"), (double)bytes / (double)duration_ns);
    return at;
}

/* HTA distinguishes kernels, copies and sets by the category. */
static const char *name_work(struct pt_torch_file *file, const struct pt_event *event, char text[PT_GPU_NAME_BYTES],
                             const char **ret_category)
{
    switch (event->desc->id) {
    case PT_EV_gpu_kernel:
        *ret_category = "kernel";
        return pt_gpu_kernel_name(&file->kernels, file->process, pt_event_as(event, gpu_kernel)->name);
    case PT_EV_gpu_copy:
        *ret_category = "gpu_memcpy";
        pt_gpu_copy_name(text, (pt_u32)event->tag);
        return text;
    case PT_EV_gpu_set:
        *ret_category = "gpu_memset";
        pt_gpu_set_name(text, (pt_u32)event->tag);
        return text;
    default:
        *ret_category = "kernel";
        snprintf(text, PT_GPU_NAME_BYTES, "graph %llu", (unsigned long long)pt_event_as(event, gpu_graph)->graph);
        return text;
    }
}

static void show_work(struct pt_torch_file *file, const struct pt_event *event)
{
    const struct pt_gpu_queue queue =
        pt_gpu_queue_parse(pt_process_string(file->process, (pt_u32)(event->words[0] >> 32)));
    const struct pt_torch_track track = {queue.device, queue.stream};
    const pt_u32 correlation = pt_gpu_correlation(event);
    char text[PT_GPU_NAME_BYTES];
    const char *category;
    pt_i64 start_ns, end_ns;
    if (!pt_torch_clip(file, event, &start_ns, &end_ns))
        return;
    const char *name = name_work(file, event, text, &category);
    name_stream(file, &queue);
    char *at = pt_torch_slice_begin(file, category, name, track, start_ns, end_ns);
    at = put_where(at, &queue, correlation);
    if (event->desc->id == PT_EV_gpu_kernel)
        at = put_config(at, device_of(file, queue.device),
                        pt_process_string(file->process, pt_event_as(event, gpu_kernel)->config));
    else if (event->desc->id != PT_EV_gpu_graph)
        at = put_bytes(at, event->words[1], event->duration_ns);
    pt_torch_slice_end(file, at);
    if (!correlation)
        return;
    pt_torch_flow(file, 'f', correlation, track, start_ns);
    pt_torch_project_work(file, correlation, &queue, start_ns, end_ns);
}

/* Its time is the start of the wait. The wait itself is delivered when it ends, so this record comes first. */
static void note_recorded(struct pt_torch_file *file, const struct pt_event *event)
{
    const struct pt_ev_gpu_event_record *record = pt_event_as(event, gpu_event_record);
    if (!file->recorded)
        file->recorded = pt_calloc(PT_TORCH_RECORDED, sizeof *file->recorded);
    file->recorded[event->aux % PT_TORCH_RECORDED] =
        (struct pt_torch_recorded){event->aux, record->event_correlation, record->queue};
}

/* HTA searches for the last work before the event's record in a stream of the device on which the wait is shown: if
 * the event was recorded on another device, it would find the wrong work. */
static char *put_recorded(char *at, const struct pt_torch_file *file, const struct pt_ev_gpu_sync *sync, pt_u32 device)
{
    at = pt_torch_arg(at, "wait_on_cuda_event_id", sync->event);
    at = pt_torch_arg(at, "wait_on_cuda_event_record_corr_id", sync->event_correlation);
    const struct pt_torch_recorded *known =
        file->recorded ? &file->recorded[sync->correlation % PT_TORCH_RECORDED] : NULL;
    if (!known || known->waiter != sync->correlation || known->correlation != sync->event_correlation)
        return at;
    const struct pt_gpu_queue queue = pt_gpu_queue_parse(pt_process_string(file->process, known->queue));
    return queue.device == device && queue.stream >= 0 ? pt_torch_arg(at, "wait_on_stream", queue.stream) : at;
}

/* HTA takes a slice with a stream for work of the GPU, but here the host waited. Its critical path needs something
 * on the stream for the way back to the host: so only the end of the wait is put there, and the call shows the rest. */
static void show_sync(struct pt_torch_file *file, const struct pt_event *event)
{
    const struct pt_ev_gpu_sync *sync = pt_event_as(event, gpu_sync);
    struct pt_gpu_queue queue = pt_gpu_queue_parse(pt_process_string(file->process, sync->queue));
    const char *name = pt_gpu_sync_name(event->tag);
    pt_i64 start_ns, end_ns;
    if (!pt_torch_clip(file, event, &start_ns, &end_ns))
        return;
    if (event->tag == PT_CUDA_SYNC_STREAM)
        start_ns = end_ns;
    else if (event->tag != PT_CUDA_SYNC_STREAM_WAIT_EVENT)
        queue.stream = -1;
    device_of(file, queue.device);
    char *at = pt_torch_slice_begin(file, "cuda_sync", name, (struct pt_torch_track){queue.device, queue.stream},
                                    start_ns, end_ns);
    at = pt_put_string(pt_put(at, "\"cuda_sync_kind\":"), name);
    at = put_where(at, &queue, sync->correlation);
    if (event->tag == PT_CUDA_SYNC_STREAM)
        at = pt_torch_arg(at, "waited_ns", event->duration_ns);
    if (sync->event)
        at = put_recorded(at, file, sync, queue.device);
    pt_torch_slice_end(file, at);
}

static void show_overhead(struct pt_torch_file *file, const struct pt_event *event)
{
    pt_i64 start_ns, end_ns;
    if (!pt_torch_clip(file, event, &start_ns, &end_ns))
        return;
    pt_torch_slice(file, "overhead", pt_gpu_overhead_name(event->tag), (struct pt_torch_track){-1, 0}, start_ns,
                   end_ns);
}

/* Device memory only, as it is allocated from the driver, from which PyTorch's own allocator takes large pieces. */
static void show_memory(struct pt_torch_file *file, const struct pt_event *event)
{
    const char *place = pt_process_string(file->process, event->aux);
    unsigned number, kind;
    if (!place || sscanf(place, "%u/%u", &number, &kind) != 2 || kind != PT_CUDA_MEMORY_DEVICE)
        return;
    struct pt_torch_device *device = device_of(file, number);
    const struct pt_ev_gpu_memory *change = pt_event_as(event, gpu_memory);
    const pt_u64 known = change->bytes < device->allocated_bytes ? change->bytes : device->allocated_bytes;
    device->allocated_bytes += event->tag == 1 ? -known : change->bytes;
    if (!pt_window_has(&file->window, event->start_ns))
        return;
    const struct pt_torch_track track = {file->process->pid, file->process->pid};
    char *at = pt_torch_begin(file, 'i', "cpu_instant_event", "[memory]", track, event->start_ns);
    at = pt_torch_arg(pt_put(at, ",\"s\":\"t\",\"args\":{"), "Device Type", 1);
    at = pt_torch_arg(pt_torch_arg(at, "Device Id", number), "Addr", (pt_i64)change->addr);
    at = pt_torch_arg(at, "Bytes", event->tag == 1 ? (pt_i64)(0 - change->bytes) : (pt_i64)change->bytes);
    at = pt_torch_arg(at, "Total Allocated", (pt_i64)device->allocated_bytes);
    pt_torch_end(file, pt_put(at, "}"));
    file->summary->instants++;
}

/* ---- devices ---- */

#define PROPERTIES 100    /* of a device */
#define PROPERTY_BYTES 64 /* a name, and a number */

static bool is_property(const char *text, const struct pt_json_member *member)
{
    const size_t key_bytes = member->key.end - member->key.begin, value_bytes = member->value.end - member->value.begin;
    const char first = text[member->value.begin];
    if (key_bytes > PROPERTY_BYTES || value_bytes > PROPERTY_BYTES || (first != '-' && (first < '0' || first > '9')))
        return false;
    return strncmp(text + member->key.begin, "\"id\"", key_bytes) != 0 &&
           strncmp(text + member->key.begin, "\"totalGlobalMem\"", key_bytes) != 0;
}

/* The other numbers of the recorded object, besides id and memory; what is not JSON is left out. */
static char *put_properties(char *at, const char *text)
{
    struct pt_error err = {0};
    struct pt_json_member member;
    if (!text || *text != '{' || pt_json_text_check(text, strlen(text), &err) < 0)
        return at;
    size_t from = 0;
    for (int n = 0; n < PROPERTIES && pt_json_text_next(text, &from, &member); n++) {
        if (!is_property(text, &member))
            continue;
        *at++ = ',';
        at = mempcpy(at, text + member.key.begin, member.key.end - member.key.begin);
        *at++ = ':';
        at = mempcpy(at, text + member.value.begin, member.value.end - member.value.begin);
    }
    return at;
}

static pt_u32 property(const char *text, const char *key)
{
    struct pt_error err = {0};
    struct pt_json_member member;
    size_t from = 0;
    if (!text || *text != '{' || pt_json_text_check(text, strlen(text), &err) < 0)
        return 0;
    while (pt_json_text_next(text, &from, &member))
        if (!strncmp(text + member.key.begin + 1, key, strlen(key)) && text[member.key.begin + 1 + strlen(key)] == '"')
            return (pt_u32)strtoul(text + member.value.begin, NULL, 10);
    return 0;
}

static void describe_device(struct pt_torch_file *file, const struct pt_event *event)
{
    struct pt_torch_device *device = device_of(file, (pt_u32)event->tag);
    device->name = pt_process_string(file->process, event->aux);
    device->properties = pt_process_string(file->process, pt_event_as(event, gpu_device)->properties);
    device->memory_bytes = pt_event_as(event, gpu_device)->memory_bytes;
    device->multiprocessors = property(device->properties, "numSms");
    device->warp_threads = property(device->properties, "warpSize");
}

void pt_torch_gpu_event(struct pt_torch_file *file, const struct pt_event *event)
{
    switch (event->desc->id) {
    case PT_EV_gpu_kernel:
    case PT_EV_gpu_copy:
    case PT_EV_gpu_set:
    case PT_EV_gpu_graph:
        show_work(file, event);
        break;
    case PT_EV_gpu_sync:
        show_sync(file, event);
        break;
    case PT_EV_gpu_event_record:
        note_recorded(file, event);
        break;
    case PT_EV_gpu_overhead:
        show_overhead(file, event);
        break;
    case PT_EV_gpu_memory:
        show_memory(file, event);
        break;
    case PT_EV_gpu_device:
        describe_device(file, event);
        break;
    default:
        break;
    }
}

void pt_torch_put_devices(struct pt_torch_file *file)
{
    pt_sink_wrote(file->sink, pt_put(pt_sink_room(file->sink), ",\n\"deviceProperties\":["));
    for (size_t i = 0; i < file->devices.n; i++) {
        const struct pt_torch_device *device = &file->devices.items[i];
        char *at = pt_put(pt_sink_room(file->sink), i ? ",\n{\"id\":" : "\n{\"id\":");
        at = pt_put_u64(at, device->number);
        at = pt_put_string(pt_put(at, ",\"name\":"), device->name ? device->name : "");
        if (device->memory_bytes)
            at = pt_put_u64(pt_put(at, ",\"totalGlobalMem\":"), device->memory_bytes);
        pt_torch_end(file, put_properties(at, device->properties));
    }
    pt_sink_wrote(file->sink, pt_put(pt_sink_room(file->sink), "]"));
}
