/* SPDX-License-Identifier: MIT
 *
 * Work on GPUs: kernels, copies, sets and graphs, each with the call that started it.
 *
 * Threads: one. State: sums by name, kind, stream and device; records whose call has not come yet. Never: uses a record
 * whose times are impossible.
 */
#include "work.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "calls.h"
#include "idle.h"
#include "ranges.h"

/* A kernel may end before the call that launched it returns, long before if that thread was preempted: then its
 * record comes first. */
#define LONGEST_PENDING_NS 1000000000

/* ---- streams ---- */

/* Those are forgotten whose end no gap that may still be split reaches: a GPU may have thousands of users, one by one.
 */
static void note_user(struct pt_gpu_device *device, const struct pt_process *process)
{
    const pt_i64 oldest_ns = device->gaps.n ? device->gaps.items[0].start_ns : device->busy_end_ns;
    size_t n = 0;
    for (size_t i = 0; i < device->users.n; i++)
        if (device->users.items[i] != process && device->users.items[i]->end_ns > oldest_ns)
            device->users.items[n++] = device->users.items[i];
    device->users.n = n;
    pt_vec_push(&device->users, process);
}

static pt_u64 new_stream(struct pt_gpu *gpu, const struct pt_process *process, const char *queue)
{
    const bool is_one_more = gpu->streams.n >= PT_GPU_MOST_STREAMS;
    const char *slash = queue ? strchr(queue, '/') : NULL;
    const char *name = is_one_more ? NULL : pt_gpu_text(gpu, slash ? slash + 1 : queue);
    pt_u32 device;
    note_user(pt_gpu_device_at(gpu, process, queue ? (pt_u32)strtoul(queue, NULL, 10) : 0, &device), process);
    pt_u64 key = pt_hash_pair(pt_hash_pair(device, (uintptr_t)name), is_one_more ? 0 : process->index + 1);
    pt_u64 *slot = pt_map_at(&gpu->by_stream, key);
    if (!*slot) {
        struct pt_gpu_stream *stream = pt_calloc(1, sizeof *stream);
        stream->device = device;
        stream->name = name ? name : "(others)";
        stream->process = process;
        pt_vec_push(&gpu->streams, stream);
        *slot = gpu->streams.n;
    }
    return *slot;
}

static struct pt_gpu_stream *stream_of(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 queue)
{
    const pt_u64 key = (pt_u64)process->index << 32 | queue;
    const pt_u64 *known = pt_map_find(&gpu->by_queue, key);
    pt_u64 index = known ? *known : 0;
    if (!index) {
        index = new_stream(gpu, process, pt_process_string(process, queue));
        if (gpu->by_queue.n < PT_GPU_MOST_TEXTS)
            *pt_map_at(&gpu->by_queue, key) = index;
    }
    return gpu->streams.items[index - 1];
}

