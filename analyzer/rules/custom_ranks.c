/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about ranks that train together and of which one is late. Threads: one. Never: sees an event; names
 * code that the late rank does not run longer than the others.
 */
#include "custom.h"

/* In which phase of its steps the late rank takes longer than the others do; they wait for it in the backward pass. */
static void name_late_phase(struct pt_metrics *metrics, pt_u32 stage, double late, struct pt_finding *finding)
{
    static const char *const phases[][2] = {
        {"data_s", "data"}, {"forward_s", "forward"}, {"optimizer_s", "optimizer"}, {"other_s", "other"}};
    const struct pt_table *ranks = pt_view_rows(metrics, stage, PT_VIEW_training_processes);
    double most_s = 0;
    const char *where = NULL;
    for (size_t i = 0; ranks && i < sizeof phases / sizeof *phases; i++) {
        double late_s = 0, others_s = 0;
        for (size_t row = 0; row < ranks->n_rows; row++) {
            const double s = pt_value_number(pt_table_cell(ranks, row, phases[i][0]));
            const struct pt_value rank = pt_table_cell(ranks, row, "rank");
            const bool is_late = rank.type != PT_VALUE_UNKNOWN && pt_value_number(rank) == late;
            late_s += is_late ? s : 0;
            others_s += is_late ? 0 : s;
        }
        const double beyond_s = ranks->n_rows > 1 ? late_s - others_s / (double)(ranks->n_rows - 1) : 0;
        if (beyond_s > most_s) {
            most_s = beyond_s;
            where = phases[i][1];
        }
    }
    if (where)
        pt_finding_add_evidence(finding, "late_in", pt_text(where));
}

/* Whether what it does more than the others, in its own code, is what it is late for. On a machine that others keep
 * busy it queues several times as long as it computes. */
static bool is_late_in_code(const struct pt_profile *profile, pt_i64 stage, double late_s)
{
    double s = 0;
    for (size_t i = 0; i < profile->stacks.n; i++)
        s += (pt_i64)profile->stacks.items[i].stage == stage ? profile->stacks.items[i].cost[PT_STACK_RANK_S] : 0;
    return s >= late_s / 5;
}

/* Where a GPU's collectives say it, they are nearer to it. */
bool pt_rule_rank_imbalance(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    if (stage < 0 || !(pt_finding_number(finding, metrics, "ranks.count") >= 2) ||
        !(pt_finding_number(finding, metrics, "ranks.imbalance_percent") >= 20) ||
        pt_finding_number(finding, metrics, "gpu.collectives.ranks.count") >= 2)
        return false;
    const double late = pt_finding_number(finding, metrics, "ranks.late");
    finding->gain_upper_s = pt_finding_number(finding, metrics, "ranks.imbalance.cost_s");
    finding->title = pt_finding_number(finding, metrics, "ranks.count") > 2
                         ? pt_metrics_format(metrics, "Rank %.0f has more to do: the other ranks wait for it", late)
                         : pt_metrics_format(metrics, "Rank %.0f has more to do: rank %.0f waits for it", late,
                                             pt_finding_number(finding, metrics, "ranks.waits_most"));
    pt_finding_add_metrics(finding, metrics,
                           "ranks:ranks.count late_rank:ranks.late most_s:ranks.most_s least_s:ranks.least_s");
    name_late_phase(metrics, (pt_u32)stage, late, finding);
    if (!is_late_in_code(profile, stage,
                         pt_finding_number_or_0(finding, metrics, "ranks.most_s") -
                             pt_finding_number_or_0(finding, metrics, "ranks.least_s")))
        finding->place_kind = PT_PLACE_NOWHERE;
    pt_finding_add_rows(finding, metrics, "ranks", "waited_s");
    return true;
}
