/* SPDX-License-Identifier: MIT
 *
 * activity_api.c - the Activity API of libcupti over the engine.
 */
#include "cupti.h"
#include "machine.h"

int cuptiActivityEnable(uint32_t kind)
{
    const int error = fakecupti_enter("cuptiActivityEnable", true);
    return error ? error : fg_enable(kind, true);
}

int cuptiActivityDisable(uint32_t kind)
{
    const int error = fakecupti_enter("cuptiActivityDisable", true);
    return error ? error : fg_enable(kind, false);
}

int cuptiActivityEnableContext(void *context, uint32_t kind)
{
    (void)context;
    return cuptiActivityEnable(kind);
}

int cuptiActivityDisableContext(void *context, uint32_t kind)
{
    (void)context;
    return cuptiActivityDisable(kind);
}

int cuptiActivityRegisterCallbacks(fg_request_function request, fg_complete_function complete)
{
    const int error = fakecupti_enter("cuptiActivityRegisterCallbacks", false);
    if (error || !request || !complete)
        return error ? error : CUPTI_ERROR_INVALID_PARAMETER;
    return fg_register_buffers(request, complete);
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, uint8_t **record)
{
    const int error = fg_planned_error("cuptiActivityGetNextRecord");
    if (error || !buffer || !record)
        return error ? error : CUPTI_ERROR_INVALID_PARAMETER;
    return fg_next_record(buffer, valid_bytes, record);
}

/* Takes CUPTI's lock: a client that holds its own around this call and takes that in a buffer callback deadlocks. */
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream_id, size_t *dropped)
{
    (void)context;
    (void)stream_id;
    const int error = fg_planned_error("cuptiActivityGetNumDroppedRecords");
    if (error || !dropped)
        return error ? error : CUPTI_ERROR_INVALID_PARAMETER;
    fg_cupti_lock();
    *dropped = fg_take_dropped();
    fg_cupti_unlock();
    return CUPTI_SUCCESS;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    const int error = fakecupti_enter("cuptiActivityFlushAll", true);
    return error ? error : fg_flush(flag & 1);
}

int cuptiActivityFlush(void *context, uint32_t stream_id, uint32_t flag)
{
    (void)context;
    (void)stream_id;
    return cuptiActivityFlushAll(flag);
}

int cuptiActivityFlushPeriod(uint32_t ms)
{
    const int error = fakecupti_enter("cuptiActivityFlushPeriod", true);
    return error ? error : fg_flush_period(ms);
}

int cuptiActivityRegisterTimestampCallback(fg_clock_function clock)
{
    const int error = fakecupti_enter("cuptiActivityRegisterTimestampCallback", true);
    if (error || !clock)
        return error ? error : CUPTI_ERROR_INVALID_PARAMETER;
    fg_note_clock();
    fg_register_clock(clock);
    return CUPTI_SUCCESS;
}

int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, const void *value)
{
    const int error = fakecupti_enter("cuptiActivitySetAttribute", false);
    if (error || !bytes || !value)
        return error ? error : CUPTI_ERROR_INVALID_PARAMETER;
    return fg_set_attribute(attribute, value, *bytes, true, NULL);
}

int cuptiActivityGetAttribute(uint32_t attribute, size_t *bytes, void *value)
{
    const int error = fakecupti_enter("cuptiActivityGetAttribute", false);
    if (error || !bytes || !value)
        return error ? error : CUPTI_ERROR_INVALID_PARAMETER;
    return fg_set_attribute(attribute, NULL, *bytes, false, value);
}

int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id)
{
    const int error = fakecupti_enter("cuptiActivityPushExternalCorrelationId", true);
    return error ? error : fg_push_external(kind, id);
}

int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last_id)
{
    const int error = fakecupti_enter("cuptiActivityPopExternalCorrelationId", true);
    return error ? error : fg_pop_external(kind, last_id);
}

int cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
    (void)enable;
    return fakecupti_enter("cuptiActivityEnableLatencyTimestamps", true);
}

int cuptiActivityEnableLaunchAttributes(uint8_t enable)
{
    (void)enable;
    return fakecupti_enter("cuptiActivityEnableLaunchAttributes", true);
}

#if FAKECUPTI_MAJOR >= 12
int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
    const int error = fakecupti_enter("cuptiActivityEnableRuntimeApi", true);
    return error ? error : fg_enable_call(FG_RUNTIME_API, cbid, enable);
}

int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
    const int error = fakecupti_enter("cuptiActivityEnableDriverApi", true);
    return error ? error : fg_enable_call(FG_DRIVER_API, cbid, enable);
}

int cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable)
{
    (void)enable;
    return fakecupti_enter("cuptiActivityEnableCudaEventDeviceTimestamps", true);
}
#endif

#if FAKECUPTI_MAJOR >= 13
int cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
    const int error = fakecupti_enter("cuptiActivityEnableAllSyncRecords", true);
    if (!error)
        fg_enable_unready(enable);
    return error;
}
#endif
