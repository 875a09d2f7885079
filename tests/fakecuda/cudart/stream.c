/* SPDX-License-Identifier: MIT
 *
 * stream.c - streams, host functions and capture.
 */
#include "runtime.h"

static int create(const struct fg_api *row, void **stream, unsigned flags, int priority)
{
    BEGIN(row);
    if (!error)
        *stream = fg_stream_create(priority, flags & 1);
    return fg_leave(&call, error);
}

int cudaStreamCreate(void **stream)
{
    return create(ROW(cudaStreamCreate), stream, 0, 0);
}

int cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
    return create(ROW(cudaStreamCreateWithFlags), stream, flags, 0);
}

int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    return create(ROW(cudaStreamCreateWithPriority), stream, flags, priority);
}

int cudaStreamDestroy(void *handle)
{
    BEGIN(ROW(cudaStreamDestroy));
    struct fg_stream *stream = error ? NULL : fg_stream_of(handle, false);
    if (!error)
        error = stream ? fg_stream_destroy(stream) : FG_INVALID_HANDLE;
    return fg_leave(&call, error);
}

/* Begins a call about a stream: `call`, `error` and `stream`. */
#define BEGIN_ON(row, handle)                                                                                          \
    BEGIN(row);                                                                                                        \
    struct fg_stream *stream = error ? NULL : fg_stream_of(handle, (row)->is_per_thread);                              \
    if (!error && !stream)                                                                                             \
    error = FG_INVALID_HANDLE

static int synchronize(const struct fg_api *row, void *handle)
{
    BEGIN_ON(row, handle);
    if (!error && stream->capture)
        error = FG_CAPTURE_UNSUPPORTED;
    if (!error)
        fg_synchronize(&call, FG_WAIT_STREAM, stream->id, -1, fg_stream_end(stream));
    return fg_leave(&call, error);
}

int cudaStreamSynchronize(void *handle)
{
    return synchronize(ROW(cudaStreamSynchronize), handle);
}

int cudaStreamSynchronize_ptsz(void *handle)
{
    return synchronize(ROW(cudaStreamSynchronize_ptsz), handle);
}

static int query(const struct fg_api *row, void *handle)
{
    BEGIN_ON(row, handle);
    if (!error && fg_stream_end(stream) > fg_now_ns()) {
        error = FG_NOT_READY;
        fg_not_ready(&call, FG_WAIT_STREAM, stream->id, -1);
    }
    return fg_leave(&call, error);
}

int cudaStreamQuery(void *handle)
{
    return query(ROW(cudaStreamQuery), handle);
}

int cudaStreamQuery_ptsz(void *handle)
{
    return query(ROW(cudaStreamQuery_ptsz), handle);
}

static int wait_event(const struct fg_api *row, void *handle, void *event_handle)
{
    BEGIN_ON(row, handle);
    struct fg_event *event = fg_event_of(event_handle);
    if (!error && !event)
        error = FG_INVALID_HANDLE;
    if (!error) {
        fg_event_wait(stream, event);
        fg_synchronize(&call, FG_WAIT_STREAM_EVENT, stream->id, event->id, 0);
    }
    return fg_leave(&call, error);
}

int cudaStreamWaitEvent(void *handle, void *event, unsigned flags)
{
    (void)flags;
    return wait_event(ROW(cudaStreamWaitEvent), handle, event);
}

int cudaStreamWaitEvent_ptsz(void *handle, void *event, unsigned flags)
{
    (void)flags;
    return wait_event(ROW(cudaStreamWaitEvent_ptsz), handle, event);
}

int cudaStreamGetFlags(void *handle, unsigned *flags)
{
    BEGIN_ON(ROW(cudaStreamGetFlags), handle);
    if (!error)
        *flags = stream->is_nonblocking;
    return fg_leave(&call, error);
}

int cudaStreamGetPriority(void *handle, int *priority)
{
    BEGIN_ON(ROW(cudaStreamGetPriority), handle);
    if (!error)
        *priority = stream->priority;
    return fg_leave(&call, error);
}

#if FAKECUDART_MAJOR >= 12
int cudaStreamGetId(void *handle, unsigned long long *id)
{
    BEGIN_ON(ROW(cudaStreamGetId), handle);
    if (!error)
        *id = stream->id;
    return fg_leave(&call, error);
}
#endif

/* ---- host functions ---- */
static int host_function(const struct fg_api *row, void *handle, void (*function)(void *), void *argument)
{
    BEGIN_ON(row, handle);
    if (!error) {
        struct fg_op op = {.kind = FG_HOST, .host_function = function, .host_argument = argument, .is_async = true};
        uint64_t end_ns;
        error = fg_submit(&call, stream, &op, &end_ns);
    }
    return fg_leave(&call, error);
}

int cudaLaunchHostFunc(void *handle, void (*function)(void *), void *argument)
{
    return host_function(ROW(cudaLaunchHostFunc), handle, function, argument);
}

int cudaLaunchHostFunc_ptsz(void *handle, void (*function)(void *), void *argument)
{
    return host_function(ROW(cudaLaunchHostFunc_ptsz), handle, function, argument);
}

/* ---- capture ---- */
static int begin_capture(const struct fg_api *row, void *handle)
{
    BEGIN_ON(row, handle);
    if (!error)
        error = fg_capture_begin(stream, NULL);
    return fg_leave(&call, error);
}

int cudaStreamBeginCapture(void *handle, int mode)
{
    (void)mode;
    return begin_capture(ROW(cudaStreamBeginCapture), handle);
}

int cudaStreamBeginCapture_ptsz(void *handle, int mode)
{
    (void)mode;
    return begin_capture(ROW(cudaStreamBeginCapture_ptsz), handle);
}

static int end_capture(const struct fg_api *row, void *handle, void **graph)
{
    BEGIN_ON(row, handle);
    if (!error)
        error = fg_capture_end(stream, (struct fg_graph **)graph);
    return fg_leave(&call, error);
}

int cudaStreamEndCapture(void *handle, void **graph)
{
    return end_capture(ROW(cudaStreamEndCapture), handle, graph);
}

int cudaStreamEndCapture_ptsz(void *handle, void **graph)
{
    return end_capture(ROW(cudaStreamEndCapture_ptsz), handle, graph);
}

static int is_capturing(const struct fg_api *row, void *handle, int *status)
{
    BEGIN_ON(row, handle);
    if (!error)
        *status = stream->capture ? 1 : 0;
    return fg_leave(&call, error);
}

int cudaStreamIsCapturing(void *handle, int *status)
{
    return is_capturing(ROW(cudaStreamIsCapturing), handle, status);
}

int cudaStreamIsCapturing_ptsz(void *handle, int *status)
{
    return is_capturing(ROW(cudaStreamIsCapturing_ptsz), handle, status);
}
