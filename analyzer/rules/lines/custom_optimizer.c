/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about optimizers of PyTorch that are not fused. Threads: one. Never: names one of a PyTorch that has
 * no fused kernels for CPUs, nor an optimizer that has none or gains nothing by them: there the advice would do
 * nothing.
 */
#include "rules/custom.h"
#include "rules/general.h"
#include "own_lines.h"

/* Since PyTorch 2.4 these are called by way of maybe_fallback; their fused kernels for CPUs are as old. */
static const struct pt_code_pattern since_2_4[] = {{"/torch/optim/", "maybe_fallback"}, {NULL, NULL}};
static const struct pt_code_pattern unfused[] = {{"/torch/optim/", "_single_tensor_adam"},
                                                 {"/torch/optim/", "_single_tensor_adamw"},
                                                 {"/torch/optim/", "_single_tensor_adagrad"},
                                                 {NULL, NULL}};

static void add_optimizer(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    const double s = stack->cost[PT_STACK_STEPS_S];
    *sums += s > 0 && pt_line_calls(stack, unfused) && pt_line_calls(stack, since_2_4) ? s : 0;
}

/* Measured on one CPU, PyTorch 2.13, 0.1 to 25 million weights: Adam and AdamW lose 0.71 to 0.89 of their time, Adagrad
 * 0.62 to 0.86; in a training with a large table up to all of it and a tenth, for then nothing else is unmapped and
 * touched again either. SGD loses a third to two thirds with momentum, nothing without. A tenth is added to each cost
 * for what is around it (AROUND_COSTS). */
#define SAVED 0.9

bool pt_rule_unfused_optimizer(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    if (stage < 0)
        return false;
    struct pt_own_lines lines;
    struct pt_own_line most = {0};
    double optimizer_s = 0;
    pt_own_lines(profile, stage, add_optimizer, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        optimizer_s += *lines.items[i].sums;
        if (*lines.items[i].sums > *most.sums)
            most = lines.items[i];
    }
    pt_own_lines_free(&lines);
    if (!most.file || !(SAVED * optimizer_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    finding->gain_upper_s = SAVED * optimizer_s;
    pt_finding_is_of_line(finding, &most);
    pt_finding_add_evidence(finding, "optimizer_s", pt_real(optimizer_s));
    pt_finding_add_metrics(finding, &profile->metrics, "optimizer_steps:training.optimizer_steps.count");
    return true;
}
