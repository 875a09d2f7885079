/* SPDX-License-Identifier: MIT
 *
 * cupti/records.c - one record of CUPTI to one event, kind by kind.
 *
 * Runs inside a delivery, on any thread: never calls another library. Reads fields by layout.def only. A record whose
 * times cannot be true is counted instead.
 */
#include "records.h"

#include "proftrace/cuda.h"
#include "proftrace/events.h"
#include "core/file/device.h"
#include "core/names/intern.h"
#include "core/text.h"
#include "driver.h"
#include "texts.h"

/* How much clocks may disagree at the begin and end: 10 ms of a TSC, 33 ms of a clock in nanoseconds. */
#define CLOCK_SLACK (1ull << 25)
#define OBJECT_THREAD 2u
#define RELEASED 2u
#define LOCAL_POOL 1u  /* another process's has no size here, but that process's id in its place */
#define NO_OPERATION 0 /* beside an allocation or release, not by a record of the pool's own */
#define NOT_READY 600u

static int is_of_our_clock(struct pt_decoder *d, pt_u64 start, pt_u64 end)
{
    if (start + CLOCK_SLACK >= d->c->since && end <= d->now + CLOCK_SLACK)
        return 1;
    pt_cupti_lost(d->c, PT_LOSS_foreign_clock, 1);
    return 0;
}

static int is_span(struct pt_decoder *d, pt_u64 start, pt_u64 end)
{
    if (start && end >= start)
        return is_of_our_clock(d, start, end);
    pt_cupti_lost(d->c, PT_LOSS_no_time, 1);
    return 0;
}

static int is_point(struct pt_decoder *d, pt_u64 time)
{
    if (time)
        return is_of_our_clock(d, time, time);
    pt_cupti_lost(d->c, PT_LOSS_no_time, 1);
    return 0;
}

static pt_u32 device_of_context(const struct pt_cupti *c, pt_u32 context)
{
    const pt_u32 known = context < 256 ? __atomic_load_n(&c->context_devices[context], __ATOMIC_RELAXED) : 0;
    return known ? known - 1 : PT_CUPTI_NO_ID;
}

static void learn_context(struct pt_cupti *c, pt_u32 context, pt_u32 device)
{
    if (context < 256)
        __atomic_store_n(&c->context_devices[context], device + 1, __ATOMIC_RELAXED);
}

static void deliver_node(pt_u64 start, pt_u32 correlation, pt_u64 node, pt_u32 graph)
{
    if (node)
        pt_deliver_point(start, correlation, 0, PT_EV_gpu_graph_node, node, graph);
}

void pt_decode_KERNEL(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version, correlation = pt_KERNEL_correlation(r, v);
    const pt_u64 start = pt_KERNEL_start(r, v), end = pt_KERNEL_end(r, v);
    if (!pt_KERNEL_node(r, v)) /* a graph's first kernels may have ended before the call that launched it has */
        pt_cupti_note_launched(d->c, correlation);
    learn_context(d->c, pt_KERNEL_context(r, v), pt_KERNEL_device(r, v));
    if (!is_span(d, start, end))
        return;
    const pt_u32 queue = pt_cupti_queue(d->c, pt_KERNEL_device(r, v), pt_KERNEL_context(r, v), pt_KERNEL_stream(r, v));
    const pt_u32 name = pt_cupti_name(d->c, pt_KERNEL_name(r, v));
    pt_deliver_span(start, end - start, 0, PT_EV_gpu_kernel, pt_words(correlation, queue),
                    pt_words(name, pt_cupti_config(d->c, r)));
    deliver_node(start, correlation, pt_KERNEL_node(r, v), pt_KERNEL_graph(r, v));
}

static pt_i32 copy_tag(pt_u32 copy, pt_u32 source, pt_u32 target, pt_u32 flags)
{
    return (pt_i32)pt_cuda_copy_tag(copy, source, target, flags & 1);
}

void pt_decode_MEMCPY(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version, correlation = pt_MEMCPY_correlation(r, v);
    const pt_u64 start = pt_MEMCPY_start(r, v), end = pt_MEMCPY_end(r, v);
    if (!is_span(d, start, end))
        return;
    const pt_u32 queue = pt_cupti_queue(d->c, pt_MEMCPY_device(r, v), pt_MEMCPY_context(r, v), pt_MEMCPY_stream(r, v));
    pt_deliver_span(start, end - start,
                    copy_tag(pt_MEMCPY_copy_kind(r, v), pt_MEMCPY_source_kind(r, v), pt_MEMCPY_target_kind(r, v),
                             pt_MEMCPY_flags(r, v)),
                    PT_EV_gpu_copy, pt_words(correlation, queue), pt_MEMCPY_bytes(r, v));
    deliver_node(start, correlation, pt_MEMCPY_node(r, v), pt_MEMCPY_graph(r, v));
}

