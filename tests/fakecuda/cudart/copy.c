/* SPDX-License-Identifier: MIT
 *
 * copy.c - copies. A synchronous copy returns when it is done; an asynchronous one with pageable memory waits for its
 * bytes all the same, because the driver stages them; copies within a device never wait.
 */
#include "runtime.h"
#include <string.h>

static bool waits(const struct fg_op *op)
{
    if (op->copy_kind == FG_DTOD || op->copy_kind == FG_PTOP)
        return false;
    return !op->is_async || op->source_kind == FG_PAGEABLE || op->target_kind == FG_PAGEABLE;
}

static int submit(struct fg_call *call, void *stream_handle, struct fg_op *op)
{
    uint64_t end_ns = 0;
    struct fg_stream *stream = fg_stream_of(stream_handle, call->api->is_per_thread);
    if (!stream)
        return FG_INVALID_HANDLE;
    const int error = fg_submit(call, stream, op, &end_ns);
    if (!error && end_ns && waits(op))
        fg_wait_until(end_ns);
    return error;
}

static int copy(const struct fg_api *row, void *target, const void *source, size_t bytes, int kind, void *stream,
                bool is_async)
{
    BEGIN(row);
    if (!error && (kind < 0 || kind > COPY_DEFAULT || (bytes && (!target || !source))))
        error = kind < 0 || kind > COPY_DEFAULT ? 21 : FG_INVALID_VALUE; /* 21: invalid direction */
    if (!error) {
        struct fg_op op;
        fg_describe_copy(&op, target, source, bytes, kind);
        op.is_async = is_async;
        error = submit(&call, stream, &op);
    }
    return fg_leave(&call, error);
}

int cudaMemcpy(void *target, const void *source, size_t bytes, int kind)
{
    return copy(ROW(cudaMemcpy), target, source, bytes, kind, NULL, false);
}

int cudaMemcpy_ptds(void *target, const void *source, size_t bytes, int kind)
{
    return copy(ROW(cudaMemcpy_ptds), target, source, bytes, kind, NULL, false);
}

int cudaMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream)
{
    return copy(ROW(cudaMemcpyAsync), target, source, bytes, kind, stream, true);
}

int cudaMemcpyAsync_ptsz(void *target, const void *source, size_t bytes, int kind, void *stream)
{
    return copy(ROW(cudaMemcpyAsync_ptsz), target, source, bytes, kind, stream, true);
}

int cudaMemcpyPeer(void *target, int target_device, const void *source, int source_device, size_t bytes)
{
    (void)target_device, (void)source_device;
    return copy(ROW(cudaMemcpyPeer), target, source, bytes, COPY_DEVICE_TO_DEVICE, NULL, false);
}

int cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device, size_t bytes,
                        void *stream)
{
    (void)target_device, (void)source_device;
    return copy(ROW(cudaMemcpyPeerAsync), target, source, bytes, COPY_DEVICE_TO_DEVICE, stream, true);
}

/* A rectangle: counted as its bytes, moved row by row where it is small. */
static int copy_2d(const struct fg_api *row, char *target, size_t target_pitch, const char *source, size_t source_pitch,
                   size_t width, size_t height, int kind, void *stream, bool is_async)
{
    BEGIN(row);
    if (!error) {
        struct fg_op op;
        fg_describe_copy(&op, target, source, width * height, kind);
        op.target = NULL; /* its rows are moved below */
        op.is_async = is_async;
        error = submit(&call, stream, &op);
        for (size_t i = 0; !error && i < height && width * height <= (size_t)fg_program()->copy_data_bytes; i++)
            memmove(target + i * target_pitch, source + i * source_pitch, width);
    }
    return fg_leave(&call, error);
}

int cudaMemcpy2D(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                 size_t height, int kind)
{
    return copy_2d(ROW(cudaMemcpy2D), target, target_pitch, source, source_pitch, width, height, kind, NULL, false);
}

int cudaMemcpy2D_ptds(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                      size_t height, int kind)
{
    return copy_2d(ROW(cudaMemcpy2D_ptds), target, target_pitch, source, source_pitch, width, height, kind, NULL,
                   false);
}

int cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                      size_t height, int kind, void *stream)
{
    return copy_2d(ROW(cudaMemcpy2DAsync), target, target_pitch, source, source_pitch, width, height, kind, stream,
                   true);
}

int cudaMemcpy2DAsync_ptsz(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                           size_t height, int kind, void *stream)
{
    return copy_2d(ROW(cudaMemcpy2DAsync_ptsz), target, target_pitch, source, source_pitch, width, height, kind, stream,
                   true);
}

