/* SPDX-License-Identifier: MIT
 *
 * operation.c - kernels, copies, sets and host functions: how long they take, when they start and what they move.
 *
 * Streams of a device run side by side; the legacy default stream waits for all blocking streams and they wait for it;
 * copies of one direction share one copy engine.
 */
#include "machine.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { ENGINES = 3 };
static uint64_t copy_engine_end[FG_DEVICES_MAX][ENGINES];

static double copy_gbps(const struct fg_op *op)
{
    const struct fg_program *program = fg_program();
    if (op->kind == FG_SET)
        return program->set_gbps;
    if (op->copy_kind == FG_PTOP)
        return program->p2p_gbps;
    if (op->copy_kind == FG_DTOD)
        return program->d2d_gbps;
    if (op->source_kind == FG_PAGEABLE || op->target_kind == FG_PAGEABLE)
        return program->pageable_gbps;
    return op->copy_kind == FG_HTOD ? program->h2d_gbps : program->d2h_gbps;
}

uint64_t fg_duration_ns(const struct fg_op *op)
{
    switch (op->kind) {
    case FG_KERNEL:
        return fg_kernel_ns(op->name, (uint64_t)op->grid[0] * op->grid[1] * op->grid[2]);
    case FG_COPY:
    case FG_SET:
        return (uint64_t)(fg_program()->copy_latency_ns + (double)op->bytes / copy_gbps(op));
    case FG_HOST:
        return (uint64_t)fg_program()->host_func_ns;
    case FG_EMPTY:
        break;
    }
    return 0;
}

static uint64_t *engine_of(const struct fg_stream *stream, const struct fg_op *op)
{
    if (op->kind != FG_COPY || (op->copy_kind != FG_HTOD && op->copy_kind != FG_DTOH && op->copy_kind != FG_PTOP))
        return NULL;
    return &copy_engine_end[stream->device][op->copy_kind == FG_HTOD ? 0 : op->copy_kind == FG_DTOH ? 1 : 2];
}

/* Blocks while the stream's queue is full, as the driver does; true if it had to. */
static void wait_for_room(struct fg_call *call, struct fg_stream *stream)
{
    const size_t depth = (size_t)fg_program()->queue_depth;
    pthread_mutex_lock(&fg_machine_lock);
    const uint64_t oldest_end = stream->n_queued >= depth ? stream->queue[stream->n_queued % depth] : 0;
    pthread_mutex_unlock(&fg_machine_lock);
    const uint64_t start_ns = fg_now_ns();
    if (oldest_end <= start_ns)
        return;
    const uint64_t start = fg_stamp();
    fg_wait_until(oldest_end);
    fg_record_overhead(call, FG_OVERHEAD_COMMAND_BUFFER_FULL, start_ns, start);
}

/* When the legacy default stream and the blocking streams let each other go on. */
static uint64_t barrier_of(const struct fg_stream *stream)
{
    uint64_t end_ns = stream->end_ns;
    for (struct fg_stream *other = stream->is_nonblocking ? NULL : fg_streams(); other; other = other->next)
        if (other->device == stream->device && !other->is_nonblocking && (stream->is_default || other->is_default) &&
            other->end_ns > end_ns)
            end_ns = other->end_ns;
    return end_ns;
}

void fg_schedule(struct fg_call *call, struct fg_stream *stream, const struct fg_op *op, uint64_t duration_ns,
                 uint64_t *start_ns, uint64_t *end_ns)
{
    const struct fg_program *program = fg_program();
    wait_for_room(call, stream);
    pthread_mutex_lock(&fg_machine_lock);
    uint64_t *engine = engine_of(stream, op);
    const uint64_t earliest_ns = fg_now_ns() + (uint64_t)program->latency_ns, barrier_ns = barrier_of(stream);
    *start_ns = barrier_ns > earliest_ns ? barrier_ns : earliest_ns;
    if (engine && *engine > *start_ns)
        *start_ns = *engine;
    *end_ns = *start_ns + duration_ns;
    if (engine)
        *engine = *end_ns;
    stream->end_ns = *end_ns;
    stream->queue[stream->n_queued++ % (size_t)program->queue_depth] = *end_ns;
    pthread_mutex_unlock(&fg_machine_lock);
}

