/* SPDX-License-Identifier: MIT
 *
 * records.c - turns what happened into the activity records that are wanted.
 */
#include "machine.h"
#include <stdlib.h>
#include <unistd.h>

static const char *record_name(const struct fg_op *op)
{
    return fg_fault_due(FG_FAULT_null_name) ? NULL : op->name;
}

static void record_kernel(const struct fg_call *call, const struct fg_stream *stream, const struct fg_op *op,
                          uint64_t start_ns, uint64_t end_ns)
{
    static uint64_t next_grid_id = 1;
    struct fg_record record;
    if (!fg_wants(FG_KIND_CONCURRENT_KERNEL) && !fg_wants(FG_KIND_KERNEL))
        return;
    fg_record_begin(&record, FG_LAYOUT_KERNEL,
                    fg_wants(FG_KIND_CONCURRENT_KERNEL) ? FG_KIND_CONCURRENT_KERNEL : FG_KIND_KERNEL);
    fg_set(&record, FG_KERNEL_registersPerThread, 32);
    fg_set(&record, FG_KERNEL_deviceId, (uint64_t)stream->device);
    fg_set(&record, FG_KERNEL_contextId, (uint64_t)fg_context_id(stream->device));
    fg_set(&record, FG_KERNEL_streamId, stream->id);
    fg_set(&record, FG_KERNEL_gridX, op->grid[0]);
    fg_set(&record, FG_KERNEL_gridY, op->grid[1]);
    fg_set(&record, FG_KERNEL_gridZ, op->grid[2]);
    fg_set(&record, FG_KERNEL_blockX, op->block[0]);
    fg_set(&record, FG_KERNEL_blockY, op->block[1]);
    fg_set(&record, FG_KERNEL_blockZ, op->block[2]);
    fg_set(&record, FG_KERNEL_dynamicSharedMemory, op->shared_bytes);
    fg_set(&record, FG_KERNEL_correlationId, fg_visible_correlation(call));
    fg_set(&record, FG_KERNEL_gridId, __atomic_fetch_add(&next_grid_id, 1, __ATOMIC_RELAXED));
    fg_set(&record, FG_KERNEL_name, (uintptr_t)record_name(op));
    fg_set(&record, FG_KERNEL_graphNodeId, op->node_id);
    fg_set(&record, FG_KERNEL_graphId, op->graph_id);
    fg_set(&record, FG_KERNEL_channelID, 1);
    fg_set(&record, FG_KERNEL_channelType, 1);
    fg_put_timed(&record, FG_KERNEL_start, FG_KERNEL_end, start_ns, end_ns, true);
}

static void record_peer_copy(const struct fg_call *call, const struct fg_stream *stream, const struct fg_op *op,
                             uint64_t start_ns, uint64_t end_ns)
{
    struct fg_record record;
    if (!fg_wants(FG_KIND_MEMCPY2))
        return;
    fg_record_begin(&record, FG_LAYOUT_MEMCPY_PTOP, FG_KIND_MEMCPY2);
    fg_set(&record, FG_MEMCPY_PTOP_copyKind, op->copy_kind);
    fg_set(&record, FG_MEMCPY_PTOP_srcKind, op->source_kind);
    fg_set(&record, FG_MEMCPY_PTOP_dstKind, op->target_kind);
    fg_set(&record, FG_MEMCPY_PTOP_flags, op->is_async);
    fg_set(&record, FG_MEMCPY_PTOP_bytes, op->bytes);
    fg_set(&record, FG_MEMCPY_PTOP_deviceId, (uint64_t)stream->device);
    fg_set(&record, FG_MEMCPY_PTOP_contextId, (uint64_t)fg_context_id(stream->device));
    fg_set(&record, FG_MEMCPY_PTOP_streamId, stream->id);
    fg_set(&record, FG_MEMCPY_PTOP_srcDeviceId, (uint64_t)op->source_device);
    fg_set(&record, FG_MEMCPY_PTOP_srcContextId, (uint64_t)fg_context_id(op->source_device));
    fg_set(&record, FG_MEMCPY_PTOP_dstDeviceId, (uint64_t)op->target_device);
    fg_set(&record, FG_MEMCPY_PTOP_dstContextId, (uint64_t)fg_context_id(op->target_device));
    fg_set(&record, FG_MEMCPY_PTOP_correlationId, fg_visible_correlation(call));
    fg_set(&record, FG_MEMCPY_PTOP_graphNodeId, op->node_id);
    fg_set(&record, FG_MEMCPY_PTOP_graphId, op->graph_id);
    fg_put_timed(&record, FG_MEMCPY_PTOP_start, FG_MEMCPY_PTOP_end, start_ns, end_ns, false);
}

