/* SPDX-License-Identifier: MIT
 *
 * cpu/training_code.h - what a frame of the CPU profile, or what called it, is of a training: bits. For this directory
 * only.
 */
#ifndef PT_ANALYSIS_CPU_TRAINING_CODE_H
#define PT_ANALYSIS_CPU_TRAINING_CODE_H

#include <stdbool.h>

#include "proftrace/types.h"

enum pt_training_code {
    PT_IN_DECODER = 1,
    PT_IN_FRAMEWORK = 2,
    PT_IN_OPERATION = 4,
    PT_IN_IMPORT = 8, /* or the end of the process */
    PT_IN_LOADER = 16,
    PT_IN_STEP = 32,
    PT_IN_BACKWARD = 64,
    PT_IN_FETCH = 128, /* a loader without workers reads the samples of a batch */
    PT_IN_PHASE = 256, /* a loader, a module, a backward pass or an optimizer: the rest of a loop is beside the steps */
    PT_IN_ARRAYS = 1024, /* NumPy's, which decodes as well as computes */
    PT_IN_BEHIND = 2048, /* called behind the backward pass, in the same loop; what is a phase has that, too */
    PT_IN_SAVING = 512,  /* of checkpoints: no step, whoever of the framework does it */
};

/* Called behind the backward pass of each step, and no phase: a log, a metric, a callback. */
static inline bool pt_is_behind_steps(pt_u16 code)
{
    return (code & (PT_IN_BEHIND | PT_IN_PHASE)) == PT_IN_BEHIND;
}

#endif