void pt_decode_PEER(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version, correlation = pt_PEER_correlation(r, v);
    const pt_u64 start = pt_PEER_start(r, v), end = pt_PEER_end(r, v);
    if (!is_span(d, start, end))
        return;
    const pt_u32 queue = pt_cupti_queue(d->c, pt_PEER_device(r, v), pt_PEER_context(r, v), pt_PEER_stream(r, v));
    pt_deliver_span(
        start, end - start,
        copy_tag(pt_PEER_copy_kind(r, v), pt_PEER_source_kind(r, v), pt_PEER_target_kind(r, v), pt_PEER_flags(r, v)),
        PT_EV_gpu_copy, pt_words(correlation, queue), pt_PEER_bytes(r, v));
    deliver_node(start, correlation, pt_PEER_node(r, v), pt_PEER_graph(r, v));
}

void pt_decode_MEMSET(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version, correlation = pt_MEMSET_correlation(r, v);
    const pt_u64 start = pt_MEMSET_start(r, v), end = pt_MEMSET_end(r, v);
    if (!is_span(d, start, end))
        return;
    const pt_u32 queue = pt_cupti_queue(d->c, pt_MEMSET_device(r, v), pt_MEMSET_context(r, v), pt_MEMSET_stream(r, v));
    pt_deliver_span(start, end - start, copy_tag(0, 0, pt_MEMSET_memory_kind(r, v), pt_MEMSET_flags(r, v)),
                    PT_EV_gpu_set, pt_words(correlation, queue), pt_MEMSET_bytes(r, v));
    deliver_node(start, correlation, pt_MEMSET_node(r, v), pt_MEMSET_graph(r, v));
}

void pt_decode_GRAPH(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version;
    const pt_u64 start = pt_GRAPH_start(r, v), end = pt_GRAPH_end(r, v);
    pt_cupti_note_launched(d->c, pt_GRAPH_correlation(r, v));
    if (!is_span(d, start, end))
        return;
    const pt_u32 queue = pt_cupti_queue(d->c, pt_GRAPH_device(r, v), pt_GRAPH_context(r, v), pt_GRAPH_stream(r, v));
    pt_deliver_span(start, end - start, 0, PT_EV_gpu_graph, pt_words(pt_GRAPH_correlation(r, v), queue),
                    pt_GRAPH_graph(r, v));
}

/* A wait names the use of an event that it waits for; only the record of that use has the call and the queue. 0 =
 * that record has not come yet, or was overwritten. */
static pt_u64 where_recorded(struct pt_cupti *c, pt_u64 use)
{
    const struct pt_event_use *row = &c->event_uses[use & (PT_EVENT_USES - 1)];
    if (!use || __atomic_load_n(&row->use, __ATOMIC_ACQUIRE) != use)
        return 0;
    const pt_u64 where = __atomic_load_n(&row->where, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&row->use, __ATOMIC_RELAXED) == use ? where : 0;
}

void pt_decode_EVENT(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version;
    const pt_u64 use = pt_EVENT_use(r, v);
    struct pt_event_use *row = &d->c->event_uses[use & (PT_EVENT_USES - 1)];
    if (!use)
        return;
    const pt_u32 queue = pt_cupti_queue(d->c, pt_EVENT_device(r, v), pt_EVENT_context(r, v), pt_EVENT_stream(r, v));
    __atomic_store_n(&row->use, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&row->where, pt_words(pt_EVENT_correlation(r, v), queue), __ATOMIC_RELAXED);
    __atomic_store_n(&row->use, use, __ATOMIC_RELEASE);
}

void pt_decode_SYNC(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version, context = pt_SYNC_context(r, v), event = pt_SYNC_event(r, v);
    const pt_u32 correlation = pt_SYNC_correlation(r, v);
    const pt_u64 start = pt_SYNC_start(r, v), end = pt_SYNC_end(r, v);
    if (!is_span(d, start, end))
        return;
    const pt_u32 queue = pt_cupti_queue(d->c, device_of_context(d->c, context), context, pt_SYNC_stream(r, v));
    const pt_u64 where = where_recorded(d->c, pt_SYNC_event_use(r, v));
    pt_deliver_span(start, end - start, (pt_i32)pt_SYNC_type(r, v), PT_EV_gpu_sync, pt_words(correlation, queue),
                    pt_words(event == PT_CUPTI_NO_ID ? 0 : event, (pt_u32)where));
    if (where)
        pt_deliver_point(start, correlation, 0, PT_EV_gpu_event_record, where, 0);
}

