/* SPDX-License-Identifier: MIT
 *
 * gpu/nvidia_smi.h - the state of all GPUs by the program nvidia-smi.
 */
#ifndef PT_SAMPLER_GPU_NVIDIA_SMI_H
#define PT_SAMPLER_GPU_NVIDIA_SMI_H

#include "table.h"

/* 0, or -1 with a reason. */
int pt_gpu_smi_open(const char *program, struct pt_gpu_table *table, char *reason, size_t size);
void pt_gpu_smi_read(struct pt_gpu_table *table);

#endif
