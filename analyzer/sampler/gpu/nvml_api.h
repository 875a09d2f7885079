/* SPDX-License-Identifier: MIT
 *
 * gpu/nvml_api.h - what we use of NVIDIA's management library, by its published C interface. It is loaded at run time:
 * it is not needed to build or to run.
 */
#ifndef PT_SAMPLER_GPU_NVML_API_H
#define PT_SAMPLER_GPU_NVML_API_H

typedef int pt_nvml_return; /* 0 = success */
typedef struct pt_nvml_device_st *pt_nvml_device;

enum {
    PT_NVML_SUCCESS = 0,
    PT_NVML_FUNCTION_NOT_FOUND = 13,
    PT_NVML_GPU_IS_LOST = 15,
    PT_NVML_TEMPERATURE_GPU = 0,
};

/* Why clocks are held back (nvmlClocksEventReason...). Idle, chosen clocks and the like are no throttling. */
#define PT_NVML_SW_POWER_CAP 0x4ull
#define PT_NVML_HW_SLOWDOWN 0x8ull /* for heat or power; set with the last two, too */
#define PT_NVML_SW_THERMAL 0x20ull
#define PT_NVML_HW_THERMAL 0x40ull
#define PT_NVML_HW_POWER_BRAKE 0x80ull

struct pt_nvml_utilization {
    unsigned int gpu, memory; /* percent of the driver's last window, 1/6 s to 1 s */
};

struct pt_nvml_memory {
    unsigned long long total, free, used;
};

struct pt_nvml_functions {
#define NVML(name, needed, symbol, older, arguments) pt_nvml_return(*name) arguments;
#include "nvml.def"
#undef NVML
    const char *(*error_string)(pt_nvml_return);
};

#endif
