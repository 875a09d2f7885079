/* SPDX-License-Identifier: MIT
 *
 * gpu/table.c - Owns: sums, means and maxima over GPUs. Threads: one, in the reader process. Never: counts an unknown
 * value of a GPU as zero.
 */
#include "table.h"

#include <math.h>
#include <stdio.h>

#include "util/clock.h"
#include "nvml_api.h"

void pt_gpu_table_forget(struct pt_gpu_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        for (int field = 0; field < PT_GPU__COUNT; field++)
            table->gpus[i].values[field] = NAN;
}

static const struct {
    enum pt_gpu_field field;
    unsigned long long mask;
} clock_reasons[] = {
    {PT_GPU_POWER_CAP, PT_NVML_SW_POWER_CAP},     {PT_GPU_HW_SLOWDOWN, PT_NVML_HW_SLOWDOWN},
    {PT_GPU_SW_THERMAL, PT_NVML_SW_THERMAL},      {PT_GPU_HW_THERMAL, PT_NVML_HW_THERMAL},
    {PT_GPU_POWER_BRAKE, PT_NVML_HW_POWER_BRAKE},
};
enum { N_CLOCK_REASONS = sizeof clock_reasons / sizeof *clock_reasons };

void pt_gpu_take_clock_reasons(struct pt_gpu *gpu, unsigned long long mask)
{
    gpu->values[PT_GPU_THROTTLED] = 0;
    for (int i = 0; i < N_CLOCK_REASONS; i++) {
        const bool is_set = mask & clock_reasons[i].mask;
        gpu->values[clock_reasons[i].field] = is_set ? 100 : 0;
        if (is_set)
            gpu->values[PT_GPU_THROTTLED] = 100;
    }
}

void pt_gpu_no_clock_reasons(struct pt_gpu *gpu, const char *why)
{
    char text[PT_GPU_REASON_SIZE];
    snprintf(text, sizeof text, "%s", why); /* it may be one of those that are written */
    for (int field = PT_GPU_THROTTLED; field < PT_GPU__COUNT; field++) {
        gpu->values[field] = NAN;
        snprintf(gpu->reasons[field], PT_GPU_REASON_SIZE, "%s", text);
    }
}

static double combined(enum pt_gpu_field field, const struct pt_gpu_table *table)
{
    double sum = 0, highest = -INFINITY;
    for (size_t i = 0; i < table->n; i++) {
        sum += table->gpus[i].values[field];
        highest = fmax(highest, table->gpus[i].values[field]);
    }
    if (isnan(sum))
        return NAN;
    if (field == PT_GPU_TEMPERATURE)
        return highest;
    return field == PT_GPU_UTIL || field >= PT_GPU_THROTTLED ? sum / (double)table->n : sum;
}

void pt_gpu_reading_make(const struct pt_gpu_table *table, struct pt_gpu_reading *ret_reading)
{
    *ret_reading = (struct pt_gpu_reading){
        .monotonic_ns = pt_monotonic_ns(),
        .n = table->n,
        .is_fresh = table->is_fresh,
    };
    for (int field = 0; field < PT_GPU__COUNT; field++)
        ret_reading->values[field] = table->n ? combined((enum pt_gpu_field)field, table) : NAN;
    for (size_t i = 0; i < table->n; i++) {
        const struct pt_gpu *gpu = &table->gpus[i];
        snprintf(ret_reading->names[i], PT_GPU_NAME_SIZE, "%s", gpu->name);
        for (int field = 0; field < PT_GPU__COUNT; field++)
            if (gpu->reasons[field][0] && isnan(gpu->values[field]) && !ret_reading->reasons[field][0])
                snprintf(ret_reading->reasons[field], sizeof ret_reading->reasons[field], "GPU %zu (%.60s): %s", i,
                         gpu->name, gpu->reasons[field]);
    }
}
