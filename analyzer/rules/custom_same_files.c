/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about workers of a data loader that all give the same samples. Threads: one. Never: blames workers
 * that are told which samples to read, or those of other pools: who works on one file in different ways has to read it.
 */
#include "custom.h"
#include "finding_stacks.h"

static bool are_iterated(const struct pt_profile *profile, pt_i64 stage)
{
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage == stage && stack->cost[PT_STACK_WORKER_S] > 0 && pt_is_iterated(stack))
            return true;
    }
    return false;
}

bool pt_rule_workers_read_the_same(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const double workers = pt_finding_number(finding, metrics, "helpers.same_files.workers");
    if (stage < 0 || !(workers >= 2) || !are_iterated(profile, stage))
        return false;
    finding->is_wait = true;
    finding->gain_upper_s = pt_finding_number(finding, metrics, "helpers.same_files.cost_s");
    finding->title = pt_metrics_format(
        metrics, "Each of %.0f workers reads all of the files: samples come %.0f times, unless it skips some", workers,
        workers);
    pt_finding_add_metrics(
        finding, metrics,
        "files:helpers.same_files.files.count bytes:helpers.same_files.bytes "
        "workers:helpers.workers.at_once workers_started:helpers.workers.count wait_s:helpers.wait_s");
    pt_finding_add_rows(finding, metrics, "helpers.workers", "busy_s");
    return true;
}
