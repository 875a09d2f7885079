/* SPDX-License-Identifier: MIT
 *
 * Owns: causes of idleness by what a thread did. Threads: one. State: none. Never: takes a thread's own code for a
 * call.
 */
#include "spans.h"

/* By part, plus 1; 0 = the thread's own code. */
static enum pt_gpu_cause cause_of_part(pt_u32 part)
{
    static const pt_u8 causes[PT_PART__COUNT] = {
        [PT_PART_gpu_wait] = PT_GPU_CAUSE_synchronize + 1,  [PT_PART_copy] = PT_GPU_CAUSE_copy + 1,
        [PT_PART_file_read] = PT_GPU_CAUSE_file_read + 1,   [PT_PART_file_write] = PT_GPU_CAUSE_file_write + 1,
        [PT_PART_file_meta] = PT_GPU_CAUSE_file_meta + 1,   [PT_PART_network] = PT_GPU_CAUSE_network + 1,
        [PT_PART_data_wait] = PT_GPU_CAUSE_data_wait + 1,   [PT_PART_lock] = PT_GPU_CAUSE_lock + 1,
        [PT_PART_gil_wait] = PT_GPU_CAUSE_gil_wait + 1,     [PT_PART_sleep] = PT_GPU_CAUSE_sleep + 1,
        [PT_PART_child_wait] = PT_GPU_CAUSE_child_wait + 1, [PT_PART_idle] = PT_GPU_CAUSE_idle + 1,
    };
    return causes[part] ? (enum pt_gpu_cause)(causes[part] - 1) : PT_GPU_CAUSE_host_code;
}

static enum pt_gpu_cause cause_of_call(enum pt_cuda_class class)
{
    static const enum pt_gpu_cause causes[PT_CUDA_CLASS__COUNT] = {
        [PT_CUDA_OTHER] = PT_GPU_CAUSE_cuda_other,       [PT_CUDA_LAUNCH] = PT_GPU_CAUSE_launch,
        [PT_CUDA_GRAPH_LAUNCH] = PT_GPU_CAUSE_launch,    [PT_CUDA_COPY] = PT_GPU_CAUSE_copy,
        [PT_CUDA_COPY_ASYNC] = PT_GPU_CAUSE_launch,      [PT_CUDA_SET] = PT_GPU_CAUSE_launch,
        [PT_CUDA_SET_ASYNC] = PT_GPU_CAUSE_launch,       [PT_CUDA_SYNC] = PT_GPU_CAUSE_synchronize,
        [PT_CUDA_ALLOC] = PT_GPU_CAUSE_cuda_alloc,       [PT_CUDA_FREE] = PT_GPU_CAUSE_cuda_free,
        [PT_CUDA_LOAD] = PT_GPU_CAUSE_module_load,       [PT_CUDA_CAPTURE] = PT_GPU_CAUSE_cuda_other,
        [PT_CUDA_ALLOC_ASYNC] = PT_GPU_CAUSE_cuda_alloc, [PT_CUDA_FREE_ASYNC] = PT_GPU_CAUSE_cuda_free,
    };
    return (pt_u32) class < PT_CUDA_CLASS__COUNT ? causes[class] : PT_GPU_CAUSE_cuda_other;
}

static enum pt_gpu_cause cause_of_overhead(pt_u32 kind)
{
    switch (kind) {
    case PT_CUDA_OVERHEAD_COMPILER:
    case PT_CUDA_OVERHEAD_MODULE_LOADING:
    case PT_CUDA_OVERHEAD_LAZY_LOADING:
        return PT_GPU_CAUSE_module_load;
    case PT_CUDA_OVERHEAD_QUEUE_FULL:
        return PT_GPU_CAUSE_launch;
    case PT_CUDA_OVERHEAD_UVM:
        return PT_GPU_CAUSE_copy;
    default:
        return PT_GPU_CAUSE_tracing;
    }
}

static const char *name_of_overhead(pt_u32 kind)
{
    switch (kind) {
    case PT_CUDA_OVERHEAD_COMPILER:
        return "just-in-time compiler";
    case PT_CUDA_OVERHEAD_MODULE_LOADING:
        return "module loading";
    case PT_CUDA_OVERHEAD_LAZY_LOADING:
        return "lazy loading of a function";
    case PT_CUDA_OVERHEAD_QUEUE_FULL:
        return "queue of commands full";
    case PT_CUDA_OVERHEAD_UVM:
        return "managed memory";
    default:
        return "CUPTI's own work";
    }
}

enum pt_gpu_cause pt_gpu_span_cause(const struct pt_span *span)
{
    switch ((enum pt_span_kind)span->kind) {
    case PT_SPAN_MAP:
        return PT_GPU_CAUSE_heap;
    case PT_SPAN_START:
        return PT_GPU_CAUSE_process_start;
    case PT_SPAN_CUDA:
        return cause_of_call((enum pt_cuda_class)span->class);
    case PT_SPAN_OVERHEAD:
        return cause_of_overhead(span->subject);
    case PT_SPAN_CALL:
    case PT_SPAN_SEND:
        break;
    }
    return cause_of_part(span->part);
}

const char *pt_gpu_span_text(struct pt_gpu *gpu, const struct pt_process *process, const struct pt_span *span)
{
    static const char sending[] = "passing data on"; /* a thread that waits for room in a pipe has data */
    switch ((enum pt_span_kind)span->kind) {
    case PT_SPAN_SEND:
        return sending;
    case PT_SPAN_CUDA:
        return pt_gpu_string(gpu, process, span->subject, false);
    case PT_SPAN_OVERHEAD:
        return name_of_overhead(span->subject);
    case PT_SPAN_CALL:
    case PT_SPAN_MAP:
    case PT_SPAN_START:
        break;
    }
    switch (span->part) {
    case PT_PART_file_read:
    case PT_PART_file_write:
    case PT_PART_file_meta:
        return pt_gpu_string(gpu, process, span->subject, true);
    case PT_PART_network:
        return pt_gpu_string(gpu, process, span->subject, false);
    default:
        return NULL;
    }
}