/* cudaMemcpy3DParms */
struct copy_3d {
    void *source_array;
    size_t source_at[3];
    void *source;
    size_t source_pitch, source_width, source_height;
    void *target_array;
    size_t target_at[3];
    void *target;
    size_t target_pitch, target_width, target_height;
    size_t width, height, depth;
    int kind;
};

static int copy_3d(const struct fg_api *row, const struct copy_3d *what, void *stream, bool is_async)
{
    BEGIN(row);
    if (!error) {
        struct fg_op op;
        fg_describe_copy(&op, what->target, what->source, what->width * what->height * what->depth, what->kind);
        op.target = NULL;
        op.is_async = is_async;
        error = submit(&call, stream, &op);
    }
    return fg_leave(&call, error);
}

int cudaMemcpy3D(const struct copy_3d *what)
{
    return copy_3d(ROW(cudaMemcpy3D), what, NULL, false);
}

int cudaMemcpy3D_ptds(const struct copy_3d *what)
{
    return copy_3d(ROW(cudaMemcpy3D_ptds), what, NULL, false);
}

int cudaMemcpy3DAsync(const struct copy_3d *what, void *stream)
{
    return copy_3d(ROW(cudaMemcpy3DAsync), what, stream, true);
}

int cudaMemcpy3DAsync_ptsz(const struct copy_3d *what, void *stream)
{
    return copy_3d(ROW(cudaMemcpy3DAsync_ptsz), what, stream, true);
}

/* Symbols have no memory of their own here: only the transfer is played. */
static int copy_symbol(const struct fg_api *row, const void *memory, size_t bytes, int copy_kind, void *stream,
                       bool is_async)
{
    BEGIN(row);
    if (!error) {
        struct fg_op op;
        fg_describe_copy(&op, NULL, memory, bytes, copy_kind);
        op.source = NULL;
        op.target_kind = copy_kind == COPY_HOST_TO_DEVICE ? FG_DEVICE : op.source_kind;
        op.source_kind = copy_kind == COPY_HOST_TO_DEVICE ? op.source_kind : FG_DEVICE;
        op.is_async = is_async;
        error = submit(&call, stream, &op);
    }
    return fg_leave(&call, error);
}

int cudaMemcpyToSymbol(const void *symbol, const void *source, size_t bytes, size_t offset, int kind)
{
    (void)symbol, (void)offset, (void)kind;
    return copy_symbol(ROW(cudaMemcpyToSymbol), source, bytes, COPY_HOST_TO_DEVICE, NULL, false);
}

int cudaMemcpyToSymbolAsync(const void *symbol, const void *source, size_t bytes, size_t offset, int kind, void *stream)
{
    (void)symbol, (void)offset, (void)kind;
    return copy_symbol(ROW(cudaMemcpyToSymbolAsync), source, bytes, COPY_HOST_TO_DEVICE, stream, true);
}

int cudaMemcpyFromSymbol(void *target, const void *symbol, size_t bytes, size_t offset, int kind)
{
    (void)symbol, (void)offset, (void)kind;
    return copy_symbol(ROW(cudaMemcpyFromSymbol), target, bytes, COPY_DEVICE_TO_HOST, NULL, false);
}

int cudaMemcpyFromSymbolAsync(void *target, const void *symbol, size_t bytes, size_t offset, int kind, void *stream)
{
    (void)symbol, (void)offset, (void)kind;
    return copy_symbol(ROW(cudaMemcpyFromSymbolAsync), target, bytes, COPY_DEVICE_TO_HOST, stream, true);
}

#if FAKECUDART_MAJOR >= 13
/* A batch: one record per copy, one call. */
static int copy_batch(const struct fg_api *row, void **targets, const void **sources, const size_t *bytes, size_t n,
                      void *stream)
{
    BEGIN(row);
    for (size_t i = 0; !error && i < n; i++) {
        struct fg_op op;
        fg_describe_copy(&op, targets[i], sources[i], bytes[i], COPY_DEFAULT);
        op.is_async = true;
        error = submit(&call, stream, &op);
    }
    return fg_leave(&call, error);
}

int cudaMemcpyBatchAsync(void **targets, const void **sources, const size_t *bytes, size_t n, void *attributes,
                         size_t *attribute_indices, size_t n_attributes, void *stream)
{
    (void)attributes, (void)attribute_indices, (void)n_attributes;
    return copy_batch(ROW(cudaMemcpyBatchAsync), targets, sources, bytes, n, stream);
}

int cudaMemcpyBatchAsync_ptsz(void **targets, const void **sources, const size_t *bytes, size_t n, void *attributes,
                              size_t *attribute_indices, size_t n_attributes, void *stream)
{
    (void)attributes, (void)attribute_indices, (void)n_attributes;
    return copy_batch(ROW(cudaMemcpyBatchAsync_ptsz), targets, sources, bytes, n, stream);
}
#endif
