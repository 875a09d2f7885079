/* SPDX-License-Identifier: MIT
 *
 * found.h - what was found about the training loop of a process: passes over data, steps, times.
 */
#ifndef PT_ANALYSIS_TRAINING_FOUND_H
#define PT_ANALYSIS_TRAINING_FOUND_H

#include "pace.h"

enum pt_pass_kind {
    PT_PASS_EPOCH,
    PT_PASS_VALIDATION,
    PT_PASS_ALONGSIDE, /* of a second loader, one batch for each of another's */
};

/* A pass over data that ended. */
struct pt_pass {
    enum pt_pass_kind kind;
    pt_u32 number;    /* among those of its kind, from 1 */
    const char *name; /* of the data; NULL = unknown */
    pt_u32 workers;
    bool are_workers_unknown; /* what started its loader is not recorded: it was before a window, or is lost */
    bool tells_no_workers;    /* its batches may come ahead, but whose work they are is not told: tf.data */
    pt_u32 stack;             /* where in Python its loader was started; 0 = unknown */
    pt_i64 start_ns, end_ns;
    pt_i64 ns; /* its own: without passes of other loaders within it */
    pt_i64 phase_ns[PT_N_PHASES];
    pt_u64 batches, steps, samples;
    pt_i64 start_cost_ns; /* of starting its loader */
    pt_i64 first_wait_ns;
    pt_i64 last_wait_ns; /* that brought no more: a loader that keeps no workers waits for their ends */
    bool is_exhausted;
    bool is_by_mode; /* known by its model's mode alone */
};

enum { PT_PASSES_KEPT = 1000 };

/* What was found. */
struct pt_loop_results {
    const struct pt_process *process;
    struct pt_pace *pace; /* of the steps, however they were found */
    bool by_optimizer;    /* a step is one of an optimizer, not a batch */
    pt_u64 steps;
    pt_u64 passes[3]; /* by enum pt_pass_kind */
    pt_i64 pass_ns[3];
    pt_i64
        phase_ns[PT_N_PHASES]; /* self time in steps and between them: of epochs, or of all steps where there is none */
    pt_i64 train_ns;           /* of these */
    pt_u64 samples;            /* of batches with a step */
    pt_u64 batches;            /* delivered in epochs */
    pt_u64 batches_of_one;     /* of one sample */
    pt_u64 exhausted;          /* epochs that ended so */
    pt_u32 workers;            /* of the loader of an epoch, at most */
    bool are_workers_unknown;  /* of one of these loaders, for either reason */
    bool tell_no_workers;      /* one of them */
    pt_u64 batches_of_workers; /* delivered in any pass, by a loader with workers */
    const char *data;          /* of the last epoch; NULL = unknown */
    bool has_forward;
    pt_u64 backwards, optimizer_steps, skipped_steps, optimizers;
    pt_u64 compiles, recompiles;
    pt_i64 compile_ns, recompile_ns;
    pt_i64 uncached_ns;                   /* of that, making code that was in no cache */
    pt_i64 from_ns, until_ns;             /* its first phase, and the end of its last one */
    pt_i64 steps_from_ns, steps_until_ns; /* of these, backward passes and steps alone; until 0 = it made none */
    /* Of all passes, however few are kept. */
    pt_i64 longest_validation_ns;
    pt_i64 by_mode_ns; /* of validations known by their model's mode alone */
    pt_i64 ends_ns;    /* of waits at the ends of epochs with workers, of all but the last: they end in any case */
    const pt_i64 *first_batches_ns; /* of each epoch, with the start of its loader */
    size_t n_first_batches;
    const struct pt_pass *kept;
    size_t n_kept; /* of the passes, the first PT_PASSES_KEPT */
};

#endif
