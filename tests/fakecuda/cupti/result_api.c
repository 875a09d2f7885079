/* SPDX-License-Identifier: MIT
 *
 * result_api.c - versions, results, ids and the clock of libcupti.
 */
#include "cupti.h"
#include "machine.h"

int fakecupti_enter(const char *function, bool needs_driver)
{
    fg_refuse_in_buffer_callback(function);
    if (needs_driver && fg_program()->fault[FG_FAULT_no_driver])
        return CUPTI_ERROR_UNKNOWN;
    return fg_planned_error(function);
}

__attribute__((constructor)) static void load(void)
{
    fg_set_library_version(FAKECUPTI_VERSION);
}

int cuptiGetVersion(uint32_t *version)
{
    const int error = fg_planned_error("cuptiGetVersion");
    fg_busy(fg_program()->fault[FG_FAULT_slow_version] * 1e6);
    if (!error)
        *version = fg_cupti_version();
    return error;
}

int cuptiGetResultString(int result, const char **text)
{
    static const struct {
        int result;
        const char *text;
    } rows[] = {
        {0, "CUPTI_SUCCESS"},
        {1, "CUPTI_ERROR_INVALID_PARAMETER"},
        {8, "CUPTI_ERROR_OUT_OF_MEMORY"},
        {10, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT"},
        {12, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
        {15, "CUPTI_ERROR_NOT_INITIALIZED"},
        {18, "CUPTI_ERROR_QUEUE_EMPTY"},
        {21, "CUPTI_ERROR_INVALID_KIND"},
        {27, "CUPTI_ERROR_NOT_SUPPORTED"},
        {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
        {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
        {40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES"},
        {999, "CUPTI_ERROR_UNKNOWN"},
    };
    for (size_t i = 0; text && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].result == result) {
            *text = rows[i].text;
            return CUPTI_SUCCESS;
        }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

int cuptiGetTimestamp(uint64_t *stamp)
{
    const int error = fg_planned_error("cuptiGetTimestamp");
    if (!error)
        *stamp = fg_stamp();
    return error;
}

int cuptiSetThreadIdType(uint32_t type)
{
    const int error = fakecupti_enter("cuptiSetThreadIdType", true);
    if (error || type > 1)
        return error ? error : CUPTI_ERROR_INVALID_PARAMETER;
    fg_set_system_thread_ids(type == 1);
    return CUPTI_SUCCESS;
}

int cuptiGetThreadIdType(uint32_t *type)
{
    *type = fg_has_system_thread_ids();
    return CUPTI_SUCCESS;
}

int cuptiGetDeviceId(void *context, uint32_t *device)
{
    *device = context ? (uint32_t)(uintptr_t)context - 1 : 0;
    return CUPTI_SUCCESS;
}

int cuptiGetContextId(void *context, uint32_t *id)
{
    *id = (uint32_t)(uintptr_t)context;
    return context ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

int cuptiGetStreamIdEx(void *context, void *stream, uint8_t is_per_thread, uint32_t *id)
{
    (void)context;
    const struct fg_stream *found = fg_stream_of(stream, is_per_thread);
    if (!found)
        return 20; /* CUPTI_ERROR_INVALID_STREAM */
    *id = found->id;
    return CUPTI_SUCCESS;
}

int cuptiGetStreamId(void *context, void *stream, uint32_t *id)
{
    return cuptiGetStreamIdEx(context, stream, 0, id);
}

int cuptiGetGraphId(void *graph, uint32_t *id)
{
    const struct fg_graph *found = fg_graph_of(graph);
    if (!found)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *id = fg_graph_id(found);
    return CUPTI_SUCCESS;
}

int cuptiGetGraphExecId(void *exec, uint32_t *id)
{
    return cuptiGetGraphId(exec, id);
}

int cuptiGetLastError(void)
{
    return CUPTI_SUCCESS;
}
