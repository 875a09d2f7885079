/* SPDX-License-Identifier: MIT
 *
 * cuda.h - the one narrow door between the parts of this folder: who sees the GPU's work, and how others are told.
 *
 * Three parts stand beside each other: CUPTI (cupti*.c) sees everything once the driver has injected us, the wrappers
 * of the dynamic runtime (wrappers.c) see calls where it does not, and the injected interfaces (inject.c, nvtx.c,
 * itt.c) are how the driver and annotated programs find us. Nobody else includes this header.
 */
#ifndef PT_CUDA_CUDA_H
#define PT_CUDA_CUDA_H

#include "proftrace/cuda.h"
#include "core/compiler.h"

/* 1 while CUPTI records the calls of the runtime; the wrappers are then pass-through. Read relaxed by every wrapper. */
extern pt_u8 pt_cuda_by_cupti __attribute__((visibility("hidden")));

/* Begin to record with CUPTI: called by InitializeInjection when the driver comes up, once per process image, while no
 * lock of ours is held. Returns 1 when CUPTI records; else it has said why with pt_cuda_say. */
int pt_cupti_start(void);

/* A good moment to deliver what CUPTI has, at most once per second; or, when the program took CUPTI for its own
 * profiler and is done with it, to take it back. For wrappers of calls that wait, on the program's thread, with nothing
 * held. */
void pt_cupti_tick(void);

/* When CUPTI had begun, by pt_clock; 0 = not yet. */
extern pt_u64 pt_cuda_ready_counter __attribute__((visibility("hidden")));

/* 1 once there was a gpu_tracing event: the wrappers need not say anything then. */
extern pt_u8 pt_cuda_has_said __attribute__((visibility("hidden")));

/* Store a gpu_tracing event: `state` holds from now on, because of `reason`. */
void pt_cuda_say(enum pt_cuda_tracing state, const char *reason);

#endif
