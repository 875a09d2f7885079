/* SPDX-License-Identifier: MIT
 *
 * gpu/table.h - the state of all GPUs of the machine, and what it says of them as one.
 *
 * Filled by nvml.h, or by nvidia_smi.h where NVML cannot be loaded. Both block as long as the driver does: they run in
 * the reader process of reader.h and nowhere else.
 */
#ifndef PT_SAMPLER_GPU_TABLE_H
#define PT_SAMPLER_GPU_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "proftrace/types.h"

enum { PT_GPUS_MAX = 32, PT_GPU_NAME_SIZE = 96, PT_GPU_REASON_SIZE = 64 };

enum pt_gpu_field {
    PT_GPU_UTIL,
    PT_GPU_MEM,
    PT_GPU_POWER,
    PT_GPU_ENERGY,
    PT_GPU_TEMPERATURE,
    PT_GPU_THROTTLED, /* for any of the reasons below; all of them are one answer of the driver */
    PT_GPU_POWER_CAP,
    PT_GPU_HW_SLOWDOWN,
    PT_GPU_SW_THERMAL,
    PT_GPU_HW_THERMAL,
    PT_GPU_POWER_BRAKE,
    PT_GPU__COUNT
};

struct pt_gpu_table {
    size_t n; /* GPUs; more than there is room for are in no sum: then nothing is known */
    bool is_fresh;
    struct pt_gpu {
        char name[PT_GPU_NAME_SIZE];
        double values[PT_GPU__COUNT]; /* percent, bytes, W, J, degrees Celsius, 0 or 100; NAN = unknown */
        char reasons[PT_GPU__COUNT][PT_GPU_REASON_SIZE];
    } gpus[PT_GPUS_MAX];
};

struct pt_gpu_reading {
    pt_u64 monotonic_ns;
    size_t n; /* GPUs; 0 in the first message = there are none that can be read, with the reason */
    bool is_fresh;
    double values[PT_GPU__COUNT]; /* over all GPUs; NAN = unknown */
    char reason[160];
    char reasons[PT_GPU__COUNT][160];
    char names[PT_GPUS_MAX][PT_GPU_NAME_SIZE];
};

/* What the driver's mask of clock reasons says, or that it says nothing and why. */
void pt_gpu_take_clock_reasons(struct pt_gpu *gpu, unsigned long long mask);
void pt_gpu_no_clock_reasons(struct pt_gpu *gpu, const char *why);

void pt_gpu_table_forget(struct pt_gpu_table *table);

/* Sums, means and maxima over the GPUs. If a value of one GPU is unknown, it is unknown for all. */
void pt_gpu_reading_make(const struct pt_gpu_table *table, struct pt_gpu_reading *ret_reading);

#endif
