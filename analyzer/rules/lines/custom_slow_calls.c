/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about functions of libraries that are known to be slow (slow_calls.def). Threads: one. Never: names
 * what a library does for a framework, or opening an archive that is opened once.
 */
#include <math.h>
#include <string.h>

#include "rules/custom.h"
#include "rules/general.h"
#include "rules/read_again.h"
#include "own_lines.h"

static const struct slow_call {
    struct pt_code_pattern patterns[2];
    double left_percent;
    const char *title, *remedy, *advice;
} slow_calls[] = {
#define SLOW_CALL(file, function, left_percent, title, remedy, advice)                                                 \
    {{{file, function}}, left_percent, title, remedy, advice},
#include "slow_calls.def"
#undef SLOW_CALL
};
enum { N_SLOW_CALLS = sizeof slow_calls / sizeof *slow_calls, FEWEST_OPENS = 10 };

/* The functions of one title, of which the first row has the texts, and the line that calls them most. */
struct found {
    const struct slow_call *call; /* NULL = none */
    struct pt_own_line line;
    double spent_s, gain_s;
};

static bool is_for_a_framework(const struct pt_stack *stack)
{
    static const struct pt_code_pattern frameworks[] = {{"/torch/", ""}, {"/lightning/", ""}, {NULL, NULL}};
    return pt_line_calls(stack, frameworks);
}

/* The first row that fits; NULL = none does. */
static const struct slow_call *call_of(const struct pt_stack *stack)
{
    for (size_t i = 0; i < N_SLOW_CALLS; i++)
        if (pt_line_calls(stack, slow_calls[i].patterns))
            return is_for_a_framework(stack) ? NULL : &slow_calls[i];
    return NULL;
}

static const struct slow_call *first_of_title(const struct slow_call *call)
{
    while (call > slow_calls && !strcmp(call[-1].title, call->title))
        call--;
    return call;
}

/* Opening an archive once reads it once, however long that takes. */
static bool is_repeated(struct pt_profile *profile, pt_i64 stage, const struct pt_own_line *line,
                        const struct slow_call *call)
{
    return !strstr(call->patterns[0].file, "zipfile") ||
           pt_opens_of_one_file_in(profile, stage, line->file, line->function) >= FEWEST_OPENS;
}

static double cost_s(const struct pt_stack *stack)
{
    return stack->cost[PT_STACK_STEPS_S];
}

static void add(struct found all[N_SLOW_CALLS], const struct pt_stack *stack)
{
    const struct slow_call *call = cost_s(stack) > 0 ? call_of(stack) : NULL;
    const struct pt_stack_frame *own = call ? pt_line_frame(stack) : NULL;
    if (!own)
        return;
    struct found *found = &all[first_of_title(call) - slow_calls];
    found->call = first_of_title(call);
    found->spent_s += cost_s(stack);
    found->gain_s += cost_s(stack) * (1 - call->left_percent / 100);
    if (cost_s(stack) > found->line.sums[0])
        found->line = (struct pt_own_line){own->file, own->function, own->line, {cost_s(stack)}};
}

static struct found costliest(struct pt_profile *profile, pt_i64 stage)
{
    struct found all[N_SLOW_CALLS] = {0}, most = {0};
    for (size_t i = 0; i < profile->stacks.n; i++)
        if ((pt_i64)profile->stacks.items[i].stage == stage)
            add(all, &profile->stacks.items[i]);
    for (size_t i = 0; i < N_SLOW_CALLS; i++)
        if (all[i].gain_s > most.gain_s && is_repeated(profile, stage, &all[i].line, all[i].call))
            most = all[i];
    return most;
}

bool pt_rule_slow_calls(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const struct found found = stage < 0 ? (struct found){0} : costliest(profile, stage);
    if (!found.call || !(found.gain_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    finding->title = found.call->title;
    finding->remedy = found.call->remedy;
    finding->advice = found.call->advice;
    finding->gain_upper_s = found.gain_s;
    pt_finding_is_of_line(finding, &found.line);
    pt_finding_add_evidence(finding, "in_calls_s", pt_real(found.spent_s));
    return true;
}
