/* SPDX-License-Identifier: MIT
 *
 * passes.h - when passes over data and their batches begin and end.
 */
#ifndef PT_ANALYSIS_TRAINING_PASSES_H
#define PT_ANALYSIS_TRAINING_PASSES_H

#include "open_pass.h"

/* The batch that what happens now belongs to; NULL = none. */
static inline struct pt_open_pass *pt_passes_top(struct pt_passes *passes)
{
    return passes->depth ? passes->stack[passes->depth - 1] : NULL;
}

/* A new pass: ends those that it replaces. Either may be 0 = unknown. */
struct pt_open_pass *pt_passes_new(struct pt_passes *passes, pt_u64 iterator, pt_u64 loader, pt_i64 at_ns);
/* A loader starts: the pass over it that is open has ended, and what came after an exhausted one. */
void pt_passes_restart(struct pt_passes *passes, pt_u64 loader, pt_i64 at_ns);
/* Its next batch is asked for, and what that brought. */
void pt_passes_wait(struct pt_passes *passes, pt_u64 iterator, pt_i64 at_ns);
/* The samples of the batch that is waited for are read in this process. */
void pt_passes_fetched(struct pt_passes *passes);
void pt_passes_got(struct pt_passes *passes, const struct pt_phase_span *wait);
/* A validation, as a framework says so. */
void pt_passes_validation_begin(struct pt_passes *passes, pt_i64 at_ns);
void pt_passes_validation_end(struct pt_passes *passes, pt_i64 at_ns);
/* A validation without a loader, within the batch on top or beside all. */
void pt_passes_add_validation(struct pt_passes *passes, const struct pt_pass *pass);
/* Something was done with the batch on top, up to an instant. */
void pt_passes_note(struct pt_passes *passes, pt_i64 end_ns);
/* Time of the batch on top that is not its own. */
void pt_passes_leave_out(struct pt_passes *passes, pt_i64 ns);
/* What comes next is missing: all that is open ends here. What is behind it is a pass of its own, though it may be the
 * same: a new iterator often has the address of the one before. */
void pt_passes_hole(struct pt_passes *passes, pt_i64 at_ns);
/* `has_forward`: models are called. */
void pt_passes_finish(struct pt_passes *passes, pt_i64 end_ns, bool has_forward);
void pt_passes_fini(struct pt_passes *passes);

#endif
