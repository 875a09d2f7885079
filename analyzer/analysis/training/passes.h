/* SPDX-License-Identifier: MIT
 *
 * passes.h - the passes over data that are open in a process, and the batch that each is at.
 *
 * Those in use lie on a stack: a pass that begins while the batch of another is open lies above it. Zeroed = none.
 */
#ifndef PT_ANALYSIS_TRAINING_PASSES_H
#define PT_ANALYSIS_TRAINING_PASSES_H

#include "found.h"

enum { PT_PASSES_OPEN = 16, PT_PASSES_NESTED = 8 };

struct pt_training_batch {
    bool is_open;
    bool is_delivered; /* the wait for it brought one */
    bool is_tail;      /* none: what its loop had asked for before the last one is trained with */
    pt_i64 start_ns;
    pt_i64 others_ns; /* of passes above it */
    pt_i64 lasted_ns; /* until the last thing that was done with it, without others */
    pt_u64 backwards, optimizer_steps, samples;
    pt_u64 steps_above, idle_above; /* batches of passes above it, meanwhile: with a backward, and without */
    pt_i64 phase_ns[PT_N_PHASES];
};

/* Batches since the last step, which had no backward pass themselves. */
struct pt_idle_batches {
    pt_u64 n;
    pt_i64 ns;
    pt_i64 phase_ns[PT_N_PHASES];
};

struct pt_open_pass {
    bool is_open;
    bool is_phase;  /* a validation, as its framework says: no iterator of its own */
    bool is_inside; /* of such a one */
    pt_u64 iterator, loader;
    pt_u64 last_used;
    pt_u64 backwards, optimizer_steps, joined, batches_of_one;
    struct pt_idle_batches fetched, called; /* nothing was done with them; a model was called */
    pt_u64 ahead;                           /* of those that were only fetched, so far: no step had them */
    pt_u64 only_fetched, samples_only_fetched;
    pt_u64 backwards_of_one; /* the fewest of a step that was made of one batch for sure; 0 = none yet */
    struct pt_pass pass;
    struct pt_training_batch batch;
};

struct pt_passes {
    struct pt_loop_results *results;
    struct pt_pace steps;
    struct pt_open_pass open[PT_PASSES_OPEN];
    struct pt_open_pass *stack[PT_PASSES_NESTED];
    pt_u32 depth;
    pt_u64 uses;
    pt_i64 validation_ns; /* so far */
    pt_u64 called_before; /* the last step: batches that a model was called on, whose gradients it may have had */
    struct {
        PT_VEC(struct pt_pass);
    } kept;
    struct {
        PT_VEC(pt_i64);
    } first_batches;
    pt_i64 last_end_ns; /* of epochs with workers */
    /* Data that were read while no model looked at them: they are validations only where no model is called at all. */
    pt_u64 reads;
    pt_i64 reads_ns, longest_read_ns;
};

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
