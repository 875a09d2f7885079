/* SPDX-License-Identifier: MIT
 *
 * gpu/nvml.h - the state of all GPUs by NVIDIA's management library.
 */
#ifndef PT_SAMPLER_GPU_NVML_H
#define PT_SAMPLER_GPU_NVML_H

#include "table.h"

/* 0, or -1 with a reason. The handle `library` stays open for ever. */
int pt_gpu_nvml_open(void *library, struct pt_gpu_table *table, char *reason, size_t size);
void pt_gpu_nvml_read(struct pt_gpu_table *table);

#endif
