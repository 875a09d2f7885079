/* SPDX-License-Identifier: MIT
 *
 * torch/gpu.h - GPU work and devices in a PyTorch-profiler trace.
 */
#ifndef PT_EXPORT_TORCH_GPU_H
#define PT_EXPORT_TORCH_GPU_H

#include "types.h"

/* An event of the category GPU. */
void pt_torch_gpu_event(struct pt_torch_file *file, const struct pt_event *event);
/* The list of devices after the events. */
void pt_torch_put_devices(struct pt_torch_file *file);

#endif
