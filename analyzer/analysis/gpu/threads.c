/* SPDX-License-Identifier: MIT
 *
 * What threads did lately, so that a gap on a GPU can be told by it.
 *
 * Threads: one. State: a ring of spans per thread, without overlap: what lies in a call is part of the call; calls of a
 * kind that follow each other closely are one span, so that a storm of small calls fits. Never: guesses what lies
 * further back than the ring does.
 */
#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "facts/call_class.h"
#include "facts/wait_kind.h"

/* What an interpreter does between two calls of a loop: it goes away with the calls. */
#define CLOSE_NS 20000

enum { FEWEST_SPANS = 64, MOST_INNER = 8, NEXT_LINE = 2 };

/* ---- causes ---- */

/* By part, plus 1; 0 = work of its own. */
static enum gpu_cause cause_of_part(enum pt_time_part part)
{
    static const pt_u8 causes[PT_PART__COUNT] = {
        [PT_PART_gpu_wait] = GPU_CAUSE_synchronize + 1,  [PT_PART_copy] = GPU_CAUSE_copy + 1,
        [PT_PART_file_read] = GPU_CAUSE_file_read + 1,   [PT_PART_file_write] = GPU_CAUSE_file_write + 1,
        [PT_PART_file_meta] = GPU_CAUSE_file_meta + 1,   [PT_PART_network] = GPU_CAUSE_network + 1,
        [PT_PART_data_wait] = GPU_CAUSE_data_wait + 1,   [PT_PART_lock] = GPU_CAUSE_lock + 1,
        [PT_PART_gil_wait] = GPU_CAUSE_gil_wait + 1,     [PT_PART_sleep] = GPU_CAUSE_sleep + 1,
        [PT_PART_child_wait] = GPU_CAUSE_child_wait + 1, [PT_PART_idle] = GPU_CAUSE_data_wait + 1,
    };
    return causes[part] ? (enum gpu_cause)(causes[part] - 1) : GPU_CAUSE_host_code;
}

static enum gpu_cause cause_of_call(enum pt_cuda_class class)
{
    switch (class) {
    case PT_CUDA_LAUNCH:
    case PT_CUDA_GRAPH_LAUNCH:
    case PT_CUDA_COPY_ASYNC:
    case PT_CUDA_SET:
    case PT_CUDA_SET_ASYNC:
        return GPU_CAUSE_launch;
    case PT_CUDA_COPY:
        return GPU_CAUSE_copy;
    case PT_CUDA_SYNC:
        return GPU_CAUSE_synchronize;
    case PT_CUDA_ALLOC:
        return GPU_CAUSE_cuda_alloc;
    case PT_CUDA_FREE:
        return GPU_CAUSE_cuda_free;
    case PT_CUDA_LOAD:
        return GPU_CAUSE_module_load;
    case PT_CUDA_CAPTURE:
    case PT_CUDA_OTHER:
    case PT_CUDA_CLASS__COUNT:
        break;
    }
    return GPU_CAUSE_cuda_other;
}

static enum gpu_cause cause_of_overhead(pt_u32 kind)
{
    switch (kind) {
    case PT_CUDA_OVERHEAD_COMPILER:
    case PT_CUDA_OVERHEAD_MODULE_LOADING:
    case PT_CUDA_OVERHEAD_LAZY_LOADING:
        return GPU_CAUSE_module_load;
    case PT_CUDA_OVERHEAD_QUEUE_FULL:
        return GPU_CAUSE_launch;
    case PT_CUDA_OVERHEAD_UVM:
        return GPU_CAUSE_copy;
    default:
        return GPU_CAUSE_tracing;
    }
}

static const char *name_of_overhead(pt_u32 kind)
{
    switch (kind) {
    case PT_CUDA_OVERHEAD_COMPILER:
        return "just-in-time compiler";
    case PT_CUDA_OVERHEAD_MODULE_LOADING:
        return "module loading";
    case PT_CUDA_OVERHEAD_LAZY_LOADING:
        return "lazy loading of a function";
    case PT_CUDA_OVERHEAD_QUEUE_FULL:
        return "queue of commands full";
    case PT_CUDA_OVERHEAD_UVM:
        return "managed memory";
    default:
        return "CUPTI's own work";
    }
}

