/* SPDX-License-Identifier: MIT
 *
 * allocate.c - device, managed and pinned memory.
 */
#include "runtime.h"
#include <string.h>

static int allocate(const struct fg_api *row, void **address, size_t bytes, enum fg_memory_kind kind)
{
    BEGIN(row);
    if (!error)
        error = address ? fg_allocate(&call, address, bytes, kind, NULL, NULL) : FG_INVALID_VALUE;
    return fg_leave(&call, error);
}

static int release(const struct fg_api *row, void *address)
{
    BEGIN(row);
    if (!error)
        error = fg_release(&call, address, NULL);
    return fg_leave(&call, error);
}

int cudaMalloc(void **address, size_t bytes)
{
    return allocate(ROW(cudaMalloc), address, bytes, FG_DEVICE);
}

int cudaMallocManaged(void **address, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(ROW(cudaMallocManaged), address, bytes, FG_MANAGED);
}

int cudaMallocHost(void **address, size_t bytes)
{
    return allocate(ROW(cudaMallocHost), address, bytes, FG_PINNED);
}

int cudaHostAlloc(void **address, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(ROW(cudaHostAlloc), address, bytes, FG_PINNED);
}

int cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + 511) / 512 * 512;
    return allocate(ROW(cudaMallocPitch), address, *pitch * height, FG_DEVICE);
}

struct pitched {
    void *address;
    size_t pitch, width, height;
};
struct extent {
    size_t width, height, depth;
};

int cudaMalloc3D(struct pitched *memory, struct extent extent)
{
    memory->pitch = (extent.width + 511) / 512 * 512;
    memory->width = extent.width;
    memory->height = extent.height;
    return allocate(ROW(cudaMalloc3D), &memory->address, memory->pitch * extent.height * extent.depth, FG_DEVICE);
}

int cudaFree(void *address)
{
    return release(ROW(cudaFree), address);
}

int cudaFreeHost(void *address)
{
    return release(ROW(cudaFreeHost), address);
}

int cudaHostRegister(void *address, size_t bytes, unsigned flags)
{
    (void)flags;
    BEGIN(ROW(cudaHostRegister));
    if (!error)
        error = fg_register(&call, address, bytes, true);
    return fg_leave(&call, error);
}

int cudaHostUnregister(void *address)
{
    BEGIN(ROW(cudaHostUnregister));
    if (!error)
        error = fg_register(&call, address, 0, false);
    return fg_leave(&call, error);
}

int cudaHostGetDevicePointer(void **device_address, void *address, unsigned flags)
{
    (void)flags;
    BEGIN(ROW(cudaHostGetDevicePointer));
    if (!error)
        *device_address = address;
    return fg_leave(&call, error);
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    BEGIN(ROW(cudaMemGetInfo));
    if (!error)
        fg_memory_info(fg_device(), free_bytes, total_bytes);
    return fg_leave(&call, error);
}

/* cudaPointerAttributes */
struct pointer_attributes {
    int type; /* 0 unregistered, 1 host, 2 device, 3 managed */
    int device;
    void *device_address, *host_address;
};

int cudaPointerGetAttributes(struct pointer_attributes *attributes, const void *address)
{
    BEGIN(ROW(cudaPointerGetAttributes));
    struct fg_allocation found;
    if (!error) {
        memset(attributes, 0, sizeof *attributes);
        attributes->device = -2;
        if (fg_find_memory(address, &found)) {
            void *same = (void *)(uintptr_t)address;
            attributes->type = found.kind == FG_PINNED ? 1 : found.kind == FG_DEVICE ? 2 : 3;
            attributes->device = found.device;
            attributes->device_address = same;
            attributes->host_address = found.kind == FG_DEVICE ? NULL : same;
        }
    }
    return fg_leave(&call, error);
}

#if FAKECUDART_MAJOR >= 13
struct location {
    int type, id;
};
int cudaMemAdvise(const void *address, size_t bytes, int advice, struct location location)
{
    (void)address, (void)bytes, (void)advice, (void)location;
#else
int cudaMemAdvise(const void *address, size_t bytes, int advice, int device)
{
    (void)address, (void)bytes, (void)advice, (void)device;
#endif
    BEGIN(ROW(cudaMemAdvise));
    return fg_leave(&call, error);
}
