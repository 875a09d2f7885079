/* SPDX-License-Identifier: MIT
 *
 * trace_gpu.c - the GPU's half of a generated run: calls of the runtime, kernels, copies and waits, in ranges of steps.
 */
#include "proftrace/cuda.h"
#include "proftrace/payloads.h"
#include "trace_parts.h"

enum { KERNELS_PER_STEP = 8, KEPT_STEPS = 32 };

#define GPU_PUT(t, start_ns, event, tag, aux, ...)                                                                     \
    put_on_gpu(t, start_ns, PT_KIND_##event, tag, aux, &(struct pt_ev_##event){__VA_ARGS__})

/* A call of thread `t`, told by CUPTI: the correlation that what it starts will have. */
static pt_u32 call(struct thread *t, enum pt_cuda_class class, pt_u32 name, pt_u64 duration_ns)
{
    const pt_u32 correlation = ++t->gpu->correlation;
    GPU_PUT(t, t->ticks, cuda_call, (pt_i32) class, pt_duration_pack(duration_ns), .name = name,
            .correlation = correlation, .tid = t->tid);
    t->ticks += duration_ns + roll(t, STEP_NS);
    return correlation;
}

/* What was launched runs when all before it has. */
static pt_u64 enqueue(struct thread *t, pt_u64 duration_ns)
{
    const pt_u64 start_ns = t->ticks > t->gpu->queue_free_ns ? t->ticks : t->gpu->queue_free_ns + 500;
    t->gpu->queue_free_ns = start_ns + duration_ns;
    return start_ns;
}

static void copy(struct thread *t)
{
    const pt_u64 duration_ns = 5000 + roll(t, 20000);
    const pt_u32 correlation = call(t, PT_CUDA_COPY_ASYNC, t->names->copy, 4000);
    GPU_PUT(t, enqueue(t, duration_ns), gpu_copy, PT_CUDA_COPY_HTOD << 16 | 0x283, pt_duration_pack(duration_ns),
            .correlation = correlation, .queue = t->names->queues[0], .bytes = duration_ns * 20);
}

static void launch(struct thread *t)
{
    const pt_u64 duration_ns = 3000 + roll(t, 30000);
    const pt_u32 correlation = call(t, PT_CUDA_LAUNCH, t->names->launch, 2500 + roll(t, 3000));
    GPU_PUT(t, enqueue(t, duration_ns), gpu_kernel, 0, pt_duration_pack(duration_ns), .correlation = correlation,
            .queue = t->names->queues[0], .name = t->names->kernels[roll(t, KERNELS)], .config = t->names->config);
}

static void synchronise(struct thread *t)
{
    const pt_u64 wait_ns = t->gpu->queue_free_ns > t->ticks ? t->gpu->queue_free_ns - t->ticks : 0;
    const pt_u64 start_ns = t->ticks;
    const pt_u32 correlation = call(t, PT_CUDA_SYNC, t->names->synchronise, wait_ns + 1500);
    GPU_PUT(t, start_ns, gpu_sync, 3, pt_duration_pack(wait_ns + 1000), .correlation = correlation,
            .queue = t->names->queues[0]);
}

static void device_memory(struct thread *t, pt_u32 is_release)
{
    const pt_u64 number = t->gpu->correlation / KERNELS_PER_STEP % KEPT_STEPS;
    GPU_PUT(t, t->ticks, gpu_memory, (pt_i32)is_release, t->names->memory, .addr = 0x7e0000000000 + number * 0x100000,
            .bytes = 0x100000);
}

void gpu_step(struct thread *t)
{
    PUT(t, range_begin, 0, 0, .name = t->names->step);
    device_memory(t, 0);
    copy(t);
    for (int i = 0; i < KERNELS_PER_STEP; i++)
        launch(t);
    synchronise(t);
    device_memory(t, 1);
    PUT(t, range_end, 0, 0, 0);
}

void gpu_begin(struct thread *t, pt_u32 device)
{
    t->gpu_area->tid = GPU_TID;
    t->gpu_area->start_ticks = t->ticks;
    GPU_PUT(t, t->ticks, gpu_tracing, PT_CUDA_TRACING_CUPTI, t->names->tracing, 0);
    GPU_PUT(t, t->ticks, gpu_device, (pt_i32)device, t->names->device, .memory_bytes = 150754820096);
}

void gpu_end(struct thread *t)
{
    GPU_PUT(t, t->ticks, gpu_tracing, PT_CUDA_TRACING_ENDED, t->names->tracing, 0);
}
