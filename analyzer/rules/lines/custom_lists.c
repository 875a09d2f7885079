/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about tensors that are made of Python's lists in the steps of a training. PyTorch asks the interpreter
 * for each number, and of samples that are taken there are no frames of PyTorch then. Threads: one. Never: takes what a
 * line computes in Python for that.
 */
#include <math.h>
#include <string.h>

#include "rules/custom.h"
#include "rules/general.h"
#include "lists.h"

enum { KNOWN, OTHER, PLAIN };

/* Of lines that do nothing else, with PyTorch 1.13 and 2.13: 1 to 4.4 samples in the interpreter for each in PyTorch,
 * 2.5 on average. From CPython 3.12 on those of a list comprehension look like them. */
#define MOST_PLAIN 3
/* The lists that it read push the rest out of the caches, and its numbers were made, and are freed, for nothing else.
 */
#define WITH_WHAT_FOLLOWS 1.1

/* In the line itself, whatever of it: not in functions that it calls, of which a comprehension is one. */
static bool is_plain(const struct pt_stack *stack)
{
    const struct pt_stack_frame *own = pt_line_frame(stack);
    return own == stack->frames && !strstr(own->function, "comp>") && !strstr(own->function, "<genexpr>");
}

static void add_lists(const struct pt_stack *stack, double sums[PT_LINE_SUMS])
{
    static const struct pt_code_pattern makers[] = {
        {NULL, "tensor_ctor"}, {NULL, "internal_new_from_data"}, {NULL, "infer_scalar_type"}, {NULL, NULL}};
    const double s = stack->cost[PT_STACK_TRAINING_S];
    const int kind = pt_line_calls(stack, makers) ? KNOWN : is_plain(stack) ? PLAIN : OTHER;
    sums[kind] += s;
}

/* What is in the interpreter is divided as what is not. */
static double of_lists_s(const struct pt_own_line *line)
{
    const double *sums = line->sums, native_s = sums[KNOWN] + sums[OTHER];
    const double share = native_s > 0 ? sums[KNOWN] / native_s : 0;
    return sums[KNOWN] + fmin(share * sums[PLAIN], MOST_PLAIN * sums[KNOWN]);
}

double pt_tensors_of_lists_s(const struct pt_profile *profile, pt_i64 stage, struct pt_own_line *ret_line)
{
    struct pt_own_lines lines;
    double all_s = 0, most_s = 0;
    *ret_line = (struct pt_own_line){0};
    pt_own_lines(profile, stage, add_lists, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        const double s = of_lists_s(&lines.items[i]);
        *ret_line = s > most_s ? lines.items[i] : *ret_line;
        most_s = fmax(most_s, s);
        all_s += s;
    }
    pt_own_lines_free(&lines);
    return all_s;
}

bool pt_rule_tensors_of_lists(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_own_line line = {0};
    const double s = stage < 0 ? 0 : pt_tensors_of_lists_s(profile, stage, &line);
    if (!line.file || !(s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    finding->with_what_follows = WITH_WHAT_FOLLOWS;
    finding->gain_upper_s = WITH_WHAT_FOLLOWS * s;
    pt_finding_is_of_line(finding, &line);
    pt_finding_add_evidence(finding, "of_lists_s", pt_real(s));
    pt_finding_add_metrics(finding, &profile->metrics, "steps:steps.count data_set:training.data_set");
    return true;
}
