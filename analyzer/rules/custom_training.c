/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about phases of a training that one comparison cannot express. Threads: one. Never: sees an event;
 * complains of what the rules about workers name already.
 */
#include "conditions.h"
#include "custom.h"
#include "general.h"

#define LEAST_DATA_PERCENT 20
#define LEAST_IMPORTS_S 0.5
#define MOST_FORWARD_S 0.005 /* with more, one sample is work enough */
enum { FEWEST_BATCHES = 20 };

static bool is_told_by_workers(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const enum pt_worker_complaint complaint = pt_worker_complaint(profile, finding);
    return (complaint != PT_WORKERS_FINE && complaint != PT_WORKERS_START) ||
           pt_finding_number(finding, &profile->metrics, "load.in_main.percent") >= 5 ||
           pt_finding_number(finding, &profile->metrics, "training.preparing_percent") >= 25;
}

bool pt_rule_steps_wait_for_data(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    if (!(pt_finding_number(finding, metrics, "training.waits_percent") >= LEAST_DATA_PERCENT) ||
        is_told_by_workers(profile, finding))
        return false;
    /* The first batch of each epoch is another matter: slow_first_batches. */
    finding->gain_upper_s = pt_finding_number(finding, metrics, "training.waits.cost_s");
    pt_finding_add_metrics(finding, metrics,
                           "data_s:training.data_s share_percent:training.dataloader_percent "
                           "training_s:training.total_s workers:training.workers.count data_set:training.data_set "
                           "samples_per_s:training.samples_per_s");
    pt_finding_add_rows(finding, metrics, "training.epochs", "data_s");
    finding->place_kind = PT_PLACE_WORKERS;
    if (pt_finding_number(finding, metrics, "training.workers.count") > 0)
        return true;
    finding->place_kind = PT_PLACE_FETCH;
    finding->part = PT_PART_computing;
    finding->title = "Training steps wait while the same process loads their data";
    finding->remedy = "load the next batches in other processes: DataLoader(num_workers=2 or more)";
    return true;
}

bool pt_rule_batches_of_one(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    const double steps = pt_finding_number(finding, metrics, "steps.count");
    const double forward_s = pt_finding_number(finding, metrics, "training.forward_s");
    if (!(pt_finding_number(finding, metrics, "training.ones_percent") >= 90) || !(steps >= FEWEST_BATCHES) ||
        !(forward_s / steps < MOST_FORWARD_S))
        return false;
    finding->gain_upper_s = pt_finding_number(finding, metrics, "training.per_step.cost_s");
    pt_finding_add_metrics(finding, metrics,
                           "steps:steps.count step_s:steps.p50_s forward_s:training.forward_s "
                           "samples_per_s:training.samples_per_s data_set:training.data_set");
    return true;
}

bool pt_rule_importing(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const double imports_s = pt_finding_number(finding, metrics, "python.imports.total_s");
    if (stage < 0 || !(imports_s >= LEAST_IMPORTS_S) || !(imports_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    finding->is_observation = true;
    finding->time_s = imports_s;
    pt_finding_add_metrics(finding, metrics, "imports_s:python.imports.total_s where:python.imports.most");
    return true;
}
