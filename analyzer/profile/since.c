/* SPDX-License-Identifier: MIT
 *
 * since.c - Owns: what the launcher noted, cut to a window. Threads: one, when a run is opened. Never: makes a sample
 * up: without one in the window, what it would tell is unknown.
 */
#include <math.h>
#include <string.h>

#include "model/window.h"
#include "open.h"

/* The value of a total when the window began: the last one that is known before it. It counts from the start of the
 * stage. */
static double before_window(const double *samples, pt_u32 n_before)
{
    while (n_before && !isfinite(samples[n_before - 1]))
        n_before--;
    return n_before ? samples[n_before - 1] : 0;
}

/* The launcher's figures without samples are of the whole stage. */
static void forget(struct pt_run_resource *resource)
{
    if (isfinite(resource->max) || isfinite(resource->last))
        resource->reason = pt_window_no_counters;
    resource->max = resource->mean = resource->last = NAN;
}

static void sum_up(struct pt_run_resource *resource, pt_u32 n_samples, bool is_total)
{
    double max = NAN, sum = 0;
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < n_samples; i++) {
        if (!isfinite(resource->samples[i]))
            continue;
        max = n && max > resource->samples[i] ? max : resource->samples[i];
        sum += resource->samples[i];
        n++;
    }
    resource->last = n_samples ? resource->samples[n_samples - 1] : NAN;
    resource->max = max;
    resource->mean = n && !is_total ? sum / n : NAN;
    if (!n && !resource->reason)
        resource->reason = "no sample was taken in the window";
}

static void cut_resource(struct pt_run_resource *resource, pt_u32 n_before, pt_u32 n_left, bool is_total)
{
    if (!resource->samples) {
        forget(resource);
        return;
    }
    const double base = is_total ? before_window(resource->samples, n_before) : 0;
    resource->before = n_before && !isfinite(resource->samples[n_before - 1]) ? NAN : 0;
    memmove(resource->samples, resource->samples + n_before, n_left * sizeof *resource->samples);
    for (pt_u32 i = 0; i < n_left; i++)
        resource->samples[i] -= base;
    sum_up(resource, n_left, is_total);
}

static void cut_samples(struct pt_run_stage *stage, double cut_s)
{
    static const bool are_totals[] = {
#define MERGE_MEAN false
#define MERGE_MAX false
#define MERGE_TOTAL true
#define RESOURCE(id, merge, label, summary) MERGE_##merge,
#include "run_file/resources.def"
#undef RESOURCE
    };
    pt_u32 n_before = 0;
    while (n_before < stage->n_samples && stage->sample_t_s[n_before] <= cut_s)
        n_before++;
    const pt_u32 n_left = stage->n_samples - n_before;
    for (int i = 0; i < PT_RESOURCE__COUNT; i++)
        cut_resource(&stage->resources[i], n_before, n_left, are_totals[i]);
    stage->counted_from_s = (n_before ? stage->sample_t_s[n_before - 1] : 0) - cut_s;
    for (pt_u32 i = 0; i < n_left; i++)
        stage->sample_t_s[i] = stage->sample_t_s[n_before + i] - cut_s;
    stage->n_samples = n_left;
}

static void cut_stage(struct pt_run_stage *stage, double from_ns)
{
    const double end_ns = stage->start_ns + stage->duration_ns;
    if (!stage->is_running && end_ns <= from_ns) {
        stage->status = "skipped";
        stage->reason = "it had ended before the window";
        stage->duration_ns = stage->cpu_s = stage->rss_max_bytes = stage->cpu_percent_avg = stage->cpu_percent_max =
            NAN;
        stage->n_samples = 0;
        for (int i = 0; i < PT_RESOURCE__COUNT; i++)
            forget(&stage->resources[i]);
        return;
    }
    if (!(stage->start_ns < from_ns))
        return;
    cut_samples(stage, (from_ns - stage->start_ns) / 1e9);
    stage->duration_ns = stage->is_running ? NAN : end_ns - from_ns;
    stage->start_ns = from_ns;
    stage->rss_max_bytes = stage->resources[PT_RESOURCE_rss_bytes].max;
    stage->cpu_percent_max = stage->resources[PT_RESOURCE_cpu_percent].max;
    stage->cpu_percent_avg = stage->resources[PT_RESOURCE_cpu_percent].mean;
    stage->cpu_s = stage->cpu_percent_avg / 100 * stage->duration_ns / 1e9;
}

double pt_run_clock_ahead_ns(const struct pt_run_info *info, const struct pt_session *session)
{
    const double ns = (double)(pt_i64)(session->start_realtime_ns - info->start_realtime_ns);
    return info->start_realtime_ns && session->start_realtime_ns && fabs(ns) < 3600e9 ? ns : 0;
}

pt_i64 pt_run_end_ns(const struct pt_run *run)
{
    const struct pt_session *session = pt_run_session(run);
    double end_ns = (double)session->duration_ns;
    if (!run->info)
        return session->duration_ns;
    const double ahead = pt_run_clock_ahead_ns(run->info, session);
    for (pt_u32 i = 0; i < run->info->n_stages; i++) {
        const struct pt_run_stage *stage = &run->info->stages[i];
        end_ns = fmax(end_ns, stage->start_ns + stage->duration_ns - ahead);
    }
    return (pt_i64)fmin(end_ns, 9e18);
}

int pt_run_since(struct pt_run *run, pt_i64 since_ns, struct pt_error *err)
{
    struct pt_session *session = pt_run_session(run);
    const pt_i64 end_ns = pt_run_end_ns(run), from_ns = end_ns - since_ns;
    if (from_ns <= 0)
        return 0;
    session->duration_ns = end_ns;
    if (pt_session_window(session, from_ns, err) < 0)
        return -1;
    for (pt_u32 i = 0; run->info && i < run->info->n_stages; i++)
        cut_stage(&run->info->stages[i], (double)from_ns + pt_run_clock_ahead_ns(run->info, session));
    return 0;
}