static void record_copy(const struct fg_call *call, const struct fg_stream *stream, const struct fg_op *op,
                        uint64_t start_ns, uint64_t end_ns)
{
    struct fg_record record;
    if (op->copy_kind == FG_PTOP) {
        record_peer_copy(call, stream, op, start_ns, end_ns);
        return;
    }
    if (!fg_wants(FG_KIND_MEMCPY))
        return;
    fg_record_begin(&record, FG_LAYOUT_MEMCPY, FG_KIND_MEMCPY);
    fg_set(&record, FG_MEMCPY_copyKind, op->copy_kind);
    fg_set(&record, FG_MEMCPY_srcKind, op->source_kind);
    fg_set(&record, FG_MEMCPY_dstKind, op->target_kind);
    fg_set(&record, FG_MEMCPY_flags, op->is_async);
    fg_set(&record, FG_MEMCPY_bytes, op->bytes);
    fg_set(&record, FG_MEMCPY_deviceId, (uint64_t)stream->device);
    fg_set(&record, FG_MEMCPY_contextId, (uint64_t)fg_context_id(stream->device));
    fg_set(&record, FG_MEMCPY_streamId, stream->id);
    fg_set(&record, FG_MEMCPY_correlationId, fg_visible_correlation(call));
    fg_set(&record, FG_MEMCPY_runtimeCorrelationId, fg_visible_correlation(call));
    fg_set(&record, FG_MEMCPY_graphNodeId, op->node_id);
    fg_set(&record, FG_MEMCPY_graphId, op->graph_id);
    fg_set(&record, FG_MEMCPY_channelID, 2);
    fg_set(&record, FG_MEMCPY_channelType, 2);
    fg_set(&record, FG_MEMCPY_copyCount, 1);
    fg_put_timed(&record, FG_MEMCPY_start, FG_MEMCPY_end, start_ns, end_ns, false);
}

static void record_set(const struct fg_call *call, const struct fg_stream *stream, const struct fg_op *op,
                       uint64_t start_ns, uint64_t end_ns)
{
    struct fg_record record;
    if (!fg_wants(FG_KIND_MEMSET))
        return;
    fg_record_begin(&record, FG_LAYOUT_MEMSET, FG_KIND_MEMSET);
    fg_set(&record, FG_MEMSET_value, op->value);
    fg_set(&record, FG_MEMSET_bytes, op->bytes);
    fg_set(&record, FG_MEMSET_deviceId, (uint64_t)stream->device);
    fg_set(&record, FG_MEMSET_contextId, (uint64_t)fg_context_id(stream->device));
    fg_set(&record, FG_MEMSET_streamId, stream->id);
    fg_set(&record, FG_MEMSET_correlationId, fg_visible_correlation(call));
    fg_set(&record, FG_MEMSET_flags, op->is_async);
    fg_set(&record, FG_MEMSET_memoryKind, op->target_kind);
    fg_set(&record, FG_MEMSET_graphNodeId, op->node_id);
    fg_set(&record, FG_MEMSET_graphId, op->graph_id);
    fg_put_timed(&record, FG_MEMSET_start, FG_MEMSET_end, start_ns, end_ns, false);
}

void fg_record_operation(const struct fg_call *call, const struct fg_stream *stream, const struct fg_op *op,
                         uint64_t start_ns, uint64_t end_ns)
{
    switch (op->kind) {
    case FG_KERNEL:
        record_kernel(call, stream, op, start_ns, end_ns);
        break;
    case FG_COPY:
        record_copy(call, stream, op, start_ns, end_ns);
        break;
    case FG_SET:
        record_set(call, stream, op, start_ns, end_ns);
        break;
    case FG_HOST:
    case FG_EMPTY:
        break;
    }
}

