/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about GPUs that need more than one comparison. Of those about idle GPUs each excludes the others, so
 * that the advice fits. Threads: one. Never: sees an event; counts unobserved GPU time as idle.
 */
#include <math.h>
#include <string.h>

#include "custom.h"

enum { BUSY_ENOUGH_PERCENT = 70, MANY_KERNELS = 50, FEWEST_NEAR_LIMIT = 3 };
#define FLOAT32_PERCENT 30 /* of all kernels */
#define SHORT_KERNEL_S 50e-6
#define IMBALANCE_PERCENT 20  /* of the time in collectives: what the late rank has less of it */
#define EXCHANGING_PERCENT 20 /* of the time from the first work to the last */

static double number(const struct pt_profile *profile, const struct pt_finding *finding, const char *metric)
{
    return pt_finding_number(finding, &profile->metrics, metric);
}

static bool is_launch_bound(const struct pt_profile *profile, const struct pt_finding *finding)
{
    return number(profile, finding, "gpu.kernels.calls") >= MANY_KERNELS &&
           number(profile, finding, "gpu.kernels.mean_s") <= SHORT_KERNEL_S &&
           number(profile, finding, "gpu.launch.per_kernel_percent") >= 50 &&
           number(profile, finding, "gpu.launch.empty_percent") >= 50;
}

/* Few long gaps make up most of the idle time. */
static bool has_large_gaps(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const double large_s = number(profile, finding, "gpu.gaps.large_s");
    return large_s > 0 && large_s >= 0.75 * number(profile, finding, "gpu.gaps.all_s");
}

/* Samples are of all GPUs of the machine: they are the stage's where it calls CUDA and there is no other one. Of who
 * calls it not, somebody else keeps the GPU busy, or does not. */
static bool has_the_gpu(const struct pt_profile *profile, const struct pt_finding *finding)
{
    if (finding->stage < 0)
        return false;
    const struct pt_scope scope = pt_scope_stage((pt_u32)finding->stage);
    const struct pt_value source = pt_metrics_get(&profile->metrics, scope, "gpu.source");
    const char **gpus = profile->run ? profile->run->gpus : NULL;
    return source.type == PT_VALUE_TEXT && !strcmp(source.text, "runtime") && gpus && gpus[0] && !gpus[1];
}

/* The launcher's samples, if no process recorded more. */
static bool is_sampled_idle(struct pt_profile *profile, struct pt_finding *finding)
{
    if (!has_the_gpu(profile, finding) ||
        !(number(profile, finding, "resource.gpu_util_percent.mean") < BUSY_ENOUGH_PERCENT) ||
        !(number(profile, finding, "resource.gpu_util_percent.max") >= 5))
        return false;
    finding->gain_upper_s = number(profile, finding, "gpu.idle.cost_s");
    pt_finding_add_metrics(
        finding, &profile->metrics,
        "gpu_mean_percent:resource.gpu_util_percent.mean gpu_max_percent:resource.gpu_util_percent.max "
        "gpu_memory_bytes:resource.gpu_mem_bytes.max data_wait_s:time.data_wait_s "
        "file_read_s:time.file_read_s native_s:time.native_s");
    return true;
}

bool pt_rule_gpu_under_used(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    /* Without what happens once: imports, and what comes before a training has made its first step. */
    const double busy = number(profile, finding, "gpu.gaps.busy_percent");
    if (isnan(busy))
        return is_sampled_idle(profile, finding);
    if (!(busy < BUSY_ENOUGH_PERCENT) || has_large_gaps(profile, finding) || is_launch_bound(profile, finding))
        return false;
    finding->gain_upper_s = number(profile, finding, "gpu.gaps.all_s");
    pt_finding_add_metrics(
        finding, &profile->metrics,
        "gpu_busy_later_percent:gpu.gaps.busy_percent gpu_idle_later_s:gpu.gaps.all_s gaps:gpu.gaps.calls "
        "mostly:gpu.idle.top_cause where:gpu.idle.top_where");
    pt_finding_add_rows(finding, &profile->metrics, "gpu.idle_causes", "seconds");
    return true;
}

bool pt_rule_gpu_large_gaps(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    if (!has_large_gaps(profile, finding))
        return false;
    finding->gain_upper_s = number(profile, finding, "gpu.gaps.large_s");
    pt_finding_add_metrics(finding, &profile->metrics,
                           "gaps_of_100_ms_and_more:gpu.gaps.large.calls longest_s:gpu.gaps.longest_s "
                           "longest_at_s:gpu.gaps.longest_at_s gpu_busy_later_percent:gpu.gaps.busy_percent "
                           "mostly:gpu.idle.top_cause where:gpu.idle.top_where");
    pt_finding_add_rows(finding, &profile->metrics, "gpu.idle_causes", "seconds");
    return true;
}

bool pt_rule_gpu_launch_bound(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    if (!is_launch_bound(profile, finding) || has_large_gaps(profile, finding))
        return false;
    /* A launch is as short as recording lets it be: what CUPTI took goes away with us. In gaps it is a cause of its
     * own. */
    const double cupti_s = pt_finding_number_or_0(finding, &profile->metrics, "cpu.main_cupti_s") -
                           pt_finding_number_or_0(finding, &profile->metrics, "gpu.idle.tracing_s");
    finding->gain_upper_s = number(profile, finding, "gpu.launch_bound.cost_s") - fmax(cupti_s, 0);
    pt_finding_add_metrics(finding, &profile->metrics,
                           "kernels:gpu.kernels.calls kernel_mean_s:gpu.kernels.mean_s launch_mean_s:gpu.launch.mean_s "
                           "launched_when_empty_percent:gpu.launch.empty_percent gpu_busy_percent:gpu.busy_percent");
    pt_finding_add_rows(finding, &profile->metrics, "gpu.kernels", "calls");
    return true;
}

