/* SPDX-License-Identifier: MIT
 *
 * Owns: the rule about functions of libraries that are known to be slow (slow_calls.def). Threads: one. Never: names
 * what a library does for a framework or to a model, or opening an archive that is opened once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/custom.h"
#include "rules/general.h"
#include "rules/read_again.h"
#include "util/text/path.h"
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

/* What a line spends in the functions of one title, of which the first row has the texts. */
struct spent {
    const struct slow_call *call;
    struct pt_own_line line;
    double all_s, gain_s, of_model_s;
};

struct spending {
    PT_VEC(struct spent);
};

static bool is_for_a_framework(const struct pt_stack *stack)
{
    static const struct pt_code_pattern frameworks[] = {
        {"-packages/torch/", ""}, {"-packages/lightning/", ""}, {NULL, NULL}};
    return pt_line_calls(stack, frameworks);
}

static bool is_native(const struct slow_call *call)
{
    return !strchr(call->patterns[0].file, '/');
}

/* A function that is called by way of a native one computes for itself. */
static bool is_called(const struct slow_call *call, const struct pt_stack *stack)
{
    const char *module = stack->n ? stack->frames->module : NULL;
    return is_native(call) ? module && strstr(module, call->patterns[0].file) : pt_line_calls(stack, call->patterns);
}

/* The first row that fits; NULL = none does. */
static const struct slow_call *call_of(const struct pt_stack *stack)
{
    for (size_t i = 0; i < N_SLOW_CALLS; i++)
        if (is_called(&slow_calls[i], stack))
            return &slow_calls[i];
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

/* A model's copies are Python, and for a twentieth its parameters': dict(x) is no advice for them, and other rules have
 * one. */
#define LEAST_OF_MODEL 0.01

static bool is_of_a_model(const struct spent *spent)
{
    return spent->of_model_s > 0 && spent->of_model_s >= LEAST_OF_MODEL * (spent->all_s + spent->of_model_s);
}

/* Of a few hundred stacks. */
static struct spent *spent_by(struct spending *spending, const struct slow_call *call, const struct pt_stack_frame *own)
{
    for (size_t i = 0; i < spending->n; i++)
        if (spending->items[i].call == call && spending->items[i].line.file == own->file &&
            spending->items[i].line.line == own->line)
            return &spending->items[i];
    const struct pt_own_line line = {.file = own->file, .function = own->function, .line = own->line};
    pt_vec_push(spending, ((struct spent){.call = call, .line = line}));
    return &spending->items[spending->n - 1];
}

static void add(struct spending *spending, const struct pt_stack *stack)
{
    const double s = stack->cost[PT_STACK_STEPS_S];
    const struct slow_call *call = s > 0 ? call_of(stack) : NULL;
    const struct pt_stack_frame *own = call ? pt_line_frame(stack) : NULL;
    if (!own)
        return;
    struct spent *spent = spent_by(spending, first_of_title(call), own);
    static const struct pt_code_pattern models[] = {{"-packages/torch/nn/", ""}, {NULL, NULL}};
    const bool is_for_framework = is_for_a_framework(stack);
    spent->of_model_s += pt_line_calls(stack, models) ? s : 0;
    spent->all_s += is_for_framework ? 0 : s;
    spent->gain_s += is_for_framework ? 0 : s * (1 - call->left_percent / 100);
}

/* All lines of the title that costs most, and of them the costliest. */
static struct spent costliest(struct pt_profile *profile, pt_i64 stage)
{
    struct spending spending = {0};
    struct spent titles[N_SLOW_CALLS] = {0}, most = {0};
    double of_line_s[N_SLOW_CALLS] = {0};
    for (size_t i = 0; i < profile->stacks.n; i++)
        if ((pt_i64)profile->stacks.items[i].stage == stage)
            add(&spending, &profile->stacks.items[i]);
    for (size_t i = 0; i < spending.n; i++) {
        const struct spent *one = &spending.items[i];
        const size_t title = (size_t)(one->call - slow_calls);
        if (is_of_a_model(one) || !is_repeated(profile, stage, &one->line, one->call))
            continue;
        titles[title].call = one->call;
        titles[title].all_s += one->all_s;
        titles[title].gain_s += one->gain_s;
        if (one->gain_s > of_line_s[title]) {
            titles[title].line = one->line;
            of_line_s[title] = one->gain_s;
        }
        if (titles[title].gain_s > most.gain_s)
            most = titles[title];
    }
    free(spending.items);
    return most;
}

/* Where a line calls into C for each value, the loop around the call goes, too; not what the functions in C do. */
#define LEAST_OF_LINE 0.25

static bool is_of_calling(const struct pt_stack *stack)
{
    const char *module = stack->frames->module ? pt_base_name(stack->frames->module) : NULL;
    return !module || strstr(module, "python") || strstr(module, "libffi");
}

static double with_its_line_s(const struct pt_profile *profile, pt_i64 stage, const struct spent *spent)
{
    double s = 0;
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        const struct pt_stack_frame *own = (pt_i64)stack->stage == stage ? pt_line_frame(stack) : NULL;
        const bool is_there = own && own->line == spent->line.line && own->file == spent->line.file;
        s += is_there && is_of_calling(stack) ? stack->cost[PT_STACK_STEPS_S] : 0;
    }
    return is_native(spent->call) && spent->all_s >= LEAST_OF_LINE * s ? fmax(s, spent->gain_s) : spent->gain_s;
}

bool pt_rule_slow_calls(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const struct spent spent = stage >= 0 ? costliest(profile, stage) : (struct spent){0};
    if (!spent.call || !(spent.gain_s >= PT_LARGE_PART * pt_own_wall_s(profile, finding)))
        return false;
    finding->title = spent.call->title;
    finding->remedy = spent.call->remedy;
    finding->advice = spent.call->advice;
    finding->gain_upper_s = with_its_line_s(profile, stage, &spent);
    pt_finding_is_of_line(finding, &spent.line);
    pt_finding_add_evidence(finding, "in_calls_s", pt_real(spent.all_s));
    return true;
}