void pt_decode_OVERHEAD(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version;
    const pt_u64 start = pt_OVERHEAD_start(r, v), end = pt_OVERHEAD_end(r, v);
    if (!is_span(d, start, end))
        return;
    const int has_thread = pt_OVERHEAD_object(r, v) == OBJECT_THREAD && d->c->has_system_tids;
    pt_deliver_span(start, end - start, (pt_i32)pt_OVERHEAD_kind(r, v), PT_EV_gpu_overhead,
                    pt_words(has_thread ? pt_OVERHEAD_thread(r, v) : 0, pt_OVERHEAD_correlation(r, v)), 0);
}

/* Has its size changed? Pools grow seldom, but each allocation from them reports their size. */
static int note_pool_size(struct pt_cupti *c, pt_u64 pool, pt_u64 bytes)
{
    struct pt_pool_size *row = &c->pool_sizes[pool * 0x9e3779b97f4a7c15ull >> 56 & (PT_POOL_SIZES - 1)];
    const int is_known = __atomic_exchange_n(&row->pool, pool, __ATOMIC_RELAXED) == pool;
    return __atomic_exchange_n(&row->bytes, bytes, __ATOMIC_RELAXED) != bytes || !is_known;
}

/* The pool first, so that its size is known when the memory in it is counted. */
void pt_decode_MEMORY(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version, pool_type = pt_MEMORY_pool_type(r, v);
    const pt_u64 time = pt_MEMORY_time(r, v), pool = pool_type ? pt_MEMORY_pool(r, v) : 0;
    if (!is_point(d, time))
        return;
    const pt_u32 place = pt_cupti_place(pt_MEMORY_device(r, v), pt_MEMORY_kind(r, v), pool);
    if (pool && pool_type == LOCAL_POOL && note_pool_size(d->c, pool, pt_MEMORY_pool_bytes(r, v)))
        pt_deliver_point(time, place, NO_OPERATION, PT_EV_gpu_memory_pool, pt_MEMORY_pool_bytes(r, v),
                         pt_MEMORY_pool_used_bytes(r, v));
    pt_deliver_point(time, place, pt_MEMORY_operation(r, v) == RELEASED, PT_EV_gpu_memory, pt_MEMORY_address(r, v),
                     pt_MEMORY_bytes(r, v));
}

void pt_decode_POOL(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version;
    const pt_u64 time = pt_POOL_time(r, v);
    if (!is_point(d, time))
        return;
    note_pool_size(d->c, pt_POOL_address(r, v), pt_POOL_bytes(r, v));
    pt_deliver_point(time, pt_cupti_place(pt_POOL_device(r, v), PT_CUDA_MEMORY_DEVICE, pt_POOL_address(r, v)),
                     (pt_i32)pt_POOL_operation(r, v), PT_EV_gpu_memory_pool, pt_POOL_bytes(r, v),
                     pt_POOL_used_bytes(r, v));
}

void pt_decode_API(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version, cbid = pt_API_cbid(r, v);
    pt_u32 kind, tid = pt_API_thread(r, v), result = pt_API_result(r, v);
    __builtin_memcpy(&kind, r, sizeof kind);
    const struct pt_cupti_call *call = &d->c->calls[kind == PT_CUPTI_RUNTIME_KIND][cbid < PT_CUPTI_CALLS ? cbid : 0];
    if (call->flags & PT_CALL_NOISE || (kind == PT_CUPTI_DRIVER_KIND && !(call->flags & PT_CALL_HAS_ROW)))
        return; /* an old libcupti, where calls cannot be chosen one by one */
    if (kind == PT_CUPTI_RUNTIME_KIND)
        pt_cupti_note_call(d->c, pt_API_correlation(r, v));
    if (!is_span(d, pt_API_start(r, v), pt_API_end(r, v)))
        return;
    result = result == NOT_READY ? 0 : 0u - result;
    pt_deliver_span(pt_API_start(r, v), pt_API_end(r, v) - pt_API_start(r, v), call->class, PT_EV_cuda_call,
                    pt_words(result, __atomic_load_n(&call->name, __ATOMIC_RELAXED)),
                    pt_words(pt_API_correlation(r, v), d->c->has_system_tids ? tid : 0));
}