bool pt_rule_gpu_collective_imbalance(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    if (!(number(profile, finding, "gpu.collectives.ranks.count") >= 2) ||
        !(number(profile, finding, "gpu.collectives.imbalance_percent") >= IMBALANCE_PERCENT))
        return false;
    finding->gain_upper_s = number(profile, finding, "gpu.collectives.imbalance.cost_s");
    pt_finding_add_metrics(finding, &profile->metrics,
                           "ranks:gpu.collectives.ranks.count most_s:gpu.collectives.most_s "
                           "least_s:gpu.collectives.least_s late_pid:gpu.collectives.slowest_pid");
    pt_finding_add_rows(finding, &profile->metrics, "gpu.collectives", "total_s");
    return true;
}

/* Where all are late in turn, each waits in its collectives for the others. If their GPUs are idle then, that is
 * another matter; if they compute, it looks like an exchange: the advice names it, and the confidence is low. */
bool pt_rule_gpu_communication_bound(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    const double only_s = number(profile, finding, "gpu.collectives.only_s");
    if (!(number(profile, finding, "gpu.collectives.ranks.count") >= 2) ||
        !(number(profile, finding, "gpu.collectives.imbalance_percent") < IMBALANCE_PERCENT) ||
        !(number(profile, finding, "gpu.collectives.only_percent") >= EXCHANGING_PERCENT) ||
        !(number(profile, finding, "gpu.gaps.all_s") < only_s))
        return false;
    finding->gain_upper_s = only_s;
    pt_finding_add_metrics(finding, &profile->metrics,
                           "ranks:gpu.collectives.ranks.count only_collectives_s:gpu.collectives.only_s "
                           "share_percent:gpu.collectives.only_percent gpu_idle_later_s:gpu.gaps.all_s");
    pt_finding_add_rows(finding, &profile->metrics, "gpu.collectives", "total_s");
    return true;
}

/* Of a model: who solves equations on a GPU may need all digits. */
bool pt_rule_gpu_float32(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    const bool is_model =
        number(profile, finding, "steps.count") > 0 || number(profile, finding, "training.only_calls_percent") > 0;
    if (!is_model || !(number(profile, finding, "gpu.float32.percent") >= FLOAT32_PERCENT))
        return false;
    finding->gain_upper_s = number(profile, finding, "gpu.float32.total_s");
    pt_finding_add_metrics(finding, &profile->metrics,
                           "multiplying_s:gpu.float32.total_s share_percent:gpu.float32.percent "
                           "gpu_busy_later_percent:gpu.gaps.busy_percent steps:steps.count");
    pt_finding_add_rows(finding, &profile->metrics, "gpu.kernels", "total_s");
    return true;
}

/* ---- not in seconds ---- */

/* TensorFlow, JAX and vLLM take nearly all of it when they start, and divide it themselves: no allocation follows that
 * could fail. */
static void say_that_it_is_kept(struct pt_finding *finding)
{
    finding->is_observation = true;
    finding->severity = PT_SEVERITY_INFO;
    finding->title = "More than 90 % of the GPU's memory is taken, and kept";
    finding->remedy = "nothing, if the framework takes it in advance (TensorFlow, JAX, vLLM); else smaller batches";
    finding->advice =
        "TensorFlow (set_memory_growth), JAX (XLA_PYTHON_CLIENT_PREALLOCATE) and vLLM (gpu_memory_utilization) take it "
        "when they start, and divide it themselves. Of a training that took it piece by piece, the next larger batch "
        "may fail: smaller batches, mixed precision, gradient checkpointing.";
}

bool pt_rule_gpu_memory_full(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    (void)stage;
    if (!(number(profile, finding, "gpu.memory.peak_percent") > 90))
        return false;
    finding->always_shown = true;
    if (number(profile, finding, "gpu.memory.near_limit.calls") < FEWEST_NEAR_LIMIT) /* unknown: it may fail */
        say_that_it_is_kept(finding);
    pt_finding_add_metrics(finding, &profile->metrics,
                           "peak_percent:gpu.memory.peak_percent peak_bytes:gpu.memory.peak.bytes "
                           "of_bytes:gpu.memory.of.bytes near_limit_calls:gpu.memory.near_limit.calls");
    pt_finding_add_rows(finding, &profile->metrics, "gpu.memory", "peak_bytes");
    return true;
}

bool pt_rule_gpu_data_incomplete(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    if (stage < 0)
        return false;
    const struct pt_value source = pt_metrics_get(metrics, pt_scope_stage((pt_u32)stage), "gpu.source");
    const double missing_percent = number(profile, finding, "gpu.missing_percent");
    /* A GPU that was only sampled from outside may be kept busy by another user. */
    if (source.type != PT_VALUE_TEXT || !strcmp(source.text, "nvml") || missing_percent < 0.1)
        return false;
    const struct pt_value reason = pt_metrics_get(metrics, pt_scope_stage((pt_u32)stage), "gpu.reason");
    finding->always_shown = true;
    pt_finding_add_metrics(finding, metrics, "seen_by:gpu.source");
    if (missing_percent > 0) /* not NAN */
        pt_finding_add_metrics(finding, metrics,
                               "complete_percent:gpu.completeness_percent lost_records:gpu.lost.records "
                               "not_seen_s:gpu.not_seen_s");
    else if (number(profile, finding, "gpu.not_seen_s") > 0) /* what ran then was not counted */
        pt_finding_add_metrics(finding, metrics, "lost_records:gpu.lost.records not_seen_s:gpu.not_seen_s");
    if (reason.type == PT_VALUE_TEXT)
        pt_finding_add_evidence(finding, "reason", reason);
    return true;
}
