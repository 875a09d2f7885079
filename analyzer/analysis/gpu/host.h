/* SPDX-License-Identifier: MIT
 *
 * gpu/host.h - what the CPU profile adds to the causes of a GPU's idleness.
 */
#ifndef PT_ANALYSIS_GPU_HOST_H
#define PT_ANALYSIS_GPU_HOST_H

#include "state.h"

struct pt_gpu_host *pt_gpu_host_open(struct pt_gpu *gpu, pt_u32 stage);
void pt_gpu_host_close(struct pt_gpu_host *host);
/* Time of a thread between recorded calls. */
struct pt_gpu_stretch {
    const struct pt_thread *thread;
    pt_i64 start_ns, end_ns;
};
/* A piece of it that the CPU profile knows; `text`: the function. */
typedef void pt_gpu_show_piece(void *context, enum pt_gpu_cause cause, const char *text, pt_i64 ns);
struct pt_gpu_viewer {
    pt_gpu_show_piece *show;
    void *context;
};

/* What of it the CPU profile knows is shown, how much is left is returned; the code that ran is counted for a device.
 */
pt_i64 pt_gpu_host_split(struct pt_gpu_host *host, pt_u32 device, struct pt_gpu_stretch stretch,
                         struct pt_gpu_viewer viewer);
/* The same for a thread that was waited for: waits only. */
pt_i64 pt_gpu_host_waits(struct pt_gpu_host *host, struct pt_gpu_stretch stretch, struct pt_gpu_viewer viewer);
/* What was counted for a device's last gap is counted no more: the device was busy. */
void pt_gpu_host_take_back(struct pt_gpu *gpu, struct pt_gpu_device *device);
/* Splits what is left of a device's own code by the samples that fell into it. */
void pt_gpu_host_share(struct pt_gpu *gpu, pt_u32 device);

#endif
