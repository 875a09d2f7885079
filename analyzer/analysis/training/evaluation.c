/* SPDX-License-Identifier: MIT
 *
 * Owns: which calls of a model are a validation. Threads: one. Never: takes a model that is never trained for one that
 * is validated: a teacher, a reward.
 */
#include "evaluation.h"

#include <string.h>

/* Who learns from each step that it takes in a world asks its model what to do in each, in evaluation mode. */
#define FEWEST_CALLS 8

static bool is_trained(const struct pt_evaluation *evaluation, pt_u64 model)
{
    for (pt_u32 i = 0; i < evaluation->n_trained && i < PT_EVALUATION_TRAINED; i++)
        if (evaluation->trained[i] == model)
            return true;
    return false;
}

static void begin(struct pt_evaluation *evaluation, const struct pt_phase_span *forward)
{
    evaluation->is_open = true;
    evaluation->model = forward->object;
    evaluation->stack = forward->stack;
    evaluation->start_ns = forward->start_ns;
    evaluation->calls = 0;
    memset(evaluation->phase_ns, 0, sizeof evaluation->phase_ns);
    memset(evaluation->since_last_ns, 0, sizeof evaluation->since_last_ns);
}

bool pt_evaluation_call(struct pt_evaluation *evaluation, const struct pt_phase_span *forward, bool may_begin)
{
    const bool is_evaluated = forward->amount == 1;
    if (!is_evaluated && forward->object && !is_trained(evaluation, forward->object))
        evaluation->trained[evaluation->n_trained++ % PT_EVALUATION_TRAINED] = forward->object;
    if (!is_evaluated || !forward->object)
        return evaluation->is_open && forward->object != evaluation->model;
    if (!evaluation->is_open && may_begin && is_trained(evaluation, forward->object))
        begin(evaluation, forward);
    if (evaluation->is_open && forward->object == evaluation->model) {
        evaluation->calls++;
        evaluation->end_ns = forward->end_ns;
    }
    return evaluation->is_open;
}

void pt_evaluation_add(struct pt_evaluation *evaluation, const struct pt_phase_span *phase, pt_i64 ns)
{
    const bool is_last_call = phase->kind == PT_PHASE_forward && phase->end_ns == evaluation->end_ns;
    evaluation->since_last_ns[phase->kind] += ns;
    if (!is_last_call)
        return;
    for (pt_u32 i = 0; i < PT_N_PHASES; i++)
        evaluation->phase_ns[i] += evaluation->since_last_ns[i];
    memset(evaluation->since_last_ns, 0, sizeof evaluation->since_last_ns);
}

bool pt_evaluation_close(struct pt_evaluation *evaluation, struct pt_pass *ret_pass, pt_i64 ret_rest_ns[PT_N_PHASES])
{
    const bool is_validation = evaluation->calls >= FEWEST_CALLS;
    memcpy(ret_rest_ns, evaluation->since_last_ns, sizeof evaluation->since_last_ns);
    for (pt_u32 i = 0; i < PT_N_PHASES && !is_validation; i++)
        ret_rest_ns[i] += evaluation->phase_ns[i];
    *ret_pass = (struct pt_pass){.kind = PT_PASS_VALIDATION,
                                 .stack = evaluation->stack,
                                 .start_ns = evaluation->start_ns,
                                 .end_ns = evaluation->end_ns,
                                 .ns = evaluation->end_ns - evaluation->start_ns,
                                 .batches = evaluation->calls,
                                 .is_exhausted = true,
                                 .is_by_mode = true};
    memcpy(ret_pass->phase_ns, evaluation->phase_ns, sizeof ret_pass->phase_ns);
    evaluation->is_open = false;
    return is_validation;
}
