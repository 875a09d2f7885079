/* SPDX-License-Identifier: MIT
 *
 * gpu/host.h - what the CPU profile adds to the causes of a GPU's idleness.
 */
#ifndef PT_ANALYSIS_GPU_HOST_H
#define PT_ANALYSIS_GPU_HOST_H

#include "gpu.h"

struct gpu_host *gpu_host_open(struct gpu *gpu, pt_u32 stage);
void gpu_host_close(struct gpu_host *host);
/* Time between recorded calls: what of it the CPU profile knows goes through show, the rest is returned. */
pt_i64 gpu_host_part(struct gpu_host *host, pt_u32 device, pt_u32 tid, pt_i64 start_ns, pt_i64 end_ns,
                     gpu_show_part *show, void *context);
/* The same for a thread that was waited for: waits only. */
pt_i64 gpu_host_waits(struct gpu_host *host, pt_u32 tid, pt_i64 start_ns, pt_i64 end_ns, gpu_show_part *show,
                      void *context);
/* Splits what is left of a device's own code by the samples that fell into it. */
void gpu_host_share(struct gpu *gpu, pt_u32 device);

#endif