void fg_describe_copy(struct fg_op *op, void *target, const void *source, uint64_t bytes, int kind)
{
    struct fg_allocation from = {.kind = FG_PAGEABLE, .device = -1}, to = from;
    fg_find_memory(source, &from);
    fg_find_memory(target, &to);
    const bool from_device = from.kind == FG_DEVICE || from.kind == FG_MANAGED;
    const bool to_device = to.kind == FG_DEVICE || to.kind == FG_MANAGED;
    *op = (struct fg_op){.kind = FG_COPY, .bytes = bytes, .target = target, .source = source};
    op->source_kind = from.kind;
    op->target_kind = to.kind;
    op->source_device = from.device;
    op->target_device = to.device;
    if (kind == 0 || kind == 4) { /* cudaMemcpyHostToHost is 0, cudaMemcpyDefault 4 */
        op->copy_kind = from_device ? (to_device ? FG_DTOD : FG_DTOH) : to_device ? FG_HTOD : FG_HTOH;
    } else {
        op->copy_kind = kind == 3 ? FG_DTOD : (uint8_t)kind;
    }
    if (op->copy_kind == FG_DTOD && from_device && to_device && from.device != to.device)
        op->copy_kind = FG_PTOP;
}

void fg_move_bytes(const struct fg_op *op)
{
    if (!op->target || !op->bytes || op->bytes > (uint64_t)fg_program()->copy_data_bytes)
        return;
    if (op->kind == FG_COPY && op->source)
        memmove(op->target, op->source, op->bytes);
    else if (op->kind == FG_SET)
        memset(op->target, (int)op->value, op->bytes);
}

void fg_witness_operation(const struct fg_call *call, const struct fg_stream *stream, const struct fg_op *op,
                          uint64_t start_ns, uint64_t end_ns)
{
    static const char *const what[] = {"kernel", "copy", "set", "host", "empty"};
    if (!fg_has_witness())
        return;
    const size_t size = op->name ? 6 * strlen(op->name) + 16 : 16;
    char small[4096], *name = size <= sizeof small ? small : malloc(size);
    fg_witness(
        "{\"what\":\"%s\",\"name\":%s,\"device\":%d,\"context\":%d,\"stream\":%u,\"correlation\":%u,\"tid\":%d,"
        "\"start_ns\":%llu,\"end_ns\":%llu,\"bytes\":%llu,\"copy_kind\":%d,\"source_kind\":%d,\"target_kind\":%d,"
        "\"value\":%u,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"graph\":%u,\"node\":%llu}",
        what[op->kind], fg_json_text(op->name, name, size), stream->device, fg_context_id(stream->device), stream->id,
        call->correlation, fg_thread(), (unsigned long long)start_ns, (unsigned long long)end_ns,
        (unsigned long long)op->bytes, op->copy_kind, op->source_kind, op->target_kind, op->value, op->grid[0],
        op->grid[1], op->grid[2], op->block[0], op->block[1], op->block[2], op->graph_id,
        (unsigned long long)op->node_id);
    if (name != small)
        free(name);
}

static int sticky_error(const struct fg_op *op)
{
    static atomic_long n_launches;
    const long after = (long)fg_program()->fault[FG_FAULT_sticky];
    if (after && op->kind == FG_KERNEL)
        n_launches++;
    return after && n_launches > after ? 700 : FG_OK;
}

int fg_submit(struct fg_call *call, struct fg_stream *stream, struct fg_op *op, uint64_t *end_ns)
{
    uint64_t start_ns = 0;
    *end_ns = 0;
    const int error = sticky_error(op);
    if (error)
        return error;
    if (stream->capture) {
        fg_graph_add(stream->capture, op);
        return FG_OK;
    }
    fg_schedule(call, stream, op, fg_duration_ns(op), &start_ns, end_ns);
    fg_record_operation(call, stream, op, start_ns, *end_ns);
    fg_witness_operation(call, stream, op, start_ns, *end_ns);
    fg_move_bytes(op);
    if (op->kind == FG_HOST)
        fg_queue_host_function(op, start_ns);
    fg_busy(fg_program()->launch_ns);
    return FG_OK;
}
