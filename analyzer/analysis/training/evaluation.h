/* SPDX-License-Identifier: MIT
 *
 * evaluation.h - validation without a loader: a model that is trained is called again and again in evaluation mode, by
 * nothing of its training in between. What such calls cost is kept apart until it is known what they were.
 */
#ifndef PT_ANALYSIS_TRAINING_EVALUATION_H
#define PT_ANALYSIS_TRAINING_EVALUATION_H

#include "found.h"
#include "phase_sums.h"

enum { PT_EVALUATION_TRAINED = 16 };

/* Zeroed = none. */
struct pt_evaluation {
    bool is_open;
    pt_u64 model, calls;
    pt_u32 stack;                                             /* where in Python the first call was; 0 = unknown */
    pt_i64 start_ns, end_ns;                                  /* of the first call, of the last one */
    pt_i64 phase_ns[PT_N_PHASES], since_last_ns[PT_N_PHASES]; /* until the last call, and after it */
    pt_u64 trained[PT_EVALUATION_TRAINED]; /* models that were called in training mode, a ring of the last ones */
    pt_u32 n_trained;
};

/* A model was called, beside any loader. Returns false where that is no part of an evaluation: one that is open has
 * ended before it, if the model is the same. */
bool pt_evaluation_call(struct pt_evaluation *evaluation, const struct pt_phase_span *forward, bool may_begin);
/* A phase within it ended; its own time is `ns`. */
void pt_evaluation_add(struct pt_evaluation *evaluation, const struct pt_phase_span *phase, pt_i64 ns);
/* Something of the training begins, or the process ends. Returns whether it was a validation; if not, its times, and in
 * either case those since its last call, are left in `ret_rest_ns`. */
bool pt_evaluation_close(struct pt_evaluation *evaluation, struct pt_pass *ret_pass, pt_i64 ret_rest_ns[PT_N_PHASES]);

#endif
