/* SPDX-License-Identifier: MIT
 *
 * pool.c - stream-ordered allocation and its pools.
 */
#include "runtime.h"
#include <string.h>

static int allocate(const struct fg_api *row, void **address, size_t bytes, void *pool_handle, void *stream_handle)
{
    BEGIN(row);
    if (!error) {
        struct fg_stream *stream = fg_stream_of(stream_handle, row->is_per_thread);
        struct fg_pool *pool = pool_handle ? fg_pool_of(pool_handle) : fg_default_pool(fg_device());
        error = !stream ? FG_INVALID_HANDLE
                : !pool ? FG_INVALID_VALUE
                        : fg_allocate(&call, address, bytes, FG_DEVICE, pool, stream);
    }
    return fg_leave(&call, error);
}

int cudaMallocAsync(void **address, size_t bytes, void *stream)
{
    return allocate(ROW(cudaMallocAsync), address, bytes, NULL, stream);
}

int cudaMallocAsync_ptsz(void **address, size_t bytes, void *stream)
{
    return allocate(ROW(cudaMallocAsync_ptsz), address, bytes, NULL, stream);
}

int cudaMallocFromPoolAsync(void **address, size_t bytes, void *pool, void *stream)
{
    return allocate(ROW(cudaMallocFromPoolAsync), address, bytes, pool, stream);
}

int cudaMallocFromPoolAsync_ptsz(void **address, size_t bytes, void *pool, void *stream)
{
    return allocate(ROW(cudaMallocFromPoolAsync_ptsz), address, bytes, pool, stream);
}

static int release(const struct fg_api *row, void *address, void *stream_handle)
{
    BEGIN(row);
    if (!error) {
        struct fg_stream *stream = fg_stream_of(stream_handle, row->is_per_thread);
        error = stream ? fg_release(&call, address, stream) : FG_INVALID_HANDLE;
    }
    return fg_leave(&call, error);
}

int cudaFreeAsync(void *address, void *stream)
{
    return release(ROW(cudaFreeAsync), address, stream);
}

int cudaFreeAsync_ptsz(void *address, void *stream)
{
    return release(ROW(cudaFreeAsync_ptsz), address, stream);
}

static int give_default(const struct fg_api *row, void **pool, int device)
{
    BEGIN(row);
    if (!error && (device < 0 || device >= fg_program()->n_devices))
        error = FG_INVALID_DEVICE;
    if (!error)
        *pool = fg_default_pool(device);
    return fg_leave(&call, error);
}

int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
    return give_default(ROW(cudaDeviceGetDefaultMemPool), pool, device);
}

int cudaDeviceGetMemPool(void **pool, int device)
{
    return give_default(ROW(cudaDeviceGetMemPool), pool, device);
}

int cudaMemPoolCreate(void **pool, const void *properties)
{
    (void)properties;
    BEGIN(ROW(cudaMemPoolCreate));
    if (!error)
        *pool = fg_pool_create(&call, fg_device());
    return fg_leave(&call, error);
}

int cudaMemPoolDestroy(void *pool)
{
    BEGIN(ROW(cudaMemPoolDestroy));
    if (!error)
        error = fg_pool_of(pool) ? fg_pool_destroy(&call, pool) : FG_INVALID_VALUE;
    return fg_leave(&call, error);
}

int cudaMemPoolTrimTo(void *pool, size_t keep_bytes)
{
    BEGIN(ROW(cudaMemPoolTrimTo));
    if (!error)
        error = fg_pool_of(pool) ? fg_pool_trim(&call, pool, keep_bytes) : FG_INVALID_VALUE;
    return fg_leave(&call, error);
}

enum { ATTR_RELEASE_THRESHOLD = 4, ATTR_RESERVED = 5, ATTR_USED = 7 };

int cudaMemPoolSetAttribute(void *handle, int attribute, void *value)
{
    BEGIN(ROW(cudaMemPoolSetAttribute));
    struct fg_pool *pool = fg_pool_of(handle);
    if (!error && !pool)
        error = FG_INVALID_VALUE;
    if (!error && attribute == ATTR_RELEASE_THRESHOLD)
        memcpy(&pool->release_threshold, value, sizeof pool->release_threshold);
    return fg_leave(&call, error);
}

int cudaMemPoolGetAttribute(void *handle, int attribute, void *value)
{
    BEGIN(ROW(cudaMemPoolGetAttribute));
    const struct fg_pool *pool = fg_pool_of(handle);
    if (!error && !pool)
        error = FG_INVALID_VALUE;
    if (!error) {
        const uint64_t shown = attribute == ATTR_RELEASE_THRESHOLD ? pool->release_threshold
                               : attribute == ATTR_RESERVED        ? pool->reserved_bytes
                               : attribute == ATTR_USED            ? pool->used_bytes
                                                                   : 0;
        memcpy(value, &shown, attribute >= ATTR_RELEASE_THRESHOLD ? sizeof shown : sizeof(int));
    }
    return fg_leave(&call, error);
}
