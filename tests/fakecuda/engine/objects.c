/* SPDX-License-Identifier: MIT
 *
 * objects.c - records of things that are: allocations, pools, devices, contexts, streams, events.
 */
#include "machine.h"
#include <stdlib.h>
#include <unistd.h>

enum { LOCAL_POOL = 1, ALLOCATION = 1, RELEASE = 2 };

void fg_record_memory(const struct fg_call *call, bool is_release, const struct fg_allocation *allocation,
                      const struct fg_stream *stream)
{
    struct fg_record record;
    if (!fg_wants(FG_KIND_MEMORY2))
        return;
    fg_record_begin(&record, FG_LAYOUT_MEMORY, FG_KIND_MEMORY2);
    fg_set(&record, FG_MEMORY_memoryOperationType, is_release ? RELEASE : ALLOCATION);
    fg_set(&record, FG_MEMORY_memoryKind, allocation->kind);
    fg_set(&record, FG_MEMORY_correlationId, fg_visible_correlation(call));
    fg_set(&record, FG_MEMORY_address, (uintptr_t)allocation->address);
    fg_set(&record, FG_MEMORY_bytes, allocation->bytes);
    fg_set(&record, FG_MEMORY_timestamp, fg_stamp());
    fg_set(&record, FG_MEMORY_processId, (uint64_t)getpid());
    fg_set(&record, FG_MEMORY_deviceId, (uint64_t)allocation->device);
    fg_set(&record, FG_MEMORY_contextId, (uint64_t)fg_context_id(allocation->device));
    fg_set(&record, FG_MEMORY_streamId, stream ? stream->id : UINT32_MAX);
    fg_set(&record, FG_MEMORY_isAsync, stream != NULL);
    if (allocation->pool) {
        fg_set(&record, FG_MEMORY_poolType, LOCAL_POOL);
        fg_set(&record, FG_MEMORY_poolAddress, (uintptr_t)allocation->pool);
        fg_set(&record, FG_MEMORY_poolReleaseThreshold, allocation->pool->release_threshold);
        fg_set(&record, FG_MEMORY_poolSize, allocation->pool->reserved_bytes);
        fg_set(&record, FG_MEMORY_poolUtilizedSize, allocation->pool->used_bytes);
    }
    fg_put(&record);
}

void fg_record_pool(const struct fg_call *call, int operation, const struct fg_pool *pool, uint64_t keep_bytes)
{
    struct fg_record record;
    fg_witness("{\"what\":\"pool\",\"operation\":%d,\"pool\":%llu,\"device\":%d,\"bytes\":%llu,\"used_bytes\":%llu}",
               operation, (unsigned long long)(uintptr_t)pool, pool->device, (unsigned long long)pool->reserved_bytes,
               (unsigned long long)pool->used_bytes);
    if (!fg_wants(FG_KIND_MEMORY_POOL))
        return;
    fg_record_begin(&record, FG_LAYOUT_MEMORY_POOL, FG_KIND_MEMORY_POOL);
    fg_set(&record, FG_MEMORY_POOL_memoryPoolOperationType, (uint64_t)operation);
    fg_set(&record, FG_MEMORY_POOL_memoryPoolType, LOCAL_POOL);
    fg_set(&record, FG_MEMORY_POOL_correlationId, fg_visible_correlation(call));
    fg_set(&record, FG_MEMORY_POOL_processId, (uint64_t)getpid());
    fg_set(&record, FG_MEMORY_POOL_deviceId, (uint64_t)pool->device);
    fg_set(&record, FG_MEMORY_POOL_minBytesToKeep, keep_bytes);
    fg_set(&record, FG_MEMORY_POOL_address, (uintptr_t)pool);
    fg_set(&record, FG_MEMORY_POOL_size, pool->reserved_bytes);
    fg_set(&record, FG_MEMORY_POOL_releaseThreshold, pool->release_threshold);
    fg_set(&record, FG_MEMORY_POOL_timestamp, fg_stamp());
    fg_set(&record, FG_MEMORY_POOL_utilizedSize, pool->used_bytes);
    fg_put(&record);
}

