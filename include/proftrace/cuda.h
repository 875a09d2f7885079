/* SPDX-License-Identifier: MIT
 *
 * cuda.h - what the tags of CUDA and GPU events mean, and where a libcupti may lie. Values of copy, memory,
 * synchronisation and overhead kinds are those of CUPTI (CUpti_ActivityMemcpyKind and so on), which are stable since
 * CUDA 5: a trace stores them as they came.
 */
#ifndef PROFTRACE_CUDA_H
#define PROFTRACE_CUDA_H

#include <stdbool.h>

#include "types.h"

/* What a call is for; cuda_call's tag. */
enum pt_cuda_class {
    PT_CUDA_OTHER = 0,
    PT_CUDA_LAUNCH = 1,       /* starts a kernel */
    PT_CUDA_GRAPH_LAUNCH = 2, /* starts a graph */
    PT_CUDA_COPY = 3,         /* returns when the copy is done, or may */
    PT_CUDA_COPY_ASYNC = 4,
    PT_CUDA_SET = 5,
    PT_CUDA_SET_ASYNC = 6,
    PT_CUDA_SYNC = 7,         /* waits for the device, a stream or an event */
    PT_CUDA_ALLOC = 8,        /* memory; may synchronise */
    PT_CUDA_FREE = 9,         /* memory; synchronises */
    PT_CUDA_LOAD = 10,        /* modules, libraries, just-in-time compiling, initialisation */
    PT_CUDA_CAPTURE = 11,     /* captures and instantiates graphs */
    PT_CUDA_ALLOC_ASYNC = 12, /* memory in the order of a stream, pools, mappings: waits for nothing */
    PT_CUDA_FREE_ASYNC = 13,  /* the same, and handles of physical memory */
    PT_CUDA_CLASS__COUNT
};

/* CUpti_ActivityMemcpyKind */
enum pt_cuda_copy {
    PT_CUDA_COPY_HTOD = 1,
    PT_CUDA_COPY_DTOH = 2,
    PT_CUDA_COPY_HTOA = 3,
    PT_CUDA_COPY_ATOH = 4,
    PT_CUDA_COPY_ATOA = 5,
    PT_CUDA_COPY_ATOD = 6,
    PT_CUDA_COPY_DTOA = 7,
    PT_CUDA_COPY_DTOD = 8,
    PT_CUDA_COPY_HTOH = 9,
    PT_CUDA_COPY_PTOP = 10
};

/* CUpti_ActivityMemoryKind */
enum pt_cuda_memory {
    PT_CUDA_MEMORY_UNKNOWN = 0,
    PT_CUDA_MEMORY_PAGEABLE = 1,
    PT_CUDA_MEMORY_PINNED = 2,
    PT_CUDA_MEMORY_DEVICE = 3,
    PT_CUDA_MEMORY_ARRAY = 4,
    PT_CUDA_MEMORY_MANAGED = 5,
    PT_CUDA_MEMORY_DEVICE_STATIC = 6,
    PT_CUDA_MEMORY_MANAGED_STATIC = 7
};

/* gpu_copy's and gpu_set's tag: enum pt_cuda_copy, of which a set has none, between which kinds of memory, and whether
 * the call came back before it was done. */
#define PT_CUDA_COPY_IS_ASYNC 0x80u
static inline pt_u32 pt_cuda_copy_tag(pt_u32 copy, pt_u32 source, pt_u32 target, bool is_async)
{
    return (copy & 0xff) << 16 | (source & 0xff) << 8 | (target & 0x7f) | (is_async ? PT_CUDA_COPY_IS_ASYNC : 0);
}
static inline pt_u32 pt_cuda_copy_of(pt_u32 tag)
{
    return tag >> 16 & 0xff;
}
static inline pt_u32 pt_cuda_copy_source(pt_u32 tag)
{
    return tag >> 8 & 0xff;
}
static inline pt_u32 pt_cuda_copy_target(pt_u32 tag)
{
    return tag & 0x7f;
}

