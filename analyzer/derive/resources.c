/* SPDX-License-Identifier: MIT
 *
 * What the launcher sampled, as metrics of each stage: resource.<id>.max, .mean and .last, energy, and how long the
 * machine stayed above the thresholds of the configuration.
 *
 * Threads: one. State: none. Never: invents a value: what was not sampled is unknown, with the launcher's reason.
 */
#include "derive.h"

#include <math.h>

#include "util/whole.h"

static const char too_short[] = "the stage ended before the first sample";

static const struct {
    const char *max, *mean, *last;
} names[PT_RESOURCE__COUNT] = {
#define RESOURCE(id, merge, label, summary) {"resource." #id ".max", "resource." #id ".mean", "resource." #id ".last"},
#include "run_file/resources.def"
#undef RESOURCE
};

static struct pt_value value_of(double number, const char *reason)
{
    return isnan(number) ? pt_unknown(reason) : pt_real(number);
}

static void set_resources(struct pt_profile *profile, pt_u32 stage)
{
    static const struct pt_run_resource nothing = {.max = NAN, .mean = NAN, .last = NAN};
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_stage *one = &profile->stages.items[stage];
    const bool has_ended = one->run && one->run->status;
    const char *otherwise = pt_stage_was_skipped(one) ? "the stage was skipped"
                            : has_ended               ? too_short
                                                      : pt_profile_why_not_sampled(profile, stage);
    for (int i = 0; i < PT_RESOURCE__COUNT; i++) {
        const struct pt_run_resource *resource = one->run ? &one->run->resources[i] : &nothing;
        const char *reason = resource->reason ? resource->reason : otherwise;
        if (i == PT_RESOURCE_processes && resource->max == 0) { /* of a stage that had at least one */
            resource = &nothing;
            reason = "its processes had ended at each sample";
        }
        pt_metrics_set(metrics, scope, names[i].max, value_of(resource->max, reason));
        pt_metrics_set(metrics, scope, names[i].mean, value_of(resource->mean, reason));
        pt_metrics_set(metrics, scope, names[i].last, value_of(resource->last, reason));
    }
}

/* ---- energy ---- */

/* GPUs and CPU packages, whichever are known; both missing is unknown. */
static void set_energy(struct pt_profile *profile, pt_u32 stage)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_value gpu = pt_metrics_get(metrics, scope, "resource.gpu_energy_j.last");
    const struct pt_value cpu = pt_metrics_get(metrics, scope, "resource.cpu_energy_j.last");
    const bool known = gpu.type != PT_VALUE_UNKNOWN || cpu.type != PT_VALUE_UNKNOWN;
    const double joule = pt_value_number(gpu) + pt_value_number(cpu);
    const double intensity = profile->run ? profile->run->pipeline.carbon_intensity_g_per_kwh : NAN;
    const struct pt_value total = known ? pt_real(joule) : pt_unknown(cpu.reason);
    pt_metrics_set(metrics, scope, "energy.total_j", total);
    pt_metrics_set(metrics, scope, "energy.co2e_g",
                   !known             ? total
                   : isnan(intensity) ? pt_unknown("profile.carbon_intensity_g_per_kwh is not given")
                                      : pt_real(joule / 3.6e6 * intensity));
}

/* ---- thresholds ---- */

/* The longest time without a break in which the samples stayed at or above `least`. */
static double longest_above(const struct pt_run_stage *run, enum pt_resource resource, double least)
{
    const double *samples = run->resources[resource].samples;
    double longest = 0, since = 0, before = 0;
    for (pt_u32 i = 0; samples && i < run->n_samples; i++) {
        if (!(samples[i] >= least))
            since = run->sample_t_s[i];
        else if (run->sample_t_s[i] - since > longest)
            longest = run->sample_t_s[i] - since;
        if (i && run->sample_t_s[i] < before)
            return 0; /* a damaged file */
        before = run->sample_t_s[i];
    }
    return longest;
}

static void set_alerts(struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_run_info *run = profile->run;
    const struct pt_run_stage *one = profile->stages.items[stage].run;
    const struct {
        enum pt_resource resource;
        double least;
        const char *above_s, *threshold;
    } alerts[] = {
        {PT_RESOURCE_machine_cpu_percent, run ? run->pipeline.thresholds.cpu_percent : NAN, "alert.cpu.above_s",
         "alert.cpu.threshold_percent"},
        {PT_RESOURCE_machine_memory_percent, run ? run->pipeline.thresholds.memory_percent : NAN,
         "alert.memory.above_s", "alert.memory.threshold_percent"},
        {PT_RESOURCE_disk_busy_percent, run ? run->pipeline.thresholds.disk_percent : NAN, "alert.disk.above_s",
         "alert.disk.threshold_percent"},
    };
    if (!one || !run->is_pipeline)
        return;
    for (size_t i = 0; i < sizeof alerts / sizeof *alerts; i++) {
        const double above_s = longest_above(one, alerts[i].resource, alerts[i].least);
        /* With 0 for sustained_s, what was never above it would count, and what has no samples. */
        const bool sustained = above_s > 0 && above_s >= run->pipeline.thresholds.sustained_s;
        pt_metrics_set(&profile->metrics, pt_scope_stage(stage), alerts[i].above_s,
                       sustained ? pt_real(above_s) : pt_unknown("never for long enough"));
        pt_metrics_set(&profile->metrics, pt_scope_stage(stage), alerts[i].threshold, pt_real(alerts[i].least));
    }
    if (run->pipeline.thresholds.memory_growth_mb > 0)
        pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "alert.growth.limit_bytes",
                       pt_integer(pt_whole(run->pipeline.thresholds.memory_growth_mb * 1048576)));
}

/* ---- all ---- */

static void set_cores(struct pt_profile *profile, pt_u32 stage)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_value percent = pt_metrics_get(metrics, scope, "cpu.avg_percent");
    pt_metrics_set(metrics, scope, "cpu.cores",
                   percent.type == PT_VALUE_UNKNOWN ? percent : pt_real(pt_value_number(percent) / 100));
}

void pt_derive_resources(struct pt_profile *profile)
{
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        set_resources(profile, stage);
        set_cores(profile, stage);
        set_energy(profile, stage);
        set_alerts(profile, stage);
    }
}
