/* SPDX-License-Identifier: MIT
 *
 * fakegpu.h - the engine that the doubles of libcudart, libcupti and libcuda share: one virtual machine of GPUs per
 * process. The libraries are thin: they know signatures, the engine knows what happens.
 *
 * Nothing here runs on a GPU or computes: when an operation starts and ends follows from the GPU program alone. Times
 * are CLOCK_MONOTONIC in nanoseconds unless a name says otherwise.
 */
#ifndef FAKEGPU_H
#define FAKEGPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FG_EXPORT __attribute__((visibility("default")))
enum { FG_QUEUE_MAX = 65536, FG_DEVICES_MAX = 16, FG_NO_STREAM = -1 };

/* Results of the runtime that the engine itself gives. */
enum fg_result {
    FG_OK = 0,
    FG_INVALID_VALUE = 1,
    FG_OUT_OF_MEMORY = 2,
    FG_NOT_INITIALIZED = 3,
    FG_UNLOADING = 4,
    FG_INSUFFICIENT_DRIVER = 35,
    FG_INVALID_DEVICE = 101,
    FG_INVALID_HANDLE = 400,
    FG_NOT_READY = 600,
    FG_NOT_SUPPORTED = 801,
    FG_CAPTURE_UNSUPPORTED = 900,
};

/* ---- the program (program.c) ---- */
enum fg_fault {
#define NUMBER(word, value, meaning)
#define FAULT(name, meaning) FG_FAULT_##name,
#include "program.def"
#undef NUMBER
#undef FAULT
    FG_N_FAULTS
};
struct fg_program {
#define NUMBER(word, value, meaning) double word;
#define FAULT(name, meaning)
#include "program.def"
#undef NUMBER
#undef FAULT
    double fault[FG_N_FAULTS]; /* 0: off; the argument, 1 where none is given */
    int n_devices;
    char device_names[FG_DEVICES_MAX][64];
};
FG_EXPORT const struct fg_program *fg_program(void);
FG_EXPORT uint64_t fg_kernel_ns(const char *name, uint64_t n_blocks);
/* The code that an `error` line gives to this call, or 0. Counts the call. */
FG_EXPORT int fg_planned_error(const char *function);
/* True for every n-th call of this fault with argument n. */
FG_EXPORT bool fg_fault_due(enum fg_fault fault);

/* ---- time (time.c) ---- */
FG_EXPORT uint64_t fg_now_ns(void);
/* Blocks until then: spins the last 200 us, sleeps before. */
FG_EXPORT void fg_wait_until(uint64_t ns);
FG_EXPORT void fg_busy(double ns);
FG_EXPORT uint64_t fg_gpu_clock(uint64_t ns);

/* ---- calls (call.c) ---- */
enum fg_domain { FG_DRIVER_API = 1, FG_RUNTIME_API = 2 };
struct fg_api {
    const char *name;
    uint32_t cbid;
    bool is_per_thread; /* a _ptsz or _ptds twin: stream 0 is the thread's own */
    enum fg_domain domain;
    const char *suffix; /* what cuptiGetCallbackName puts behind the name */
};
struct fg_call {
    const struct fg_api *api;
    uint32_t correlation;
    uint64_t start_ns, start_stamp;
    uint64_t correlation_data;
    int result;
    bool is_quiet; /* within another call or an injection: nothing is recorded */
    bool is_called_back;
};
/* Returns what the call must fail with, before anything is done. */
FG_EXPORT int fg_enter(struct fg_call *call, const struct fg_api *api);
FG_EXPORT int fg_leave(struct fg_call *call, int result);
/* Announces a table of functions, so that names and callbacks know them. */
FG_EXPORT void fg_add_apis(const struct fg_api *apis, size_t n);
FG_EXPORT const struct fg_api *fg_find_api(enum fg_domain domain, uint32_t cbid);
FG_EXPORT int fg_last_error(bool take);
/* The driver's exit handler has run: nothing is executed or delivered any more. */
FG_EXPORT bool fg_is_exiting(void);
FG_EXPORT void fg_set_runtime(int version, const char *soname);
FG_EXPORT int fg_runtime_version(void);

/* ---- devices, streams, events (device.c, stream.c, event.c) ---- */
struct fg_graph;
struct fg_stream {
    uint64_t magic;
    struct fg_stream *next;
    uint32_t id;
    int device;
    int priority;
    bool is_nonblocking, is_default, is_per_thread;
    uint64_t end_ns; /* of the last operation */
    uint64_t *queue; /* ends of the last queue_depth operations */
    uint64_t n_queued;
    struct fg_graph *capture;
};
struct fg_event {
    uint64_t magic;
    uint32_t id;
    uint64_t time_ns; /* 0: never recorded */
    uint32_t stream_id;
    struct fg_graph *capture;
};
FG_EXPORT int fg_device(void);
FG_EXPORT int fg_set_device(int device);
FG_EXPORT int fg_context_id(int device);
FG_EXPORT struct fg_stream *fg_stream_create(int priority, bool is_nonblocking);
FG_EXPORT struct fg_stream *fg_stream_of(void *handle, bool is_per_thread);
FG_EXPORT int fg_stream_destroy(struct fg_stream *stream);
FG_EXPORT uint64_t fg_stream_end(struct fg_stream *stream);
FG_EXPORT uint64_t fg_device_end(int device);
FG_EXPORT void fg_stream_wait(struct fg_stream *stream, uint64_t ns);
FG_EXPORT struct fg_event *fg_event_create(void);
FG_EXPORT struct fg_event *fg_event_of(void *handle);
FG_EXPORT int fg_event_record(struct fg_call *call, struct fg_event *event, struct fg_stream *stream);
FG_EXPORT int fg_event_wait(struct fg_stream *stream, struct fg_event *event);
FG_EXPORT void fg_event_destroy(struct fg_event *event);