static pt_u32 child_of(const struct gpu *gpu, const struct pt_event *e)
{
    const struct pt_process *child = pt_process_of_pid(&gpu->facts->ids, e->result, pt_event_end_ns(e));
    return child ? child->index + 1 : 0;
}

static void note_write(struct gpu *gpu, const struct pt_event *e, const char *channel)
{
    const pt_u64 key = (uintptr_t)channel;
    if (!channel || (gpu->by_channel.n >= GPU_MOST_CHANNELS && !pt_map_find(&gpu->by_channel, key)))
        return;
    pt_u64 *slot = pt_map_at(&gpu->by_channel, key);
    if (!*slot)
        *slot = (uintptr_t)pt_calloc(1, sizeof(struct gpu_channel));
    struct gpu_channel *writes = (struct gpu_channel *)(uintptr_t)*slot;
    writes->writes[writes->n % GPU_CHANNEL_WRITES].start_ns = e->start_ns;
    writes->writes[writes->n++ % GPU_CHANNEL_WRITES].process = e->process->index + 1;
}

pt_u32 pt_gpu_writer_of(const struct gpu *gpu, const struct pt_process *process, const struct gpu_span *span)
{
    const struct gpu_channel *writes = pt_map_pointer(&gpu->by_channel, (uintptr_t)span->text);
    for (pt_u32 i = 0; writes && i < writes->n && i < GPU_CHANNEL_WRITES; i++) {
        const pt_u32 at = (writes->n - 1 - i) % GPU_CHANNEL_WRITES;
        if (writes->writes[at].start_ns <= span->end_ns && writes->writes[at].process != process->index + 1)
            return writes->writes[at].process;
    }
    return span->who;
}

static bool waits_for_writer(const struct pt_event *e)
{
    return e->desc->row != PT_ROW_io_write && e->desc->row != PT_ROW_io_writev && e->desc->row != PT_ROW_net_send;
}

/* Events of these categories have { i32 result, u32 path, ... }. */
static bool has_path(const struct pt_event *e)
{
    const pt_u32 with_path = PT_CATEGORY_IO | PT_CATEGORY_META;
    if (e->desc->category == PT_CATEGORY_STDIO)
        return false;
    return (e->desc->category & with_path) && e->desc->row != PT_ROW_io_seek && e->desc->row != PT_ROW_io_map_sync;
}

static const char *file_of(struct gpu *gpu, const struct pt_event *e)
{
    pt_u32 path = 0;
    if (has_path(e))
        path = ((const struct pt_ev_io_close *)(const void *)e->payload)->path;
    else if (e->desc->row == PT_ROW_stdio_read)
        path = pt_event_as(e, stdio_read)->path;
    else if (e->desc->row == PT_ROW_stdio_write)
        path = pt_event_as(e, stdio_write)->path;
    return pt_gpu_string(gpu, e->process, path, true);
}

/* ---- spans of events ---- */

static void about_lock(const struct pt_event *e, struct gpu_span *span)
{
    if (e->desc->row == PT_ROW_lock_mutex)
        span->who = pt_event_as(e, lock_mutex)->owner_tid;
    else if (e->desc->row == PT_ROW_lock_rwlock)
        span->who = pt_event_as(e, lock_rwlock)->owner_tid;
}

static void about_channel(struct gpu *gpu, const struct pt_event *e, struct gpu_span *span)
{
    const char *path = pt_descriptor_of_event(e);
    const bool is_write = !waits_for_writer(e);
    const char *channel = pt_gpu_text(gpu, path);
    span->who = pt_channels_other_process(&gpu->facts->channels, e->process, path, !is_write);
    span->text = is_write ? NULL : channel;
    span->is_write = is_write;
    if (is_write)
        note_write(gpu, e, channel);
}