static void add_key(struct pt_text *text, const char *name)
{
    pt_text_byte(text, text->length ? ',' : '{');
    pt_text_byte(text, '"');
    pt_text_add(text, name);
    pt_text_add(text, "\":");
}

static void add_property(struct pt_text *text, const char *name, pt_u64 value)
{
    add_key(text, name);
    pt_text_number(text, value, 0);
}

/* The name of a device: plain words, and what would end the text is no word. */
static void add_name(struct pt_text *text, const char *name)
{
    enum { MOST = 100 };
    add_key(text, "name");
    pt_text_byte(text, '"');
    for (pt_u32 i = 0; name && name[i] && i < MOST; i++)
        pt_text_byte(text, name[i] < ' ' || name[i] > '~' || name[i] == '"' || name[i] == '\\' ? '?' : name[i]);
    pt_text_byte(text, '"');
}

/* As nvidia-smi writes it: it is the same in all processes, whose numbers for a device may differ. */
static void add_uuid(struct pt_text *text, const char *of, pt_uuid uuid)
{
    pt_u8 bytes[sizeof uuid];
    __builtin_memcpy(bytes, &uuid, sizeof bytes);
    pt_text_add(text, ",\"uuid\":\"");
    pt_text_add(text, of);
    for (pt_u32 i = 0; i < sizeof bytes; i++) {
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10)
            pt_text_byte(text, '-');
        pt_text_hex(text, bytes[i], 2);
    }
    pt_text_byte(text, '"');
}

/* Stored with the time at which recording began, not with that of its delivery: a reader must know the device before
 * work on it, or it counts two devices. The name is ours to free by CUPTI's rules; it came from the host's heap,
 * where we free nothing: 20 bytes per device. The properties tell what the event does, too: of a long run the event is
 * overwritten, but they stay. */
void pt_decode_DEVICE(struct pt_decoder *d, const pt_u8 *r)
{
    const pt_u32 v = d->version;
    struct pt_text text = {d->buffer->text, 0, sizeof d->buffer->text};
    add_property(&text, "computeMajor", pt_DEVICE_major(r, v));
    add_property(&text, "computeMinor", pt_DEVICE_minor(r, v));
    add_property(&text, "numSms", pt_DEVICE_multiprocessors(r, v));
    add_property(&text, "warpSize", pt_DEVICE_warp_threads(r, v));
    add_property(&text, "maxThreadsPerBlock", pt_DEVICE_threads_block(r, v));
    add_property(&text, "maxThreadsPerMultiprocessor", (pt_u64)pt_DEVICE_warps(r, v) * pt_DEVICE_warp_threads(r, v));
    add_property(&text, "regsPerBlock", pt_DEVICE_registers_block(r, v));
    add_property(&text, "regsPerMultiprocessor", pt_DEVICE_registers_sm(r, v));
    add_property(&text, "sharedMemPerBlock", pt_DEVICE_shared_bytes_block(r, v));
    add_property(&text, "sharedMemPerMultiprocessor", pt_DEVICE_shared_bytes_sm(r, v));
    add_property(&text, "l2CacheSize", pt_DEVICE_l2_bytes(r, v));
    add_property(&text, "memoryBandwidthKBs", pt_DEVICE_bandwidth_kb_s(r, v));
    add_property(&text, "clockRateKHz", pt_DEVICE_clock_khz(r, v));
    /* Instances of one GPU have its UUID in common: they are devices of their own. */
    if (pt_DEVICE_is_mig(r, v) && pt_DEVICE_mig_uuid(r, v))
        add_uuid(&text, "MIG", pt_DEVICE_mig_uuid(r, v));
    else if (pt_DEVICE_uuid(r, v))
        add_uuid(&text, "GPU", pt_DEVICE_uuid(r, v));
    add_property(&text, "id", pt_DEVICE_id(r, v));
    add_name(&text, (const char *)pt_DEVICE_name(r, v));
    add_property(&text, "totalGlobalMem", pt_DEVICE_memory_bytes(r, v));
    pt_text_byte(&text, '}');
    pt_deliver_point(d->c->since, pt_cupti_name(d->c, pt_DEVICE_name(r, v)), (pt_i32)pt_DEVICE_id(r, v),
                     PT_EV_gpu_device, pt_DEVICE_memory_bytes(r, v),
                     pt_words(pt_intern_bytes(text.bytes, text.length), 0));
}

void pt_decode_CONTEXT(struct pt_decoder *d, const pt_u8 *r)
{
    learn_context(d->c, pt_CONTEXT_context(r, d->version), pt_CONTEXT_device(r, d->version));
}
