/* SPDX-License-Identifier: MIT
 *
 * loop.h - the training loop of a process, found from its phases: steps, passes over data, epochs.
 *
 * A batch lasts from one data_wait of an iterator to its next one; with a backward in it, it is a step. Other loaders
 * may be used within it: their batches without backward are validation, and are taken out of the step. A pass ends
 * where its iterator is exhausted, its loader starts again, or nothing more comes. A pass with a step is an epoch, one
 * without is validation; so are calls, beside any loader, of a model in evaluation mode that is trained. Without a
 * loader, or where one optimizer steps far more often than batches come, each of its steps is a step.
 */
#ifndef PT_ANALYSIS_TRAINING_LOOP_H
#define PT_ANALYSIS_TRAINING_LOOP_H

#include "found.h"

struct pt_loop;

struct pt_loop *pt_loop_new(const struct pt_process *process);
/* A phase of this process begins, or ended. */
void pt_loop_begin(struct pt_loop *loop, const struct pt_thread *thread, const struct pt_phase_span *phase);
void pt_loop_end(struct pt_loop *loop, const struct pt_thread *thread, const struct pt_phase_span *phase);
/* Events of this thread are missing from here on. */
void pt_loop_hole(struct pt_loop *loop, const struct pt_thread *thread, pt_i64 at_ns);
/* The process ended. Valid until pt_loop_free. */
struct pt_loop_results pt_loop_finish(struct pt_loop *loop);
void pt_loop_free(struct pt_loop *loop);

#endif
