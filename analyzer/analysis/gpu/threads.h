/* SPDX-License-Identifier: MIT
 *
 * gpu/threads.h - what threads did lately, so that a gap on a GPU can be told by it.
 */
#ifndef PT_ANALYSIS_GPU_THREADS_H
#define PT_ANALYSIS_GPU_THREADS_H

#include "decode/event.h"
#include "state.h"

void pt_gpu_threads_event(struct gpu *gpu, const struct pt_event *event);
/* Process index + 1 of who ended a wait for data; 0 = unknown. */
pt_u32 pt_gpu_writer_of(const struct gpu *gpu, const struct pt_process *process, const struct gpu_span *span);
/* Calls show(context, cause, span or NULL, from, to) for all of [start, end), later parts first. */
typedef void gpu_show_part(void *context, enum gpu_cause cause, const struct gpu_span *span, pt_i64 start_ns,
                           pt_i64 ns);
void pt_gpu_split_thread(const struct gpu *gpu, const struct pt_thread *thread, pt_i64 start_ns, pt_i64 end_ns,
                         gpu_show_part *show, void *context);

#endif