/* ---- operations (operation.c) ---- */
enum fg_op_kind { FG_KERNEL, FG_COPY, FG_SET, FG_HOST, FG_EMPTY };
enum fg_memory_kind { FG_PAGEABLE = 1, FG_PINNED, FG_DEVICE, FG_ARRAY, FG_MANAGED };
enum fg_copy_kind { FG_HTOD = 1, FG_DTOH = 2, FG_DTOD = 8, FG_HTOH = 9, FG_PTOP = 10 };
struct fg_op {
    enum fg_op_kind kind;
    const char *name;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    uint64_t bytes;
    uint8_t copy_kind, source_kind, target_kind;
    int source_device, target_device;
    uint32_t value;
    bool is_async;
    void *target;
    const void *source;
    void (*host_function)(void *);
    void *host_argument;
    uint32_t graph_id;
    uint64_t node_id;
};
/* Puts it on the stream, or into the graph that the stream is capturing. *end_ns is 0 then. */
FG_EXPORT int fg_submit(struct fg_call *call, struct fg_stream *stream, struct fg_op *op, uint64_t *end_ns);
FG_EXPORT void fg_describe_copy(struct fg_op *op, void *target, const void *source, uint64_t bytes, int kind);
FG_EXPORT void fg_move_bytes(const struct fg_op *op);
enum fg_wait { FG_WAIT_EVENT = 1, FG_WAIT_STREAM_EVENT, FG_WAIT_STREAM, FG_WAIT_CONTEXT };
/* Blocks until `until_ns` and records who waited for what; stream_id and event_id are -1 where there is none. */
FG_EXPORT void fg_synchronize(struct fg_call *call, enum fg_wait type, int64_t stream_id, int64_t event_id,
                              uint64_t until_ns);
/* A query that found its stream or event busy. */
FG_EXPORT void fg_not_ready(struct fg_call *call, enum fg_wait type, int64_t stream_id, int64_t event_id);
FG_EXPORT void fg_run_host_functions_until(uint64_t ns);

/* ---- memory (memory.c) ---- */
struct fg_pool {
    uint64_t magic;
    int device;
    uint64_t reserved_bytes, used_bytes, release_threshold;
};
struct fg_allocation {
    void *address;
    uint64_t bytes;
    uint8_t kind;
    int device;
    struct fg_pool *pool;
    bool is_registered; /* the program's own memory, pinned */
};
FG_EXPORT int fg_allocate(struct fg_call *call, void **address, uint64_t bytes, enum fg_memory_kind kind,
                          struct fg_pool *pool, struct fg_stream *stream);
FG_EXPORT int fg_release(struct fg_call *call, void *address, struct fg_stream *stream);
FG_EXPORT int fg_register(struct fg_call *call, void *address, uint64_t bytes, bool on);
FG_EXPORT bool fg_find_memory(const void *address, struct fg_allocation *found);
FG_EXPORT void fg_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes);
FG_EXPORT struct fg_pool *fg_default_pool(int device);
FG_EXPORT struct fg_pool *fg_pool_create(struct fg_call *call, int device);
FG_EXPORT struct fg_pool *fg_pool_of(void *handle);
FG_EXPORT int fg_pool_trim(struct fg_call *call, struct fg_pool *pool, uint64_t keep_bytes);
FG_EXPORT int fg_pool_destroy(struct fg_call *call, struct fg_pool *pool);

/* ---- kernels (kernel.c) ---- */
FG_EXPORT void fg_kernel_register(const void *module, const void *host_function, const char *name);
/* The name; the first time the loading of its module and of itself is paid and recorded. */
FG_EXPORT const char *fg_kernel_name(struct fg_call *call, const void *host_function);

/* Compiles, as loading PTX does. */
FG_EXPORT void fg_compile(struct fg_call *call);

/* ---- graphs (graph.c) ---- */
FG_EXPORT struct fg_graph *fg_graph_create(void);
FG_EXPORT struct fg_graph *fg_graph_of(void *handle);
FG_EXPORT struct fg_graph *fg_graph_instantiate(const struct fg_graph *graph);
FG_EXPORT uint64_t fg_graph_add(struct fg_graph *graph, const struct fg_op *op);
FG_EXPORT size_t fg_graph_size(const struct fg_graph *graph);
FG_EXPORT uint32_t fg_graph_id(const struct fg_graph *graph);
FG_EXPORT int fg_graph_launch(struct fg_call *call, struct fg_graph *graph, struct fg_stream *stream);
FG_EXPORT void fg_graph_destroy(struct fg_graph *graph);
FG_EXPORT int fg_capture_begin(struct fg_stream *stream, struct fg_graph *into);
FG_EXPORT int fg_capture_end(struct fg_stream *stream, struct fg_graph **graph);

/* ---- what truly happened (witness.c) ---- */
FG_EXPORT void fg_witness(const char *format, ...) __attribute__((format(printf, 1, 2)));
FG_EXPORT bool fg_has_witness(void);
/* A JSON string; bytes that are no printable ASCII become \u00XX. NULL becomes null. */
FG_EXPORT const char *fg_json_text(const char *text, char *out, size_t size);

#endif
