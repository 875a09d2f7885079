/* SPDX-License-Identifier: MIT
 *
 * sources/gpu.c - Owns: the messages of the reader process about the GPUs, as samples. Threads: main only. Never: waits
 * for it longer than a few milliseconds, except before the command starts: energy has to be counted from there.
 *
 * Covers all GPUs of the machine, whichever process uses them: CUDA_VISIBLE_DEVICES is ignored.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sampler/gpu/reader.h"
#include "sampler/sampler.h"
#include "source.h"

enum { FIRST_WAIT_MS = 2000, WAIT_MS = 20, LAST_WAIT_MS = 200 };

static const enum pt_resource resource_of[PT_GPU__COUNT] = {
    [PT_GPU_UTIL] = PT_RESOURCE_gpu_util_percent,
    [PT_GPU_MEM] = PT_RESOURCE_gpu_mem_bytes,
    [PT_GPU_POWER] = PT_RESOURCE_gpu_power_w,
    [PT_GPU_ENERGY] = PT_RESOURCE_gpu_energy_j,
    [PT_GPU_TEMPERATURE] = PT_RESOURCE_gpu_temperature_c,
    [PT_GPU_THROTTLED] = PT_RESOURCE_gpu_throttled_percent,
    [PT_GPU_POWER_CAP] = PT_RESOURCE_gpu_power_cap_percent,
    [PT_GPU_HW_SLOWDOWN] = PT_RESOURCE_gpu_hw_slowdown_percent,
    [PT_GPU_SW_THERMAL] = PT_RESOURCE_gpu_sw_thermal_percent,
    [PT_GPU_HW_THERMAL] = PT_RESOURCE_gpu_hw_thermal_percent,
    [PT_GPU_POWER_BRAKE] = PT_RESOURCE_gpu_power_brake_percent,
};

struct gpu_source {
    const struct pt_source_host *host;
    struct pt_gpu_reader reader;
    struct pt_gpu_reading reading; /* the latest message */
    bool is_greeted;               /* the first message has come */
    double counter_j;              /* the drivers' counter at the latest reading; NAN = none yet */
    double energy_j;
    double power_w; /* at the latest reading, for GPUs without a counter */
    pt_u64 power_ns;
};

static void all_unknown(const struct pt_source_host *host, const char *reason)
{
    for (int field = 0; field < PT_GPU__COUNT; field++)
        pt_source_unknown(host, resource_of[field], "%s", reason);
}

static bool open_gpu(void *state, const struct pt_source_host *host)
{
    struct gpu_source *source = state;
    char reason[PT_REASON_SIZE];
    source->host = host;
    source->reader.fd = -1;
    source->counter_j = source->power_w = NAN;
    if (host->no_gpu) {
        all_unknown(host, "GPU sampling is switched off (--no-gpu-sampling)");
        return false;
    }
    if (pt_gpu_reader_start(&source->reader, reason, sizeof reason) == 0)
        return true;
    all_unknown(host, reason);
    return false;
}

/* ---- a message ---- */

static void greet(struct gpu_source *source)
{
    struct pt_samples *samples = source->host->samples;
    source->is_greeted = true;
    if (!source->reading.n)
        all_unknown(source->host, source->reading.reason);
    for (size_t i = 0; i < source->reading.n && samples->n_gpus < PT_SAMPLED_GPUS_MAX; i++) {
        char *name = samples->gpus[samples->n_gpus];
        snprintf(name, sizeof samples->gpus[0], "%s", source->reading.names[i]);
        samples->gpu_names[samples->n_gpus++] = name;
    }
}

static void add_energy(struct gpu_source *source)
{
    const struct pt_gpu_reading *reading = &source->reading;
    const double counter_j = reading->values[PT_GPU_ENERGY], power_w = reading->values[PT_GPU_POWER];
    if (!isnan(counter_j)) {
        /* A driver that is loaded again counts from 0. */
        if (!isnan(source->counter_j))
            source->energy_j += counter_j >= source->counter_j ? counter_j - source->counter_j : counter_j;
        source->counter_j = counter_j;
        return;
    }
    if (!isnan(source->counter_j))
        return; /* it had one: only this reading failed */
    if (!isnan(power_w) && !isnan(source->power_w))
        source->energy_j += (power_w + source->power_w) / 2 * (double)(reading->monotonic_ns - source->power_ns) / 1e9;
    source->power_w = power_w;
    source->power_ns = reading->monotonic_ns;
}

/* Before the start, only what cannot be known is reported. */
static void use_reading(struct gpu_source *source, struct pt_source_look *look)
{
    const struct pt_gpu_reading *reading = &source->reading;
    if (!reading->is_fresh)
        return;
    add_energy(source);
    for (int field = 0; field < PT_GPU__COUNT; field++) {
        look->values[resource_of[field]] = reading->values[field];
        if (reading->reasons[field][0] && field != PT_GPU_ENERGY)
            pt_source_unknown(source->host, resource_of[field], "%s", reading->reasons[field]);
    }
    const bool has_counter = !isnan(source->counter_j);
    if (has_counter || !isnan(source->power_w))
        look->values[PT_RESOURCE_gpu_energy_j] = source->energy_j;
    else if (reading->reasons[PT_GPU_ENERGY][0])
        pt_source_unknown(source->host, PT_RESOURCE_gpu_energy_j, "%s", reading->reasons[PT_GPU_ENERGY]);
    if (!has_counter && !isnan(source->power_w))
        pt_source_unknown(source->host, PT_RESOURCE_gpu_energy_j,
                          "summed up from sampled power: there is no energy counter");
}

static bool take(struct gpu_source *source, int timeout_ms, struct pt_source_look *look)
{
    if (pt_gpu_reader_take(&source->reader, timeout_ms, &source->reading) <= 0)
        return false;
    if (!source->is_greeted)
        greet(source);
    use_reading(source, look);
    return true;
}

static void look_at_gpu(void *state, struct pt_source_look *look)
{
    struct gpu_source *source = state;
    const bool is_first = look->interval_s <= 0;
    if (!source->is_greeted) /* the driver can take long to start; the command does not wait for it */
        take(source, is_first ? FIRST_WAIT_MS : 0, look);
    else
        take(source, 0, look); /* an answer that came late */
    if (source->is_greeted && source->reading.n) {
        if (pt_gpu_reader_ask(&source->reader))
            take(source, is_first || look->is_last ? LAST_WAIT_MS : WAIT_MS, look);
    }
    if (!look->is_last)
        return;
    if (!source->is_greeted)
        all_unknown(source->host, source->reader.fd >= 0 ? "the NVIDIA driver did not answer during the stage"
                                                         : "the NVIDIA library ended the process that asked it");
}

static void gpu_process_reaped(void *state, pid_t pid, const struct rusage *usage)
{
    struct gpu_source *source = state;
    (void)usage;
    if (pid == source->reader.pid)
        source->reader.pid = 0;
}

static void close_gpu(void *state)
{
    struct gpu_source *source = state;
    pt_gpu_reader_stop(&source->reader);
}

const struct pt_source pt_source_gpu = {
    .name = "gpu",
    .state_size = sizeof(struct gpu_source),
    .open = open_gpu,
    .look = look_at_gpu,
    .reaped = gpu_process_reaped,
    .close = close_gpu,
};
