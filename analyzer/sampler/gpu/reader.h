/* SPDX-License-Identifier: MIT
 *
 * gpu/reader.h - ways to ask for the state of all GPUs of the machine: NVML, or the program nvidia-smi.
 *
 * Readers block as long as the driver does. They run in the helper process of gpu/helper.h and nowhere else.
 */
#ifndef PT_SAMPLER_GPU_READER_H
#define PT_SAMPLER_GPU_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "proftrace/schema.h"

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

/* 0, or -1 with a reason. NVML's handle stays open for ever. */
int pt_gpu_nvml_open(void *library, struct pt_gpu_table *table, char *reason, size_t size);
void pt_gpu_nvml_read(struct pt_gpu_table *table);

int pt_gpu_smi_open(const char *program, struct pt_gpu_table *table, char *reason, size_t size);
void pt_gpu_smi_read(struct pt_gpu_table *table);

/* What the driver's mask of clock reasons says, or that it says nothing and why. */
void pt_gpu_take_clock_reasons(struct pt_gpu *gpu, unsigned long long mask);
void pt_gpu_no_clock_reasons(struct pt_gpu *gpu, const char *why);

void pt_gpu_table_forget(struct pt_gpu_table *table);

#endif