static void about_event(struct gpu *gpu, const struct pt_event *e, struct gpu_span *span)
{
    span->cause = cause_of_part(pt_time_part_of_event(e));
    if (e->desc->category == PT_CATEGORY_MAP) {
        span->cause = GPU_CAUSE_heap;
        return;
    }
    if (e->desc->category == PT_CATEGORY_PROC) {
        if (e->desc->row != PT_ROW_proc_system)
            span->cause = GPU_CAUSE_process_start;
        return;
    }
    if (span->cause == GPU_CAUSE_lock)
        about_lock(e, span);
    else if (span->cause == GPU_CAUSE_data_wait)
        about_channel(gpu, e, span);
    else if (e->desc->row == PT_ROW_wait_child)
        span->who = child_of(gpu, e);
    else if (span->cause == GPU_CAUSE_network)
        span->text = pt_gpu_text(gpu, pt_descriptor_of_event(e));
    else
        span->text = file_of(gpu, e);
}

static const struct pt_thread *about_cuda(struct gpu *gpu, const struct pt_event *e, struct gpu_span *span)
{
    if (e->desc->row == PT_ROW_gpu_overhead) {
        span->cause = cause_of_overhead((pt_u32)e->tag);
        span->text = name_of_overhead((pt_u32)e->tag);
        span->is_overhead = true;
        return pt_thread_of_tid(&gpu->facts->ids, e->process, pt_event_as(e, gpu_overhead)->tid, e->start_ns);
    }
    if (e->desc->row != PT_ROW_cuda_call)
        return NULL;
    span->cause = cause_of_call((enum pt_cuda_class)e->tag);
    span->text = pt_gpu_string(gpu, e->process, pt_event_as(e, cuda_call)->name, false);
    return e->thread;
}

/* ---- the ring ---- */

static struct gpu_span *nth_last(const struct gpu_thread *thread, pt_u64 n)
{
    return &thread->spans[(thread->n - 1 - n) & (thread->capacity - 1)];
}

static pt_u64 n_kept(const struct gpu_thread *thread)
{
    return thread->n < thread->capacity ? thread->n : thread->capacity;
}

static void grow(struct gpu *gpu, struct gpu_thread *thread)
{
    const pt_u32 capacity = thread->capacity ? thread->capacity * 2 : FEWEST_SPANS;
    struct gpu_span *spans = pt_calloc(capacity, sizeof *spans);
    const pt_u64 kept = n_kept(thread);
    for (pt_u64 i = 0; i < kept; i++)
        spans[kept - 1 - i] = *nth_last(thread, i);
    free(thread->spans);
    gpu->n_more_spans += capacity > GPU_MOST_SPANS ? capacity - thread->capacity : 0;
    thread->spans = spans;
    thread->capacity = capacity;
    thread->n = kept;
}

/* A storm of calls, with nothing for the GPU to do: what came first will be asked for. */
static bool is_needed(const struct gpu *gpu, const struct gpu_thread *thread)
{
    return thread->capacity < GPU_MORE_SPANS && gpu->n_more_spans + thread->capacity <= GPU_ALL_SPANS &&
           nth_last(thread, thread->capacity - 1)->end_ns > gpu->busy_end_ns;
}

static bool is_room(struct gpu *gpu, struct gpu_thread *thread)
{
    if (!thread->spans) {
        thread->is_left_out = gpu->n_kept >= GPU_MOST_THREADS;
        if (thread->is_left_out)
            return false;
        gpu->n_kept++;
    }
    if (thread->n >= thread->capacity && (thread->capacity < GPU_MOST_SPANS || is_needed(gpu, thread)))
        grow(gpu, thread);
    return true;
}

static void add(struct gpu *gpu, struct gpu_thread *thread, const struct gpu_span *span)
{
    if (span->end_ns <= span->start_ns || !is_room(gpu, thread))
        return;
    struct gpu_span *last = thread->n ? nth_last(thread, 0) : NULL;
    if (last && last->cause == span->cause && last->who == span->who && last->text == span->text &&
        last->is_write == span->is_write && span->start_ns - last->end_ns <= CLOSE_NS) {
        last->end_ns = span->end_ns;
        return;
    }
    struct gpu_span *slot = &thread->spans[thread->n++ & (thread->capacity - 1)];
    if (thread->n > thread->capacity)
        thread->forgotten_ns = slot->end_ns;
    *slot = *span;
    __builtin_prefetch(&thread->spans[(thread->n + NEXT_LINE) & (thread->capacity - 1)], 1);
}

