/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about trainings that compute in double precision. Threads: one. Never: judges a program that trains
 * nothing: there it may be what is asked for.
 */
#include <string.h>

#include "rules/custom.h"
#include "rules/general.h"
#include "own_lines.h"

enum { KNOWN, SINGLE, OPERATIONS };

/* What NumPy and scikit-learn compute for a metric is in float64, whatever the model is in, and multiplies by the same
 * functions. Who has called those of OpenBLAS is often not found: then by which file of Python it was. */
static bool is_of_torch(const struct pt_stack *stack)
{
    pt_u32 i = 0;
    for (; i < stack->n && !(stack->frames[i].flags & PT_FRAME_OF_PYTHON); i++)
        if (stack->frames[i].module && strstr(stack->frames[i].module, "libtorch"))
            return true;
    return i < stack->n && stack->frames[i].file && strstr(stack->frames[i].file, "-packages/torch/");
}

/* What multiplies matrices and vectors, of any BLAS; and the loops over elements that PyTorch names. */
static bool is_double(const struct pt_stack *stack)
{
    static const struct pt_code_pattern functions[] = {{NULL, "dgemm"},      {NULL, "dgemv"},
                                                       {NULL, "dsyrk"},      {NULL, "Vectorized<double>"},
                                                       {NULL, "mkldnn_f64"}, {NULL, NULL}};
    return pt_line_calls(stack, functions);
}

static bool is_single(const struct pt_stack *stack)
{
    static const struct pt_code_pattern functions[] = {
        {NULL, "sgemm"}, {NULL, "sgemv"}, {NULL, "Vectorized<float>"}, {NULL, NULL}};
    return pt_line_calls(stack, functions);
}

static void add_precision(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    const double s = stack->cost[PT_STACK_TRAINING_S];
    if (!(s > 0) || !is_of_torch(stack))
        return;
    sums[KNOWN] += is_double(stack) ? s : 0;
    sums[SINGLE] += is_single(stack) ? s : 0;
    sums[OPERATIONS] += s - stack->cost[PT_STACK_TRAINING_OWN_S];
}

/* Twice as many numbers are in each vector, and in each byte that is moved: measured on a perceptron of 512, 1024, 1024
 * and 10 units, of the time in PyTorch's operations. */
#define SAVED 0.6
/* A loss or a metric in the other precision changes nothing. */
#define MOST_SINGLE 0.25

bool pt_rule_double_precision(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    if (stage < 0 || !(pt_finding_number(finding, &profile->metrics, "steps.count") > 0))
        return false;
    struct pt_own_lines lines;
    struct pt_own_line most = {0};
    double known_s = 0, single_s = 0, operations_s = 0;
    pt_own_lines(profile, stage, add_precision, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        known_s += lines.items[i].sums[KNOWN];
        single_s += lines.items[i].sums[SINGLE];
        operations_s += lines.items[i].sums[OPERATIONS];
        if (lines.items[i].sums[KNOWN] > most.sums[KNOWN])
            most = lines.items[i];
    }
    pt_own_lines_free(&lines);
    if (!most.file || !(known_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)) || single_s > MOST_SINGLE * known_s)
        return false;
    finding->gain_upper_s = SAVED * operations_s;
    pt_finding_is_of_line(finding, &most);
    pt_finding_add_evidence(finding, "double_s", pt_real(known_s));
    pt_finding_add_evidence(finding, "operations_s", pt_real(operations_s));
    pt_finding_add_metrics(finding, &profile->metrics, "steps:steps.count");
    return true;
}
