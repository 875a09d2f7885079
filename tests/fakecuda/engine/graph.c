/* SPDX-License-Identifier: MIT
 *
 * graph.c - graphs as the list of operations that were captured or added; a launch runs them one after another on its
 * stream. CUPTI sees either one record of the whole or one per node, never both.
 */
#include "machine.h"
#include <stdatomic.h>
#include <stdlib.h>

struct fg_graph {
    uint64_t magic;
    uint32_t id;
    struct fg_op *ops;
    size_t n, max;
};

static atomic_uint next_graph_id = 1;
static atomic_ullong next_node_id = 1;

struct fg_graph *fg_graph_create(void)
{
    struct fg_graph *graph = calloc(1, sizeof *graph);
    graph->magic = FG_GRAPH_MAGIC;
    graph->id = next_graph_id++;
    return graph;
}

struct fg_graph *fg_graph_of(void *handle)
{
    struct fg_graph *graph = handle;
    return graph && graph->magic == FG_GRAPH_MAGIC ? graph : NULL;
}

uint64_t fg_graph_add(struct fg_graph *graph, const struct fg_op *op)
{
    if (graph->n == graph->max) {
        graph->max = graph->max ? 2 * graph->max : 16;
        graph->ops = realloc(graph->ops, graph->max * sizeof *graph->ops);
    }
    graph->ops[graph->n] = *op;
    graph->ops[graph->n].graph_id = graph->id;
    graph->ops[graph->n].node_id = next_node_id++;
    return graph->ops[graph->n++].node_id;
}

size_t fg_graph_size(const struct fg_graph *graph)
{
    return graph->n;
}

uint32_t fg_graph_id(const struct fg_graph *graph)
{
    return graph->id;
}

struct fg_graph *fg_graph_instantiate(const struct fg_graph *graph)
{
    struct fg_graph *exec = fg_graph_create();
    for (size_t i = 0; i < graph->n; i++)
        fg_graph_add(exec, &graph->ops[i]);
    fg_busy(fg_program()->instantiate_ns);
    return exec;
}

int fg_graph_launch(struct fg_call *call, struct fg_graph *graph, struct fg_stream *stream)
{
    const struct fg_op whole = {.kind = FG_EMPTY, .graph_id = graph->id};
    const uint64_t gap_ns = (uint64_t)fg_program()->graph_node_gap_ns;
    const bool is_traced_whole = fg_wants(FG_KIND_GRAPH_TRACE);
    uint64_t total_ns = 0, start_ns, end_ns;
    if (stream->capture) { /* a child graph, flattened */
        for (size_t i = 0; i < graph->n; i++)
            fg_graph_add(stream->capture, &graph->ops[i]);
        return FG_OK;
    }
    for (size_t i = 0; i < graph->n; i++)
        total_ns += fg_duration_ns(&graph->ops[i]) + (i ? gap_ns : 0);
    fg_schedule(call, stream, &whole, total_ns, &start_ns, &end_ns);
    uint64_t at_ns = start_ns;
    for (size_t i = 0; i < graph->n; i++) {
        const struct fg_op *op = &graph->ops[i];
        const uint64_t node_end_ns = at_ns + fg_duration_ns(op);
        if (!is_traced_whole)
            fg_record_operation(call, stream, op, at_ns, node_end_ns);
        fg_witness_operation(call, stream, op, at_ns, node_end_ns);
        fg_move_bytes(op);
        if (op->kind == FG_HOST)
            fg_queue_host_function(op, at_ns);
        at_ns = node_end_ns + gap_ns;
    }
    if (is_traced_whole)
        fg_record_graph(call, stream, graph->id, start_ns, end_ns);
    fg_witness("{\"what\":\"graph\",\"graph\":%u,\"nodes\":%zu,\"stream\":%u,\"device\":%d,\"correlation\":%u,"
               "\"start_ns\":%llu,\"end_ns\":%llu}",
               graph->id, graph->n, stream->id, stream->device, call->correlation, (unsigned long long)start_ns,
               (unsigned long long)end_ns);
    fg_busy(fg_program()->launch_ns);
    return FG_OK;
}

void fg_graph_destroy(struct fg_graph *graph)
{
    graph->magic = 0;
    free(graph->ops);
    free(graph);
}

int fg_capture_begin(struct fg_stream *stream, struct fg_graph *into)
{
    if (stream->capture || stream->is_default)
        return FG_CAPTURE_UNSUPPORTED;
    stream->capture = into ? into : fg_graph_create();
    return FG_OK;
}

int fg_capture_end(struct fg_stream *stream, struct fg_graph **graph)
{
    *graph = stream->capture;
    if (!*graph)
        return FG_INVALID_VALUE;
    pthread_mutex_lock(&fg_machine_lock);
    for (struct fg_stream *other = fg_streams(); other; other = other->next)
        if (other->capture == *graph)
            other->capture = NULL;
    pthread_mutex_unlock(&fg_machine_lock);
    return FG_OK;
}