/* What lies in the span was pushed before it: overheads stay as they are, all else is the span. */
static void push(struct gpu *gpu, struct gpu_thread *thread, struct gpu_span span)
{
    struct gpu_span inner[MOST_INNER];
    pt_u32 n_inner = 0;
    while (n_kept(thread)) {
        const struct gpu_span *last = nth_last(thread, 0);
        if (last->end_ns <= span.start_ns)
            break;
        if (last->start_ns < span.start_ns) {
            span.start_ns = last->end_ns;
            break;
        }
        if (last->is_overhead && n_inner < MOST_INNER)
            inner[n_inner++] = *last;
        thread->n--;
    }
    const pt_i64 end_ns = span.end_ns;
    while (n_inner--) {
        span.end_ns = inner[n_inner].start_ns;
        add(gpu, thread, &span);
        add(gpu, thread, &inner[n_inner]);
        span.start_ns = inner[n_inner].end_ns;
    }
    span.end_ns = end_ns;
    add(gpu, thread, &span);
}

void pt_gpu_threads_event(struct gpu *gpu, const struct pt_event *e)
{
    if (e->desc->role != PT_ROLE_SPAN)
        return;
    struct gpu_span span = {.start_ns = e->start_ns, .end_ns = pt_event_end_ns(e)};
    const struct pt_thread *thread = e->thread;
    if (e->desc->category & (PT_CATEGORY_CUDA | PT_CATEGORY_GPU))
        thread = about_cuda(gpu, e, &span);
    else
        about_event(gpu, e, &span);
    if (thread && span.cause != GPU_CAUSE_host_code)
        push(gpu, pt_gpu_thread_of(gpu, thread), span);
}

/* ---- looking back ---- */

static void show_rest(const struct gpu_thread *thread, pt_i64 start_ns, pt_i64 end_ns, gpu_show_part *show,
                      void *context)
{
    pt_i64 known_ns = start_ns;
    if (thread->is_left_out)
        known_ns = end_ns;
    else if (thread->forgotten_ns > start_ns)
        known_ns = thread->forgotten_ns;
    known_ns = known_ns < start_ns ? start_ns : known_ns > end_ns ? end_ns : known_ns;
    if (end_ns > known_ns)
        show(context, GPU_CAUSE_host_code, NULL, known_ns, end_ns - known_ns);
    if (known_ns > start_ns)
        show(context, GPU_CAUSE_unattributed, NULL, start_ns, known_ns - start_ns);
}

void pt_gpu_split_thread(const struct gpu *gpu, const struct pt_thread *thread, pt_i64 start_ns, pt_i64 end_ns,
                         gpu_show_part *show, void *context)
{
    const struct gpu_thread *own = pt_gpu_thread_of(gpu, thread);
    const struct gpu_span *later = NULL;
    pt_i64 to_ns = end_ns;
    for (pt_u64 i = 0; i < n_kept(own) && to_ns > start_ns; i++) {
        const struct gpu_span *span = nth_last(own, i);
        if (span->end_ns <= start_ns)
            break;
        if (span->start_ns >= to_ns)
            continue;
        const pt_i64 until_ns = span->end_ns < to_ns ? span->end_ns : to_ns;
        const pt_i64 from_ns = span->start_ns > start_ns ? span->start_ns : start_ns;
        if (later && to_ns > until_ns && to_ns - until_ns <= CLOSE_NS)
            show(context, (enum gpu_cause)later->cause, later, until_ns, to_ns - until_ns);
        else if (to_ns > until_ns)
            show(context, GPU_CAUSE_host_code, NULL, until_ns, to_ns - until_ns);
        show(context, (enum gpu_cause)span->cause, span, from_ns, until_ns - from_ns);
        later = span;
        to_ns = from_ns;
    }
    if (to_ns > start_ns)
        show_rest(own, start_ns, to_ns, show, context);
}
