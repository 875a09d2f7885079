/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about a stage that was looked at because it did not go on. Threads: one. Never: guesses why.
 *
 * What is waited for when a process is ended is in no event: calls are recorded when they return. The time that it took
 * is of unknown use, and the stacks that were taken before the end say of which.
 */
#include "custom.h"

bool pt_rule_stage_stuck(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    (void)stage;
    if (!(pt_finding_number(finding, metrics, "stuck.looks") > 0))
        return false;
    finding->always_shown = true; /* it came back after a while, and nobody knows how long that was */
    finding->gain_upper_s = pt_finding_number_or_0(finding, metrics, "time.unattributed_s");
    pt_finding_add_metrics(finding, metrics, "where:stuck.where unattributed_s:time.unattributed_s");
    return true;
}
