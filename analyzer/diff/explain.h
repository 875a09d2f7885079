/* SPDX-License-Identifier: MIT
 *
 * explain.h - in one sentence, why a stage took longer or shorter than in the other run.
 */
#ifndef PT_DIFF_EXPLAIN_H
#define PT_DIFF_EXPLAIN_H

#include "proftrace/types.h"
#include "change.h"

/* Smaller differences of a stage's time are those of any two runs of the same program: less than 5 %, or less than 50
 * ms. */
bool pt_stage_pair_differs(const struct pt_stage_pair *pair);
/* B - A of the stage's wall time; NAN where one is not known. */
double pt_stage_pair_seconds(const struct pt_stage_pair *pair);

/* The same without the part of it that is waiting for a CPU, which other programs cause. */
double pt_stage_pair_own_seconds(const struct pt_stage_pair *pair);

/* Whether that is beyond what two runs of one program differ by on a machine that does other things, too. */
bool pt_stage_pair_is_beyond_noise(const struct pt_stage_pair *pair);

/* Whether both runs know what of their computing was Python and what native, so that these two say all that its sum
 * does. */
bool pt_stage_pair_splits_computing(const struct pt_stage_pair *pair);

/* "train +12.4 s (31.0 -> 43.4 s): +11.9 s Data wait: it waits for workers, whose Images.load (train.py:15) reads 3.1 x
 * the bytes (1.00 GiB -> 3.10 GiB)". Where other counts of calls cannot be the cause of a time that may be noise, they
 * come first.
 * Raw: names in it are hostile. */
void pt_explain_stage(const struct pt_stage_pair *pair, struct pt_str *out);

#endif
