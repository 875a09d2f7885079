/* SPDX-License-Identifier: MIT
 *
 * activity.h - the engine's half of CUPTI: records in the layouts of the chosen version, buffers, the clock, callbacks.
 * Everything here is free when no client has enabled anything. CUPTI's numbers are written down here apart from
 * include/proftrace/cuda.h: a witness must not copy from whom it watches.
 */
#ifndef FAKEGPU_ACTIVITY_H
#define FAKEGPU_ACTIVITY_H

#include "fakegpu.h"
#include <string.h>

/* CUpti_ActivityKind */
enum fg_kind {
    FG_KIND_MEMCPY = 1,
    FG_KIND_MEMSET = 2,
    FG_KIND_KERNEL = 3,
    FG_KIND_DRIVER = 4,
    FG_KIND_RUNTIME = 5,
    FG_KIND_DEVICE = 8,
    FG_KIND_CONTEXT = 9,
    FG_KIND_CONCURRENT_KERNEL = 10,
    FG_KIND_OVERHEAD = 17,
    FG_KIND_MEMCPY2 = 22,
    FG_KIND_CUDA_EVENT = 36,
    FG_KIND_STREAM = 37,
    FG_KIND_SYNCHRONIZATION = 38,
    FG_KIND_EXTERNAL_CORRELATION = 39,
    FG_KIND_MEMORY2 = 49,
    FG_KIND_MEMORY_POOL = 50,
    FG_KIND_GRAPH_TRACE = 51,
    FG_KINDS_MAX = 64,
    FG_KIND_UNKNOWN = 200, /* what a later CUPTI may send */
};
enum fg_overhead {
    FG_OVERHEAD_COMPILER = 1,
    FG_OVERHEAD_BUFFER_FLUSH = 1 << 16,
    FG_OVERHEAD_INSTRUMENTATION = 2 << 16,
    FG_OVERHEAD_MODULE_LOADING = 4 << 16,
    FG_OVERHEAD_LAZY_FUNCTION_LOADING = 5 << 16,
    FG_OVERHEAD_COMMAND_BUFFER_FULL = 6 << 16,
};

/* ---- layouts (layout.c) ---- */
enum fg_layout {
#define RECORD(record, newest) FG_LAYOUT_##record,
#define STRUCT(record, type, since, bytes)
#define FIELD(record, type, since, field, path, offset, bytes)
#include "layouts.def"
#undef RECORD
#undef STRUCT
#undef FIELD
    FG_N_LAYOUTS
};
enum fg_field {
#define RECORD(record, newest)
#define STRUCT(record, type, since, bytes)
#define FIELD(record, type, since, field, path, offset, bytes) FG_##record##_##field,
#include "layouts.def"
#undef RECORD
#undef STRUCT
#undef FIELD
    FG_N_FIELDS
};
struct fg_record {
    enum fg_layout layout;
    uint32_t bytes;
    _Alignas(8) uint8_t data[256];
};
FG_EXPORT uint32_t fg_cupti_version(void);
FG_EXPORT void fg_set_library_version(uint32_t version);
FG_EXPORT uint32_t fg_layout_bytes(enum fg_layout layout, uint32_t version);
FG_EXPORT int fg_layout_of_kind(uint32_t kind); /* -1: unknown */
void fg_record_begin(struct fg_record *record, enum fg_layout layout, enum fg_kind kind);
/* Fields that this version does not have are left out. */
void fg_set(struct fg_record *record, enum fg_field field, uint64_t value);
void fg_set_bytes(uint8_t *data, enum fg_field field, uint64_t value);

/* ---- the clock of the records (stamp.c) ---- */
typedef uint64_t (*fg_clock_function)(void);
FG_EXPORT uint64_t fg_stamp(void);
FG_EXPORT void fg_register_clock(fg_clock_function clock);
/* Pairs the GPU's clock with the registered one; records between two pairs are converted along their line. */
void fg_take_clock_pair(void);
/* With one pair a drift could not be seen. */
void fg_await_second_pair(void);
uint64_t fg_convert(uint64_t gpu_stamp);

/* ---- which records are wanted (kinds.c) ---- */
bool fg_wants(enum fg_kind kind);
bool fg_wants_call(const struct fg_api *api);
FG_EXPORT int fg_enable(uint32_t kind, bool on);
FG_EXPORT int fg_enable_call(enum fg_domain domain, uint32_t cbid, bool on);
FG_EXPORT void fg_enable_unready(bool on);
FG_EXPORT bool fg_wants_unready(void);
FG_EXPORT void fg_set_system_thread_ids(bool on);
FG_EXPORT bool fg_has_system_thread_ids(void);
uint32_t fg_thread_id(void);
/* 0 when no kind is enabled that gives correlation ids their meaning. */
uint32_t fg_visible_correlation(const struct fg_call *call);

/* ---- the records themselves (records.c) ---- */
void fg_record_call(const struct fg_call *call, uint64_t end_stamp);
void fg_record_operation(const struct fg_call *call, const struct fg_stream *stream, const struct fg_op *op,
                         uint64_t start_ns, uint64_t end_ns);
