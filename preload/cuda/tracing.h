/* SPDX-License-Identifier: MIT
 *
 * tracing.h - which part of this folder sees the GPU's work, and the events in the trace that say so.
 *
 * There are three ways: CUPTI (cupti/) sees everything once the driver has injected us; where it does not, the wrappers
 * of the dynamic runtime (wrappers.c) see the calls; the driver and annotated programs find us by the injected
 * interfaces (inject.c, ranges/). No file outside of this folder includes one of its headers.
 */
#ifndef PT_CUDA_TRACING_H
#define PT_CUDA_TRACING_H

#include "proftrace/cuda.h"
#include "core/compiler.h"

/* 1 while CUPTI records the calls of the runtime; the wrappers are then pass-through. Read relaxed by every wrapper. */
extern pt_u8 pt_cuda_by_cupti __attribute__((visibility("hidden")));

/* When CUPTI had begun, by pt_clock; 0 = not yet. */
extern pt_u64 pt_cuda_ready_counter __attribute__((visibility("hidden")));

/* 1 once there was a gpu_tracing event: the wrappers need not say anything then. */
extern pt_u8 pt_cuda_has_said __attribute__((visibility("hidden")));

/* Store a gpu_tracing event: `state` holds from now on, because of `reason`. */
void pt_cuda_say(enum pt_cuda_tracing state, const char *reason);

#endif