/* CUpti_ActivitySynchronizationType */
enum pt_cuda_sync {
    PT_CUDA_SYNC_EVENT = 1,
    PT_CUDA_SYNC_STREAM_WAIT_EVENT = 2,
    PT_CUDA_SYNC_STREAM = 3,
    PT_CUDA_SYNC_CONTEXT = 4
};

/* CUpti_ActivityOverheadKind */
enum pt_cuda_overhead {
    PT_CUDA_OVERHEAD_COMPILER = 1,
    PT_CUDA_OVERHEAD_BUFFER_FLUSH = 1 << 16,
    PT_CUDA_OVERHEAD_INSTRUMENTATION = 2 << 16,
    PT_CUDA_OVERHEAD_RESOURCE = 3 << 16,
    PT_CUDA_OVERHEAD_MODULE_LOADING = 4 << 16,
    PT_CUDA_OVERHEAD_LAZY_LOADING = 5 << 16,
    PT_CUDA_OVERHEAD_QUEUE_FULL = 6 << 16,
    PT_CUDA_OVERHEAD_ACTIVITY_BUFFER = 7 << 16,
    PT_CUDA_OVERHEAD_UVM = 8 << 16
};

/* How GPU work is seen; gpu_tracing's tag. */
enum pt_cuda_tracing {
    PT_CUDA_TRACING_OFF = 0,     /* by option */
    PT_CUDA_TRACING_CUPTI = 1,   /* everything */
    PT_CUDA_TRACING_WRAPPED = 2, /* calls only: no CUPTI, or another profiler has it */
    PT_CUDA_TRACING_YIELDED = 3, /* for now: the program profiles itself */
    PT_CUDA_TRACING_ENDED = 4,   /* the process gives CUPTI up: exit, fork */
    PT_CUDA_TRACING_CUT = 5      /* as ENDED, but CUPTI kept what it still had */
};

/* Where a libcupti may lie: the library looks there when the driver comes up, `doctor` before. */

/* ROW(major version of CUDA, libcupti, the CUDA runtime beside which it lies), the newest first. Until CUDA 11 the name
 * of libcupti had the minor version. */
#define PT_CUPTI_MAJORS(ROW)                                                                                           \
    ROW(13, "libcupti.so.13", "libcudart.so.13")                                                                       \
    ROW(12, "libcupti.so.12", "libcudart.so.12")                                                                       \
    ROW(11, "libcupti.so.11.8", "libcudart.so.11.0")                                                                   \
    ROW(11, "libcupti.so.11.7", "libcudart.so.11.0")                                                                   \
    ROW(11, "libcupti.so.11.6", "libcudart.so.11.0")                                                                   \
    ROW(11, "libcupti.so.11.5", "libcudart.so.11.0")                                                                   \
    ROW(11, "libcupti.so.11.4", "libcudart.so.11.0")                                                                   \
    ROW(11, "libcupti.so.11.3", "libcudart.so.11.0")                                                                   \
    ROW(11, "libcupti.so.11.2", "libcudart.so.11.0")                                                                   \
    ROW(11, "libcupti.so.11.1", "libcudart.so.11.0")                                                                   \
    ROW(11, "libcupti.so.11.0", "libcudart.so.11.0")

/* Has a runtime linked in, and the wheel of CUPTI in reach. */
#define PT_CUPTI_TORCH "libtorch_cuda.so"

/* Relative to the folder of one of these: a toolkit's lib64, the wheels of CUDA 12 and 13, and both seen from
 * torch/lib. */
#define PT_CUPTI_BESIDE                                                                                                \
    "/", "/../extras/CUPTI/lib64/", "/../../cuda_cupti/lib/", "/../../nvidia/cuda_cupti/lib/", "/../../nvidia/cu13/lib/"

/* Variables that name a toolkit, and where it is below that. */
#define PT_CUPTI_HOMES "CUDA_HOME", "CUDA_PATH"
#define PT_CUPTI_BELOW_HOME "/extras/CUPTI/lib64/", "/lib64/", "/lib/"

#endif
