/* SPDX-License-Identifier: MIT
 *
 * graph.c - graphs: captured ones, and a few nodes added by hand.
 */
#include "runtime.h"

int cudaGraphCreate(void **graph, unsigned flags)
{
    (void)flags;
    BEGIN(ROW(cudaGraphCreate));
    if (!error)
        *graph = fg_graph_create();
    return fg_leave(&call, error);
}

static int destroy(const struct fg_api *row, void *handle)
{
    BEGIN(row);
    if (!error && !fg_graph_of(handle))
        error = FG_INVALID_VALUE;
    if (!error)
        fg_graph_destroy(handle);
    return fg_leave(&call, error);
}

int cudaGraphDestroy(void *graph)
{
    return destroy(ROW(cudaGraphDestroy), graph);
}

int cudaGraphExecDestroy(void *exec)
{
    return destroy(ROW(cudaGraphExecDestroy), exec);
}

static int instantiate(const struct fg_api *row, void **exec, void *graph)
{
    BEGIN(row);
    if (!error && !fg_graph_of(graph))
        error = FG_INVALID_VALUE;
    if (!error)
        *exec = fg_graph_instantiate(graph);
    return fg_leave(&call, error);
}

#if FAKECUDART_MAJOR >= 12
int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags)
{
    (void)flags;
#else
int cudaGraphInstantiate(void **exec, void *graph, void **error_node, char *log, size_t log_bytes)
{
    (void)error_node, (void)log, (void)log_bytes;
#endif
    return instantiate(ROW(cudaGraphInstantiate), exec, graph);
}

int cudaGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
    (void)flags;
    return instantiate(ROW(cudaGraphInstantiateWithFlags), exec, graph);
}

static int launch(const struct fg_api *row, void *exec, void *stream_handle)
{
    BEGIN(row);
    struct fg_stream *stream = error ? NULL : fg_stream_of(stream_handle, row->is_per_thread);
    if (!error && (!stream || !fg_graph_of(exec)))
        error = FG_INVALID_VALUE;
    if (!error)
        error = fg_graph_launch(&call, exec, stream);
    return fg_leave(&call, error);
}

int cudaGraphLaunch(void *exec, void *stream)
{
    return launch(ROW(cudaGraphLaunch), exec, stream);
}

int cudaGraphLaunch_ptsz(void *exec, void *stream)
{
    return launch(ROW(cudaGraphLaunch_ptsz), exec, stream);
}

int cudaGraphGetNodes(void *graph, void **nodes, size_t *n)
{
    BEGIN(ROW(cudaGraphGetNodes));
    if (!error && (!fg_graph_of(graph) || nodes))
        error = nodes ? FG_NOT_SUPPORTED : FG_INVALID_VALUE;
    if (!error)
        *n = fg_graph_size(graph);
    return fg_leave(&call, error);
}

/* cudaKernelNodeParams */
struct kernel_node {
    void *function;
    dim3_t grid, block;
    unsigned shared_bytes;
    void **arguments, **extra;
};

static int add(struct fg_call *call, void **node, void *graph, const struct fg_op *op)
{
    (void)call;
    if (!fg_graph_of(graph))
        return FG_INVALID_VALUE;
    *node = (void *)(uintptr_t)fg_graph_add(graph, op);
    return FG_OK;
}

int cudaGraphAddKernelNode(void **node, void *graph, const void **dependencies, size_t n,
                           const struct kernel_node *what)
{
    (void)dependencies, (void)n;
    BEGIN(ROW(cudaGraphAddKernelNode));
    if (!error) {
        const struct fg_op op = {.kind = FG_KERNEL,
                                 .name = fg_kernel_name(&call, what->function),
                                 .grid = {what->grid.x, what->grid.y, what->grid.z},
                                 .block = {what->block.x, what->block.y, what->block.z},
                                 .shared_bytes = what->shared_bytes,
                                 .is_async = true};
        error = op.name ? add(&call, node, graph, &op) : 98;
    }
    return fg_leave(&call, error);
}

int cudaGraphAddMemcpyNode1D(void **node, void *graph, const void **dependencies, size_t n, void *target,
                             const void *source, size_t bytes, int kind)
{
    (void)dependencies, (void)n;
    BEGIN(ROW(cudaGraphAddMemcpyNode1D));
    if (!error) {
        struct fg_op op;
        fg_describe_copy(&op, target, source, bytes, kind);
        op.is_async = true;
        error = add(&call, node, graph, &op);
    }
    return fg_leave(&call, error);
}

int cudaGraphAddEmptyNode(void **node, void *graph, const void **dependencies, size_t n)
{
    (void)dependencies, (void)n;
    BEGIN(ROW(cudaGraphAddEmptyNode));
    const struct fg_op op = {.kind = FG_EMPTY};
    if (!error)
        error = add(&call, node, graph, &op);
    return fg_leave(&call, error);
}
