/* SPDX-License-Identifier: MIT
 *
 * more.c - calls that programs and libraries make around the others; most only answer.
 */
#include "runtime.h"
#include <stdlib.h>

#if FAKECUDART_MAJOR >= 13
struct location {
    int type, id;
};
#define PLACE struct location place, unsigned flags
#define IGNORE_PLACE (void)place, (void)flags
#else
#define PLACE int place
#define IGNORE_PLACE (void)place
#endif

/* Managed memory is not moved here: the call is all there is. */
int cudaMemPrefetchAsync(const void *address, size_t bytes, PLACE, void *stream)
{
    (void)address, (void)bytes, (void)stream, IGNORE_PLACE;
    BEGIN(ROW(cudaMemPrefetchAsync));
    return fg_leave(&call, error);
}

int cudaMemPrefetchAsync_ptsz(const void *address, size_t bytes, PLACE, void *stream)
{
    (void)address, (void)bytes, (void)stream, IGNORE_PLACE;
    BEGIN(ROW(cudaMemPrefetchAsync_ptsz));
    return fg_leave(&call, error);
}

int cudaFuncSetCacheConfig(const void *function, int config)
{
    (void)function, (void)config;
    BEGIN(ROW(cudaFuncSetCacheConfig));
    return fg_leave(&call, error);
}

int cudaDeviceGetLimit(size_t *value, int limit)
{
    (void)limit;
    BEGIN(ROW(cudaDeviceGetLimit));
    if (!error)
        *value = 1024;
    return fg_leave(&call, error);
}

int cudaDeviceSetLimit(int limit, size_t value)
{
    (void)limit, (void)value;
    BEGIN(ROW(cudaDeviceSetLimit));
    return fg_leave(&call, error);
}

static int occupancy(const struct fg_api *row, int *n_blocks, int n_threads)
{
    BEGIN(row);
    if (!error)
        *n_blocks = n_threads > 0 ? 2048 / n_threads : 0;
    return fg_leave(&call, error);
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks, const void *function, int n_threads,
                                                  size_t shared_bytes)
{
    (void)function, (void)shared_bytes;
    return occupancy(ROW(cudaOccupancyMaxActiveBlocksPerMultiprocessor), n_blocks, n_threads);
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n_blocks, const void *function, int n_threads,
                                                           size_t shared_bytes, unsigned flags)
{
    (void)function, (void)shared_bytes, (void)flags;
    return occupancy(ROW(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags), n_blocks, n_threads);
}

int cudaGetDeviceFlags(unsigned *flags)
{
    BEGIN(ROW(cudaGetDeviceFlags));
    if (!error)
        *flags = 0;
    return fg_leave(&call, error);
}

int cudaHostGetFlags(unsigned *flags, void *address)
{
    struct fg_allocation found;
    BEGIN(ROW(cudaHostGetFlags));
    if (!error && !fg_find_memory(address, &found))
        error = FG_INVALID_VALUE;
    if (!error)
        *flags = 0;
    return fg_leave(&call, error);
}

int cudaDeviceSetMemPool(int device, void *pool)
{
    (void)device;
    BEGIN(ROW(cudaDeviceSetMemPool));
    return fg_leave(&call, error ? error : fg_pool_of(pool) ? FG_OK : FG_INVALID_VALUE);
}

int cudaThreadExchangeStreamCaptureMode(int *mode)
{
    static __thread int current;
    BEGIN(ROW(cudaThreadExchangeStreamCaptureMode));
    if (!error) {
        const int before = current;
        current = *mode;
        *mode = before;
    }
    return fg_leave(&call, error);
}

int cudaGraphUpload(void *exec, void *stream)
{
    (void)stream;
    BEGIN(ROW(cudaGraphUpload));
    return fg_leave(&call, error ? error : fg_graph_of(exec) ? FG_OK : FG_INVALID_VALUE);
}

#if FAKECUDART_MAJOR >= 12
int cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    BEGIN(ROW(cudaInitDevice));
    return fg_leave(&call, error ? error : device < fg_program()->n_devices ? FG_OK : FG_INVALID_DEVICE);
}
#endif

/* ---- the older form of a host function ---- */
struct callback {
    void (*function)(void *, int, void *);
    void *stream, *argument;
};

static void run_callback(void *data)
{
    struct callback *callback = data;
    callback->function(callback->stream, FG_OK, callback->argument);
    free(callback);
}

int cudaStreamAddCallback(void *handle, void (*function)(void *, int, void *), void *argument, unsigned flags)
{
    (void)flags;
    BEGIN(ROW(cudaStreamAddCallback));
    struct fg_stream *stream = error ? NULL : fg_stream_of(handle, false);
    if (!error && !stream)
        error = FG_INVALID_HANDLE;
    if (!error) {
        struct callback *callback = malloc(sizeof *callback);
        *callback = (struct callback){function, handle, argument};
        struct fg_op op = {.kind = FG_HOST, .host_function = run_callback, .host_argument = callback, .is_async = true};
        uint64_t end_ns;
        error = fg_submit(&call, stream, &op, &end_ns);
    }
    return fg_leave(&call, error);
}

/* ---- nodes of graphs ---- */
/* cudaMemsetParams */
struct set_node {
    void *target;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
};

int cudaGraphAddMemsetNode(void **node, void *graph, const void **dependencies, size_t n, const struct set_node *what)
{
    (void)dependencies, (void)n;
    BEGIN(ROW(cudaGraphAddMemsetNode));
    if (!error && !fg_graph_of(graph))
        error = FG_INVALID_VALUE;
    if (!error) {
        const struct fg_op op = {.kind = FG_SET,
                                 .bytes = what->width * what->height * what->element_bytes,
                                 .value = what->value,
                                 .target = what->target,
                                 .target_kind = FG_DEVICE,
                                 .is_async = true};
        *node = (void *)(uintptr_t)fg_graph_add(graph, &op);
    }
    return fg_leave(&call, error);
}

/* cudaHostNodeParams */
struct host_node {
    void (*function)(void *);
    void *argument;
};

int cudaGraphAddHostNode(void **node, void *graph, const void **dependencies, size_t n, const struct host_node *what)
{
    (void)dependencies, (void)n;
    BEGIN(ROW(cudaGraphAddHostNode));
    if (!error && !fg_graph_of(graph))
        error = FG_INVALID_VALUE;
    if (!error) {
        const struct fg_op op = {.kind = FG_HOST, .host_function = what->function, .host_argument = what->argument};
        *node = (void *)(uintptr_t)fg_graph_add(graph, &op);
    }
    return fg_leave(&call, error);
}
