/* SPDX-License-Identifier: MIT
 *
 * set.c - memset. On device memory the host does not wait, whatever the function is called.
 */
#include "runtime.h"
#include <string.h>

static int set(const struct fg_api *row, void *target, int value, size_t bytes, void *stream_handle, bool is_async)
{
    BEGIN(row);
    struct fg_stream *stream = error ? NULL : fg_stream_of(stream_handle, row->is_per_thread);
    if (!error && (!stream || (bytes && !target)))
        error = stream ? FG_INVALID_VALUE : FG_INVALID_HANDLE;
    if (!error) {
        struct fg_allocation found = {.kind = FG_PAGEABLE, .device = -1};
        uint64_t end_ns;
        fg_find_memory(target, &found);
        struct fg_op op = {.kind = FG_SET,
                           .bytes = bytes,
                           .value = (uint8_t)value,
                           .target = target,
                           .target_kind = found.kind,
                           .is_async = is_async};
        error = fg_submit(&call, stream, &op, &end_ns);
    }
    return fg_leave(&call, error);
}

int cudaMemset(void *target, int value, size_t bytes)
{
    return set(ROW(cudaMemset), target, value, bytes, NULL, false);
}

int cudaMemset_ptds(void *target, int value, size_t bytes)
{
    return set(ROW(cudaMemset_ptds), target, value, bytes, NULL, false);
}

int cudaMemsetAsync(void *target, int value, size_t bytes, void *stream)
{
    return set(ROW(cudaMemsetAsync), target, value, bytes, stream, true);
}

int cudaMemsetAsync_ptsz(void *target, int value, size_t bytes, void *stream)
{
    return set(ROW(cudaMemsetAsync_ptsz), target, value, bytes, stream, true);
}

int cudaMemset2D(void *target, size_t pitch, int value, size_t width, size_t height)
{
    return set(ROW(cudaMemset2D), target, value, pitch > width ? pitch * (height - 1) + width : width * height, NULL,
               false);
}

int cudaMemset2DAsync(void *target, size_t pitch, int value, size_t width, size_t height, void *stream)
{
    return set(ROW(cudaMemset2DAsync), target, value, pitch > width ? pitch * (height - 1) + width : width * height,
               stream, true);
}

int cudaMemset2D_ptds(void *target, size_t pitch, int value, size_t width, size_t height)
{
    return set(ROW(cudaMemset2D_ptds), target, value, pitch > width ? pitch * (height - 1) + width : width * height,
               NULL, false);
}

int cudaMemset2DAsync_ptsz(void *target, size_t pitch, int value, size_t width, size_t height, void *stream)
{
    return set(ROW(cudaMemset2DAsync_ptsz), target, value,
               pitch > width ? pitch * (height - 1) + width : width * height, stream, true);
}

/* cudaPitchedPtr and cudaExtent */
struct pitched {
    void *address;
    size_t pitch, width, height;
};
struct extent {
    size_t width, height, depth;
};

int cudaMemset3D(struct pitched memory, int value, struct extent extent)
{
    return set(ROW(cudaMemset3D), memory.address, value, extent.width * extent.height * extent.depth, NULL, false);
}

int cudaMemset3DAsync(struct pitched memory, int value, struct extent extent, void *stream)
{
    return set(ROW(cudaMemset3DAsync), memory.address, value, extent.width * extent.height * extent.depth, stream,
               true);
}
