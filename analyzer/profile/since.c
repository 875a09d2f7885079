/* SPDX-License-Identifier: MIT
 *
 * since.c - Owns: what the launcher noted, cut to a window. Threads: one, when a run is opened. Never: makes a sample
 * up: without one in the window, what it would tell is unknown.
 */
#include <math.h>
#include <string.h>

#include "model/window.h"
#include "open.h"

/* Samples of one resource, and when the window begins among them. */
struct cut {
    const double *t_s; /* since the start of the stage, as all here */
    pt_u32 n_before, n;
    double at_s;
};

/* The value of a total when the window began: samples of a long run are minutes apart, so in proportion between the
 * last one that is known before it and the first one behind it. It counts from the start of the stage. */
static double at_cut(const struct cut *cut, const double *samples)
{
    pt_u32 before = cut->n_before, behind = before;
    while (before && !isfinite(samples[before - 1]))
        before--;
    while (behind < cut->n && !isfinite(samples[behind]))
        behind++;
    const double from = before ? samples[before - 1] : 0, from_s = before ? cut->t_s[before - 1] : 0;
    if (behind == cut->n)
        return from;
    return from + (samples[behind] - from) * (cut->at_s - from_s) / (cut->t_s[behind] - from_s);
}

/* The launcher's figures without samples are of the whole stage. */
static void forget(struct pt_run_resource *resource)
{
    if (isfinite(resource->max) || isfinite(resource->last))
        resource->reason = pt_window_no_counters;
    resource->max = resource->mean = resource->last = NAN;
}

/* Each sample is of the time since the one before it, which may be longer than that of the others. */
static void sum_up(struct pt_run_resource *resource, const struct cut *cut, bool is_total)
{
    double max = NAN, last = NAN, sum = 0, sum_s = 0;
    for (pt_u32 i = cut->n_before; i < cut->n; i++) {
        const double value = resource->samples[i];
        const double since_s = i > cut->n_before ? cut->t_s[i - 1] : cut->at_s;
        if (!isfinite(value))
            continue;
        max = fmax(max, value); /* fmax ignores a NAN */
        last = value;
        sum += value * (cut->t_s[i] - since_s);
        sum_s += cut->t_s[i] - since_s;
    }
    resource->last = last;
    resource->max = max;
    resource->mean = sum_s > 0 && !is_total ? sum / sum_s : NAN;
    if (isnan(last) && !resource->reason)
        resource->reason = "no sample was taken in the window";
}

static void cut_resource(struct pt_run_resource *resource, const struct cut *cut, bool is_total)
{
    if (!resource->samples) {
        forget(resource);
        return;
    }
    const double base = is_total ? at_cut(cut, resource->samples) : 0;
    for (pt_u32 i = cut->n_before; i < cut->n; i++)
        resource->samples[i] -= base;
    sum_up(resource, cut, is_total);
    memmove(resource->samples, resource->samples + cut->n_before, (cut->n - cut->n_before) * sizeof *resource->samples);
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
    struct cut cut = {.t_s = stage->sample_t_s, .n = stage->n_samples, .at_s = cut_s};
    while (cut.n_before < cut.n && cut.t_s[cut.n_before] <= cut_s)
        cut.n_before++;
    for (int i = 0; i < PT_RESOURCE__COUNT; i++)
        cut_resource(&stage->resources[i], &cut, are_totals[i]);
    stage->n_samples = cut.n - cut.n_before;
    for (pt_u32 i = 0; i < stage->n_samples; i++)
        stage->sample_t_s[i] = stage->sample_t_s[cut.n_before + i] - cut_s;
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