/* How much work was in the stream when this one was launched: work of a stream ends in the order of its launch. */
static void measure_queue(struct pt_gpu_stream *stream, const struct pt_gpu_call *call)
{
    const pt_u64 kept = stream->n_ends < PT_GPU_QUEUE_ENDS ? stream->n_ends : PT_GPU_QUEUE_ENDS;
    pt_u64 low = stream->n_ends - kept, high = stream->n_ends;
    while (low < high) {
        const pt_u64 middle = (low + high) / 2;
        if (stream->ends_ns[middle % PT_GPU_QUEUE_ENDS] <= call->start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    const pt_u64 depth = stream->n_ends - low;
    stream->launches++;
    stream->depth_sum += depth;
    stream->launched_empty += !depth;
    stream->depth_most = depth > stream->depth_most ? depth : stream->depth_most;
}

static void add_to_stream(struct pt_gpu_stream *stream, const struct pt_gpu_activity *work,
                          const struct pt_gpu_call *call)
{
    if (call)
        measure_queue(stream, call);
    if (!stream->activities || work->start_ns < stream->first_ns)
        stream->first_ns = work->start_ns;
    stream->last_ns = work->end_ns > stream->last_ns ? work->end_ns : stream->last_ns;
    stream->activities++;
    stream->ends_ns[stream->n_ends++ % PT_GPU_QUEUE_ENDS] = work->end_ns;
    pt_time_union_add(&stream->busy, work->start_ns, work->end_ns);
}

/* ---- kernels and copies ---- */

static struct pt_gpu_kernel *kernel_of(struct pt_gpu *gpu, pt_u32 device, const char *name)
{
    if (gpu->kernels.n >= PT_GPU_MOST_KERNELS && !pt_map_find(&gpu->by_kernel, pt_hash_pair((uintptr_t)name, device)))
        name = NULL;
    pt_u64 *slot = pt_map_at(&gpu->by_kernel, pt_hash_pair((uintptr_t)name, device));
    if (!*slot) {
        struct pt_gpu_kernel *kernel = pt_calloc(1, sizeof *kernel);
        kernel->device = device;
        kernel->name = name;
        pt_vec_push(&gpu->kernels, kernel);
        *slot = gpu->kernels.n;
    }
    return gpu->kernels.items[*slot - 1];
}

static void add_launch(struct pt_gpu_device *device, const struct pt_gpu_activity *work, const struct pt_gpu_call *call)
{
    if (!device->launches)
        device->launches = pt_calloc(1, sizeof *device->launches);
    struct pt_gpu_launches *launches = device->launches;
    pt_histogram_add(&launches->call, (pt_u64)(call->end_ns - call->start_ns));
    pt_histogram_add(&launches->queue, work->start_ns > call->end_ns ? (pt_u64)(work->start_ns - call->end_ns) : 0);
    pt_histogram_add(&launches->run, (pt_u64)(work->end_ns - work->start_ns));
}

/* A kernel of NCCL, which talks to other GPUs. CUPTI gives the names of C++ mangled
 * ("_Z39ncclDevKernel_AllReduce...24..."), with nothing in front, those of C as they are: looked at as they are, no
 * training had a collective. Names are not demangled here: that costs more than all else that is done for a record. */
static bool is_collective(const char *name)
{
    if (!strncmp(name, "_Z", 2))
        name += 2 + strspn(name + 2, "L0123456789"); /* L: a static function; then the length of the name */
    return !strncmp(name, "nccl", 4);
}

static void add_kernel(struct pt_gpu *gpu, pt_u32 device, const struct pt_gpu_activity *work,
                       const struct pt_gpu_call *call)
{
    const bool is_graph = work->kind == PT_KIND_gpu_graph;
    const char *name = is_graph ? "(CUDA graph)" : pt_gpu_string(gpu, work->process, work->name, false);
    name = name ? name : "(unknown)";
    struct pt_gpu_kernel *kernel = kernel_of(gpu, device, name);
    pt_histogram_add(&kernel->durations, (pt_u64)(work->end_ns - work->start_ns));
    /* There may be as many as launches: as names they would leave no room for those that are shown. */
    const char *config = work->config ? pt_process_string(work->process, work->config) : NULL;
    if (config && gpu->by_variant.n < 4 * PT_GPU_MOST_TEXTS) {
        pt_u64 *variant = pt_map_at(&gpu->by_variant, pt_hash_pair((uintptr_t)kernel, pt_gpu_text_hash(config)));
        kernel->variants += !*variant;
        *variant = 1;
    }
    if (call) {
        kernel->launched++;
        kernel->api_ns += call->end_ns - call->start_ns;
        kernel->wait_ns += work->start_ns > call->end_ns ? work->start_ns - call->end_ns : 0;
        add_launch(gpu->devices.items[device], work, call);
    }
    if (!is_collective(name)) {
        pt_time_union_add(&gpu->devices.items[device]->compute, work->start_ns, work->end_ns);
        return;
    }
    struct pt_gpu_process *process = pt_gpu_process_of(gpu, work->process);
    process->nccl_calls++;
    process->nccl_ns += work->end_ns - work->start_ns;
}

static bool reads_value(const struct pt_gpu_activity *work)
{
    return work->kind == PT_KIND_gpu_copy && pt_cuda_copy_of((pt_u32)work->tag) == PT_CUDA_COPY_DTOH &&
           work->bytes <= PT_GPU_VALUE_BYTES;
}

static void add_once(struct pt_gpu_once *once, const struct pt_gpu_activity *work, const struct pt_gpu_call *call)
{
    once->calls++;
    once->bytes += work->bytes;
    once->ns += work->end_ns - work->start_ns;
    once->api_ns += call ? call->end_ns - call->start_ns : 0;
}

static struct pt_gpu_own_copies *own_copies(struct pt_gpu_process *process, size_t group)
{
    for (size_t i = 0; i < process->copies.n; i++)
        if (process->copies.items[i].group == group)
            return &process->copies.items[i];
    pt_vec_push(&process->copies, ((struct pt_gpu_own_copies){.group = group}));
    return &process->copies.items[process->copies.n - 1];
}

static void add_copy(struct pt_gpu *gpu, pt_u32 device, const struct pt_gpu_activity *work,
                     const struct pt_gpu_call *call)
{
    static const pt_u64 limits[PT_GPU_SIZE_CLASSES] = {4096, 65536, 1048576, 16777216, 268435456, ~0ull};
    const pt_u32 kinds = ((pt_u32)work->tag & 0xffffff) | (work->kind == PT_KIND_gpu_set ? PT_GPU_IS_SET : 0);
    const pt_u64 key = pt_hash_pair(device, kinds);
    const bool is_full = gpu->copies.n >= PT_GPU_COPY_GROUPS && !pt_map_find(&gpu->by_copies, key);
    pt_u64 *slot = pt_map_at(&gpu->by_copies, is_full ? pt_hash_pair(device, ~0ull) : key);
    if (!*slot) {
        struct pt_gpu_copies *copies = pt_calloc(1, sizeof *copies);
        copies->device = device;
        copies->kinds = kinds;
        pt_vec_push(&gpu->copies, copies);
        *slot = gpu->copies.n;
    }
    struct pt_gpu_copies *copies = gpu->copies.items[*slot - 1];
    const pt_i64 ns = work->end_ns - work->start_ns;
    pt_u32 size = 0;
    while (work->bytes > limits[size])
        size++;
    copies->bytes += work->bytes;
    copies->api_ns += call ? call->end_ns - call->start_ns : 0;
    copies->sizes[size].calls++;
    copies->sizes[size].bytes += work->bytes;
    copies->sizes[size].ns += ns;
    pt_histogram_add(&copies->durations, (pt_u64)ns);
    if (!reads_value(work)) {
        struct pt_gpu_process *process = pt_gpu_process_of(gpu, work->process);
        if (call ? call->is_before_steps : !process->has_made_step)
            add_once(&own_copies(process, *slot - 1)->before_steps, work, call);
        if (call && call->moves_model)
            add_once(&own_copies(process, *slot - 1)->of_models, work, call);
        return;
    }
    copies->values.calls++;
    copies->values.bytes += work->bytes;
    copies->values.ns += ns;
    copies->values.api_ns += call ? call->end_ns - call->start_ns : 0;
}

/* ---- in the order of ends ---- */

static void work_is_done(struct pt_gpu *gpu, const struct pt_gpu_activity *work)
{
    const struct pt_gpu_call *call = pt_gpu_call_find(gpu, work->process, work->correlation);
    struct pt_gpu_stream *stream = stream_of(gpu, work->process, work->queue);
    struct pt_gpu_device *device = gpu->devices.items[stream->device];
    add_to_stream(stream, work, call);
    pt_gpu_idle_work(gpu, stream->device, work, call);
    pt_gpu_ranges_work(gpu, work, call);
    if (work->kind == PT_KIND_gpu_kernel || work->kind == PT_KIND_gpu_graph) {
        pt_time_union_add(&device->kernels, work->start_ns, work->end_ns);
        device->n_kernels++;
        add_kernel(gpu, stream->device, work, call);
    } else {
        pt_time_union_add(&device->copies, work->start_ns, work->end_ns);
        device->n_copies += work->kind == PT_KIND_gpu_copy;
        device->n_sets += work->kind == PT_KIND_gpu_set;
        add_copy(gpu, stream->device, work, call);
        if (reads_value(work))
            pt_gpu_call_reads_value(gpu, work->process, work->correlation);
    }
}

static void drain(struct pt_gpu *gpu, bool is_end)
{
    while (gpu->n_pending_out < gpu->n_pending_in) {
        const struct pt_gpu_activity *work = &gpu->pending[gpu->n_pending_out % PT_GPU_MOST_PENDING];
        const bool is_full = gpu->n_pending_in - gpu->n_pending_out >= PT_GPU_MOST_PENDING;
        const bool waits = work->correlation && gpu->now_ns - work->end_ns < LONGEST_PENDING_NS &&
                           !pt_gpu_call_find(gpu, work->process, work->correlation);
        if (waits && !is_full && !is_end)
            break;
        work_is_done(gpu, work);
        gpu->n_pending_out++;
    }
}

void pt_gpu_work_called(struct pt_gpu *gpu)
{
    drain(gpu, false);
}

/* A stage may have both: learners that make steps, and actors that never do. */
static void sum_what_is_made_once(struct pt_gpu *gpu, const struct pt_gpu_process *process,
                                  struct pt_gpu_waiting *stage)
{
    const struct pt_gpu_waiting *waiting = process->has_made_step ? &process->before_steps : &process->of_models;
    stage->ns += waiting->ns;
    stage->copies += waiting->copies;
    stage->sets += waiting->sets;
    for (size_t i = 0; i < process->copies.n; i++) {
        const struct pt_gpu_own_copies *own = &process->copies.items[i];
        const struct pt_gpu_once *once = process->has_made_step ? &own->before_steps : &own->of_models;
        struct pt_gpu_once *all = &gpu->copies.items[own->group]->once;
        all->calls += once->calls;
        all->bytes += once->bytes;
        all->ns += once->ns;
        all->api_ns += once->api_ns;
    }
}

void pt_gpu_work_end(struct pt_gpu *gpu)
{
    const struct pt_session *session = gpu->profile->session;
    drain(gpu, true);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (gpu->processes[i])
            sum_what_is_made_once(gpu, gpu->processes[i],
                                  &gpu->stages[pt_gpu_stage_of(gpu, session->processes[i])].once);
}

void pt_gpu_work_event(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct pt_gpu_activity work = {.kind = e->desc->kind,
                                   .tag = e->tag,
                                   .process = e->process,
                                   .start_ns = e->start_ns,
                                   .end_ns = pt_event_end_ns(e)};
    /* All four begin with correlation and queue. */
    const struct pt_ev_gpu_kernel *kernel = (const void *)e->payload;
    switch (e->desc->kind) {
    case PT_KIND_gpu_kernel:
        work.name = kernel->name;
        work.config = kernel->config;
        break;
    case PT_KIND_gpu_copy:
        work.bytes = pt_event_as(e, gpu_copy)->bytes;
        break;
    case PT_KIND_gpu_set:
        work.bytes = pt_event_as(e, gpu_set)->bytes;
        break;
    case PT_KIND_gpu_graph:
        break;
    default:
        return;
    }
    work.correlation = kernel->correlation;
    work.queue = kernel->queue;
    drain(gpu, false);
    gpu->pending[gpu->n_pending_in++ % PT_GPU_MOST_PENDING] = work;
    drain(gpu, false);
}
