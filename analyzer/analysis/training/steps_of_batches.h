/* SPDX-License-Identifier: MIT
 *
 * steps_of_batches.h - the steps that a batch ends: one for each of those that its backward passes were of.
 */
#ifndef PT_ANALYSIS_TRAINING_STEPS_OF_BATCHES_H
#define PT_ANALYSIS_TRAINING_STEPS_OF_BATCHES_H

#include "open_pass.h"

/* How many batches so many backward passes were of. */
pt_u64 pt_batches_trained_by(const struct pt_open_pass *open, pt_u64 backwards);
/* The batch of `open` has ended, after `ns`. */
void pt_add_steps_of_batch(struct pt_passes *passes, struct pt_open_pass *open, pt_i64 ns);

#endif