void fg_record_graph(const struct fg_call *call, const struct fg_stream *stream, uint32_t graph_id, uint64_t start_ns,
                     uint64_t end_ns);
void fg_record_wait(const struct fg_call *call, enum fg_wait type, int64_t stream_id, int64_t event_id, uint64_t start,
                    int result);
void fg_record_overhead(const struct fg_call *call, enum fg_overhead kind, uint64_t start_ns, uint64_t start_stamp);
void fg_record_memory(const struct fg_call *call, bool is_release, const struct fg_allocation *allocation,
                      const struct fg_stream *stream);
void fg_record_pool(const struct fg_call *call, int operation, const struct fg_pool *pool, uint64_t keep_bytes);
void fg_announce_devices(uint32_t kind); /* contexts that exist already */
void fg_record_device(int device);
void fg_record_context(int device);
void fg_record_stream(const struct fg_stream *stream);
void fg_record_event(const struct fg_call *call, const struct fg_event *event);
FG_EXPORT int fg_push_external(uint32_t kind, uint64_t id);
FG_EXPORT int fg_pop_external(uint32_t kind, uint64_t *id);

/* ---- buffers (buffers.c, deliver.c, worker.c) ---- */
typedef void (*fg_request_function)(uint8_t **data, size_t *bytes, size_t *max_records);
typedef void (*fg_complete_function)(void *context, uint32_t stream_id, uint8_t *data, size_t bytes, size_t valid);
/* Times still to be filled in when the operation has ended. */
struct fg_fixup {
    size_t offset;
    enum fg_field start, end;
    uint64_t start_ns, end_ns;
    int is_kernel;
};
struct fg_buffer {
    struct fg_buffer *next;
    uint8_t *data;
    size_t bytes, used, max_records, n_records;
    struct fg_fixup *fixups;
    size_t n_fixups, fixups_max;
    uint64_t ready_ns; /* when all its records are complete */
    uint64_t serial;
    bool is_full, is_taken;
    int owner; /* thread, or 0 where all threads share */
};
FG_EXPORT int fg_register_buffers(fg_request_function request, fg_complete_function complete);
void fg_put(const struct fg_record *record);
void fg_put_timed(const struct fg_record *record, enum fg_field start, enum fg_field end, uint64_t start_ns,
                  uint64_t end_ns, bool is_kernel);
FG_EXPORT int fg_flush(bool is_forced);
FG_EXPORT int fg_flush_period(uint32_t ms);
FG_EXPORT uint32_t fg_flush_period_ms(void); /* for tests: what was set last */
FG_EXPORT size_t fg_take_dropped(void);
FG_EXPORT int fg_next_record(const uint8_t *data, size_t valid, uint8_t **record);
FG_EXPORT void fg_cupti_lock(void);
FG_EXPORT void fg_cupti_unlock(void);
void fg_worker_start(void);
void fg_deliver(struct fg_buffer *buffer);
void fg_delivered(void);
/* A flush returns only when the buffers that others are delivering are with the client too. */
void fg_await_deliveries(void);
FG_EXPORT void fg_note_clock(void);
/* The first buffer that may be delivered, taken out of the list; NULL: none. */
/* The next to be delivered of those that were requested up to `newest`. */
struct fg_buffer *fg_take_buffer(bool full_only, bool is_forced, uint64_t newest);
uint64_t fg_newest_buffer(void);
void fg_call_complete(uint8_t *data, size_t bytes, size_t valid);
FG_EXPORT void fg_close_thread_buffer(int thread);
/* Ends the process with a message when this thread stands in a buffer callback: the real one deadlocks there. */
FG_EXPORT void fg_refuse_in_buffer_callback(const char *function);
/* True in a child of the process that used CUPTI. */
FG_EXPORT bool fg_is_forked_child(void);
FG_EXPORT int fg_set_attribute(uint32_t attribute, const void *value, size_t bytes, bool set, void *out);

/* ---- raw buffers from a file (replay.c) ---- */
uint32_t fg_replayed_length(uint32_t kind); /* 0: the layout's */
void fg_replay(void);
void fg_call_request(uint8_t **data, size_t *bytes);

/* ---- subscriber (subscriber.c) ---- */
typedef void (*fg_callback_function)(void *user, uint32_t domain, uint32_t cbid, const void *data);
FG_EXPORT int fg_subscribe(fg_callback_function callback, void *user, const void *library, const char *name);
FG_EXPORT const char *fg_subscriber_name(void);
FG_EXPORT int fg_unsubscribe(void);
FG_EXPORT int fg_enable_callback(bool on, uint32_t domain, uint32_t cbid);
FG_EXPORT int fg_enable_domain(bool on, uint32_t domain);
FG_EXPORT bool fg_callback_state(uint32_t domain, uint32_t cbid);
bool fg_call_back(struct fg_call *call, bool is_exit);
void fg_resource_callback(uint32_t cbid, int context_id, const void *stream);
FG_EXPORT bool fg_in_exit_callback(void);
FG_EXPORT int fg_finalize(void);

#endif
