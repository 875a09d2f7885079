/* SPDX-License-Identifier: MIT
 *
 * gpu/nvml.c - Owns: the calls to NVML. Threads: one, in the reader process. Never: lists processes: a call that
 * takes the driver's lock for milliseconds, on which the traced program's own calls wait.
 */
#include "nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nvml_api.h"

static struct pt_nvml_functions nvml;
static pt_nvml_device devices[PT_GPUS_MAX];
static bool is_lost[PT_GPUS_MAX];

static void *symbol_of(void *library, const char *name, const char *older)
{
    void *symbol = dlsym(library, name);
    return symbol || !older ? symbol : dlsym(library, older);
}

static bool load(void *library, char *reason, size_t size)
{
#define NVML(name, needed, symbol, older, arguments)                                                                   \
    *(void **)&nvml.name = symbol_of(library, symbol, older);                                                          \
    if (needed && !nvml.name) {                                                                                        \
        snprintf(reason, size, "libnvidia-ml.so.1 has no %s", symbol);                                                 \
        return false;                                                                                                  \
    }
#include "nvml.def"
#undef NVML
    *(void **)&nvml.error_string = symbol_of(library, "nvmlErrorString", NULL);
    return true;
}

static const char *text_of(pt_nvml_return result)
{
    const char *text = nvml.error_string ? nvml.error_string(result) : NULL;
    return text ? text : "unknown error";
}

int pt_gpu_nvml_open(void *library, struct pt_gpu_table *table, char *reason, size_t size)
{
    unsigned int n = 0;
    if (!load(library, reason, size))
        return -1;
    pt_nvml_return result = nvml.init();
    if (result == PT_NVML_SUCCESS)
        result = nvml.device_count(&n);
    if (result != PT_NVML_SUCCESS || n == 0 || n > PT_GPUS_MAX) {
        if (result != PT_NVML_SUCCESS)
            snprintf(reason, size, "NVML: %s", text_of(result));
        else
            snprintf(reason, size, n ? "NVML knows %u GPUs, which is more than are looked at" : "NVML knows no GPU", n);
        return -1;
    }
    *table = (struct pt_gpu_table){.n = n};
    for (unsigned int i = 0; i < n; i++) {
        result = nvml.device(i, &devices[i]);
        if (result != PT_NVML_SUCCESS) {
            snprintf(reason, size, "NVML: GPU %u: %s", i, text_of(result));
            return -1;
        }
        if (!nvml.device_name || nvml.device_name(devices[i], table->gpus[i].name, PT_GPU_NAME_SIZE) != PT_NVML_SUCCESS)
            snprintf(table->gpus[i].name, PT_GPU_NAME_SIZE, "GPU %u", i);
    }
    return 0;
}

/* Returns whether the value is good. */
static bool accept(struct pt_gpu_table *table, size_t i, enum pt_gpu_field field, pt_nvml_return result)
{
    if (result == PT_NVML_SUCCESS)
        return true;
    is_lost[i] = is_lost[i] || result == PT_NVML_GPU_IS_LOST;
    snprintf(table->gpus[i].reasons[field], PT_GPU_REASON_SIZE, "%s",
             result == PT_NVML_FUNCTION_NOT_FOUND ? "this driver is too old to tell" : text_of(result));
    return false;
}

#define CALL(function, ...) (nvml.function ? nvml.function(__VA_ARGS__) : PT_NVML_FUNCTION_NOT_FOUND)

static void read_device(struct pt_gpu_table *table, size_t i)
{
    double *values = table->gpus[i].values;
    pt_nvml_device device = devices[i];
    struct pt_nvml_utilization utilization = {0};
    struct pt_nvml_memory memory = {0};
    unsigned int milliwatt = 0, celsius = 0;
    unsigned long long millijoule = 0, reasons = 0;
    if (accept(table, i, PT_GPU_UTIL, CALL(utilization, device, &utilization)))
        values[PT_GPU_UTIL] = utilization.gpu;
    if (accept(table, i, PT_GPU_MEM, CALL(memory, device, &memory)))
        values[PT_GPU_MEM] = (double)memory.used;
    if (accept(table, i, PT_GPU_POWER, CALL(power, device, &milliwatt)))
        values[PT_GPU_POWER] = milliwatt / 1e3;
    if (accept(table, i, PT_GPU_ENERGY, CALL(energy, device, &millijoule)))
        values[PT_GPU_ENERGY] = (double)millijoule / 1e3;
    if (accept(table, i, PT_GPU_TEMPERATURE, CALL(temperature, device, PT_NVML_TEMPERATURE_GPU, &celsius)))
        values[PT_GPU_TEMPERATURE] = celsius;
    if (accept(table, i, PT_GPU_THROTTLED, CALL(clock_reasons, device, &reasons)))
        pt_gpu_take_clock_reasons(&table->gpus[i], reasons);
    else
        pt_gpu_no_clock_reasons(&table->gpus[i], table->gpus[i].reasons[PT_GPU_THROTTLED]);
}

void pt_gpu_nvml_read(struct pt_gpu_table *table)
{
    pt_gpu_table_forget(table);
    table->is_fresh = true;
    for (size_t i = 0; i < table->n; i++)
        if (!is_lost[i]) /* each call to a GPU that was lost from the bus can take seconds */
            read_device(table, i);
}