void fg_record_device(int device)
{
    struct fg_record record;
    if (!fg_wants(FG_KIND_DEVICE))
        return;
    fg_record_begin(&record, FG_LAYOUT_DEVICE, FG_KIND_DEVICE);
    fg_set(&record, FG_DEVICE_globalMemoryBandwidth, 4800000000u / 1000);
    fg_set(&record, FG_DEVICE_globalMemorySize, (uint64_t)fg_program()->memory_bytes);
    fg_set(&record, FG_DEVICE_numThreadsPerWarp, 32);
    fg_set(&record, FG_DEVICE_coreClockRate, 1980000);
    fg_set(&record, FG_DEVICE_numMemcpyEngines, 3);
    fg_set(&record, FG_DEVICE_numMultiprocessors, 132);
    fg_set(&record, FG_DEVICE_maxWarpsPerMultiprocessor, 64);
    fg_set(&record, FG_DEVICE_maxBlocksPerMultiprocessor, 32);
    fg_set(&record, FG_DEVICE_maxSharedMemoryPerMultiprocessor, 233472);
    fg_set(&record, FG_DEVICE_maxRegistersPerMultiprocessor, 65536);
    fg_set(&record, FG_DEVICE_maxRegistersPerBlock, 65536);
    fg_set(&record, FG_DEVICE_maxSharedMemoryPerBlock, 49152);
    fg_set(&record, FG_DEVICE_maxThreadsPerBlock, 1024);
    fg_set(&record, FG_DEVICE_computeCapabilityMajor, 9);
    fg_set(&record, FG_DEVICE_computeCapabilityMinor, 0);
    fg_set(&record, FG_DEVICE_id, (uint64_t)device);
    fg_set(&record, FG_DEVICE_isCudaVisible, 1);
    /* The client frees it. */
    fg_set(&record, FG_DEVICE_uuidFirst, 0xfa);
    fg_set(&record, FG_DEVICE_uuidLast, fg_program()->mig > 0 ? 0 : (uint64_t)device);
    fg_set(&record, FG_DEVICE_isMigEnabled, fg_program()->mig > 0);
    fg_set(&record, FG_DEVICE_migUuidFirst, 0xfb);
    fg_set(&record, FG_DEVICE_migUuidLast, (uint64_t)(fg_program()->mig + device));
    fg_set(&record, FG_DEVICE_name, (uintptr_t)strdup(fg_program()->device_names[device]));
    fg_put(&record);
}

void fg_record_context(int device)
{
    struct fg_record record;
    if (!fg_wants(FG_KIND_CONTEXT))
        return;
    fg_record_begin(&record, FG_LAYOUT_CONTEXT, FG_KIND_CONTEXT);
    fg_set(&record, FG_CONTEXT_contextId, (uint64_t)fg_context_id(device));
    fg_set(&record, FG_CONTEXT_deviceId, (uint64_t)device);
    fg_set(&record, FG_CONTEXT_computeApiKind, 1);
    fg_set(&record, FG_CONTEXT_nullStreamId, FG_DEFAULT_STREAM_ID);
    fg_set(&record, FG_CONTEXT_numMultiprocessors, 132);
    fg_put(&record);
}

void fg_record_stream(const struct fg_stream *stream)
{
    struct fg_record record;
    if (!fg_wants(FG_KIND_STREAM))
        return;
    fg_record_begin(&record, FG_LAYOUT_STREAM, FG_KIND_STREAM);
    fg_set(&record, FG_STREAM_contextId, (uint64_t)fg_context_id(stream->device));
    fg_set(&record, FG_STREAM_streamId, stream->id);
    fg_set(&record, FG_STREAM_priority, (uint32_t)stream->priority);
    fg_set(&record, FG_STREAM_flag, stream->is_default ? 3 : stream->is_nonblocking ? 2 : 1);
    fg_put(&record);
}

void fg_record_event(const struct fg_call *call, const struct fg_event *event)
{
    struct fg_record record;
    fg_witness("{\"what\":\"event_record\",\"event\":%llu,\"stream\":%llu,\"correlation\":%u}",
               (unsigned long long)event->id, (unsigned long long)event->stream_id, call->correlation);
    if (!fg_wants(FG_KIND_CUDA_EVENT))
        return;
    fg_record_begin(&record, FG_LAYOUT_CUDA_EVENT, FG_KIND_CUDA_EVENT);
    fg_set(&record, FG_CUDA_EVENT_correlationId, fg_visible_correlation(call));
    fg_set(&record, FG_CUDA_EVENT_contextId, (uint64_t)fg_context_id(fg_device()));
    fg_set(&record, FG_CUDA_EVENT_streamId, event->stream_id);
    fg_set(&record, FG_CUDA_EVENT_eventId, event->id);
    fg_set(&record, FG_CUDA_EVENT_deviceId, (uint64_t)fg_device());
    fg_set(&record, FG_CUDA_EVENT_cudaEventSyncId, event->id);
    fg_put(&record);
}
