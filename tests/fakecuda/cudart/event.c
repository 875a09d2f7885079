/* SPDX-License-Identifier: MIT
 *
 * event.c - events.
 */
#include "runtime.h"

static int create(const struct fg_api *row, void **event)
{
    BEGIN(row);
    if (!error)
        *event = fg_event_create();
    return fg_leave(&call, error);
}

int cudaEventCreate(void **event)
{
    return create(ROW(cudaEventCreate), event);
}

int cudaEventCreateWithFlags(void **event, unsigned flags)
{
    (void)flags;
    return create(ROW(cudaEventCreateWithFlags), event);
}

int cudaEventDestroy(void *handle)
{
    BEGIN(ROW(cudaEventDestroy));
    if (!error && !fg_event_of(handle))
        error = FG_INVALID_HANDLE;
    if (!error)
        fg_event_destroy(handle);
    return fg_leave(&call, error);
}

static int record(const struct fg_api *row, void *handle, void *stream_handle)
{
    BEGIN(row);
    struct fg_event *event = fg_event_of(handle);
    struct fg_stream *stream = error ? NULL : fg_stream_of(stream_handle, row->is_per_thread);
    if (!error)
        error = event && stream ? fg_event_record(&call, event, stream) : FG_INVALID_HANDLE;
    return fg_leave(&call, error);
}

int cudaEventRecord(void *event, void *stream)
{
    return record(ROW(cudaEventRecord), event, stream);
}

int cudaEventRecord_ptsz(void *event, void *stream)
{
    return record(ROW(cudaEventRecord_ptsz), event, stream);
}

int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    (void)flags;
    return record(ROW(cudaEventRecordWithFlags), event, stream);
}

int cudaEventRecordWithFlags_ptsz(void *event, void *stream, unsigned flags)
{
    (void)flags;
    return record(ROW(cudaEventRecordWithFlags_ptsz), event, stream);
}

int cudaEventSynchronize(void *handle)
{
    BEGIN(ROW(cudaEventSynchronize));
    const struct fg_event *event = fg_event_of(handle);
    if (!error && !event)
        error = FG_INVALID_HANDLE;
    if (!error)
        fg_synchronize(&call, FG_WAIT_EVENT, event->stream_id, event->id, event->time_ns);
    return fg_leave(&call, error);
}

int cudaEventQuery(void *handle)
{
    BEGIN(ROW(cudaEventQuery));
    const struct fg_event *event = fg_event_of(handle);
    if (!error && !event)
        error = FG_INVALID_HANDLE;
    if (!error && event->time_ns > fg_now_ns()) {
        error = FG_NOT_READY;
        fg_not_ready(&call, FG_WAIT_EVENT, event->stream_id, event->id);
    }
    return fg_leave(&call, error);
}

int cudaEventElapsedTime(float *ms, void *start_handle, void *end_handle)
{
    BEGIN(ROW(cudaEventElapsedTime));
    const struct fg_event *start = fg_event_of(start_handle), *end = fg_event_of(end_handle);
    if (!error && (!start || !end || !start->time_ns || !end->time_ns))
        error = FG_INVALID_HANDLE;
    if (!error && end->time_ns > fg_now_ns())
        error = FG_NOT_READY;
    if (!error)
        *ms = (float)((double)(int64_t)(end->time_ns - start->time_ns) / 1e6);
    return fg_leave(&call, error);
}
