/* SPDX-License-Identifier: MIT
 *
 * trace_parts.h - what the parts of b_trace share: the size of the generated run, its threads, and one event of them.
 */
#ifndef TRACE_PARTS_H
#define TRACE_PARTS_H

#include "proftrace/payloads.h"
#include "decode/event.h"
#include "source/trace_writer.h"
#include "util/error.h"

enum {
    PROCESSES = 16, /* every second one is a rank with a GPU, the next one its loader */
    THREADS = 4,
    FILES = 2000,
    LOCKS = 32,
    PEERS = 8,
    KERNELS = 40,
    QUEUES = 2,
    MAIN_PID = 1000,
    STEP_NS = 4000,
    GPU_SLOT = THREADS, /* records that CUPTI delivers have a slot of their own */
};
#define GPU_TID 0x80000000u
#define FIRST_LOCK 0x600000ull
#define BEGIN_NS 1000000000ull /* CLOCK_MONOTONIC at the start of the run */
#define BEGIN_REALTIME_NS 1700000000000000000ull

struct names {
    pt_u32 files[FILES], peers[PEERS], pipe;
    pt_u32 kernels[KERNELS], queues[QUEUES], config, launch, copy, synchronise, step, device, tracing, memory;
};

struct gpu {
    pt_u64 queue_free_ns; /* when what was launched so far is done */
    pt_u32 correlation;
};

struct thread {
    struct pt_trace_writer *writer;
    struct pt_thread_area *area, *gpu_area;
    const struct names *names;
    struct gpu *gpu; /* NULL = it has none */
    pt_u32 slot, tid, random;
    pt_u64 ticks;
    pt_u64 events;
};

static inline pt_u32 roll(struct thread *t, pt_u32 below)
{
    t->random = t->random * 1664525u + 1013904223u;
    return (t->random >> 8) % below;
}

static inline pt_u32 pid_of(pt_u32 process)
{
    return MAIN_PID + process * 100;
}

/* An event of the GPU that begins at `ticks`; the thread's own clock stays. */
void put_on_gpu(struct thread *t, pt_u64 ticks, pt_u32 kind, pt_i32 tag, pt_u64 aux, const void *payload);
/* An event of the thread itself, which then goes on. */
void put(struct thread *t, pt_u32 kind, pt_i32 tag, pt_u64 duration_ns, const void *payload);

#define PUT(t, event, tag, duration_ns, ...)                                                                           \
    put(t, PT_KIND_##event, tag, duration_ns, &(struct pt_ev_##event){__VA_ARGS__})

/* trace_gpu.c: a step of a training, and what every process with a GPU says at its start and end. */
void gpu_begin(struct thread *t, pt_u32 device);
void gpu_step(struct thread *t);
void gpu_end(struct thread *t);

/* trace_beside.c: what the launcher adds: run.json with the resources, and the CPU profile of all threads. */
int write_run_record(const char *directory, pt_u64 duration_ns, struct pt_error *err);
int write_cpu_profile(const char *directory, pt_u64 duration_ns, struct pt_error *err);

#endif
