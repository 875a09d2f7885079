/* SPDX-License-Identifier: MIT
 *
 * open_pass.h - the passes over data that are open in a process, and the batch that each is at.
 *
 * Those in use lie on a stack: a pass that begins while the batch of another is open lies above it. Zeroed = none.
 */
#ifndef PT_ANALYSIS_TRAINING_OPEN_PASS_H
#define PT_ANALYSIS_TRAINING_OPEN_PASS_H

#include "found.h"

enum { PT_PASSES_OPEN = 16, PT_PASSES_NESTED = 8 };

struct pt_training_batch {
    bool is_open;
    bool is_delivered;    /* the wait for it brought one */
    bool is_fetched_here; /* in this process, by no worker */
    bool is_tail;         /* none: what its loop had asked for before the last one is trained with */
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
    pt_u64 fetched_elsewhere; /* of its batches; a loader without workers fetches each of them in this process */
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

#endif