void fg_record_graph(const struct fg_call *call, const struct fg_stream *stream, uint32_t graph_id, uint64_t start_ns,
                     uint64_t end_ns)
{
    struct fg_record record;
    fg_record_begin(&record, FG_LAYOUT_GRAPH_TRACE, FG_KIND_GRAPH_TRACE);
    fg_set(&record, FG_GRAPH_TRACE_correlationId, fg_visible_correlation(call));
    fg_set(&record, FG_GRAPH_TRACE_deviceId, (uint64_t)stream->device);
    fg_set(&record, FG_GRAPH_TRACE_graphId, graph_id);
    fg_set(&record, FG_GRAPH_TRACE_contextId, (uint64_t)fg_context_id(stream->device));
    fg_set(&record, FG_GRAPH_TRACE_streamId, stream->id);
    fg_set(&record, FG_GRAPH_TRACE_endDeviceId, (uint64_t)stream->device);
    fg_set(&record, FG_GRAPH_TRACE_endContextId, (uint64_t)fg_context_id(stream->device));
    fg_put_timed(&record, FG_GRAPH_TRACE_start, FG_GRAPH_TRACE_end, start_ns, end_ns, false);
}

void fg_record_wait(const struct fg_call *call, enum fg_wait type, int64_t stream_id, int64_t event_id, uint64_t start,
                    int result)
{
    struct fg_record record;
    if (!fg_wants(FG_KIND_SYNCHRONIZATION) || (result == FG_NOT_READY && !fg_wants_unready()))
        return;
    fg_record_begin(&record, FG_LAYOUT_SYNCHRONIZATION, FG_KIND_SYNCHRONIZATION);
    fg_set(&record, FG_SYNCHRONIZATION_type, type);
    fg_set(&record, FG_SYNCHRONIZATION_start, start);
    fg_set(&record, FG_SYNCHRONIZATION_end, fg_stamp());
    fg_set(&record, FG_SYNCHRONIZATION_correlationId, fg_visible_correlation(call));
    fg_set(&record, FG_SYNCHRONIZATION_contextId, (uint64_t)fg_context_id(fg_device()));
    fg_set(&record, FG_SYNCHRONIZATION_streamId, (uint32_t)stream_id);
    fg_set(&record, FG_SYNCHRONIZATION_cudaEventId, (uint32_t)event_id);
    fg_set(&record, FG_SYNCHRONIZATION_cudaEventSyncId, event_id > 0 ? (uint64_t)event_id : 0);
    fg_set(&record, FG_SYNCHRONIZATION_returnValue, (uint32_t)result);
    fg_put(&record);
}

void fg_record_overhead(const struct fg_call *call, enum fg_overhead kind, uint64_t start_ns, uint64_t start_stamp)
{
    struct fg_record record;
    if (fg_has_witness())
        fg_witness(
            "{\"what\":\"overhead\",\"kind\":%d,\"tid\":%d,\"correlation\":%u,\"start_ns\":%llu,\"end_ns\":%llu}",
            kind == FG_OVERHEAD_COMPILER ? 1 : (int)kind >> 16, fg_thread(), call->correlation,
            (unsigned long long)start_ns, (unsigned long long)fg_now_ns());
    if (!fg_wants(FG_KIND_OVERHEAD))
        return;
    fg_record_begin(&record, FG_LAYOUT_OVERHEAD, FG_KIND_OVERHEAD);
    fg_set(&record, FG_OVERHEAD_overheadKind, kind);
    fg_set(&record, FG_OVERHEAD_objectKind, 2); /* a thread */
    fg_set(&record, FG_OVERHEAD_processId, (uint64_t)getpid());
    fg_set(&record, FG_OVERHEAD_threadId, fg_thread_id());
    fg_set(&record, FG_OVERHEAD_start, start_stamp);
    fg_set(&record, FG_OVERHEAD_end, fg_stamp());
    fg_set(&record, FG_OVERHEAD_correlationId, fg_visible_correlation(call));
    fg_put(&record);
}
