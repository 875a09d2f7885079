/* SPDX-License-Identifier: MIT
 *
 * torch/projection.h - ranges and steps as the GPU saw them.
 */
#ifndef PT_EXPORT_TORCH_PROJECTION_H
#define PT_EXPORT_TORCH_PROJECTION_H

#include "export/timeline/gpu_names.h"
#include "types.h"

/* Of a range that began inside another one of its thread, or inside none. */
struct pt_torch_projected *pt_torch_project_range(struct pt_torch_projected *outer, pt_u32 name);
struct pt_torch_projected *pt_torch_project_step(pt_u64 number);
/* It has ended on its thread; its work may still come. */
void pt_torch_project_end(struct pt_torch_file *file, struct pt_torch_projected *range);
/* A call that can start work, made in the ranges that are open on its thread. */
void pt_torch_project_call(struct pt_torch_file *file, const struct pt_event *event);
void pt_torch_project_work(struct pt_torch_file *file, pt_u32 correlation, const struct pt_gpu_queue *queue,
                           pt_i64 start_ns, pt_i64 end_ns);
/* Writes what is left, after all ranges have ended; without a sink it frees only. */
void pt_torch_project_finish(struct pt_torch_file *file);

#endif
