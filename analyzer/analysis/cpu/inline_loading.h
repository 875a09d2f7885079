/* SPDX-License-Identifier: MIT
 *
 * cpu/inline_loading.h - a training that loads its data itself, without workers. For cpu.c only.
 */
#ifndef PT_ANALYSIS_CPU_INLINE_LOADING_H
#define PT_ANALYSIS_CPU_INLINE_LOADING_H

#include "facts/cpu_timeline.h"
#include "profile/profile.h"

/* What a frame of the CPU profile, or what called it, is of a training. */
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
    PT_IN_SAVING = 512,  /* of checkpoints: no step, whoever of the framework does it */
};

/* From the first time that a thread is seen in an operation, or reads a batch, to the last: before it programs start,
 * behind it they end. Each end is as far out as two of them are apart. */
struct pt_training_window {
    pt_i64 start_ns, end_ns;
};
struct pt_training_window pt_training_window(const struct pt_cpu_view *view, const struct pt_cpu_timeline *cpu,
                                             pt_u32 thread, const pt_u16 *codes);

/* Bits of each frame; to be freed. */
pt_u16 *pt_training_codes(const struct pt_cpu_view *view);

/*
 * training.operations_s, .dispatch_s, .python_s: what the main thread of a training computes: on tensors, in the
 * framework to find out what to do, and in Python; .preparing_s: the Python that no step of a training needs;
 * .preparing_percent: its share of .window_s, from the first of the training to the last.
 * load.in_main.cost_s, .percent of the wall time, .decode_s, .files_s, .python_s: what the main thread spends on
 * decoding, on files of data and, where it reads any, on Python around them while it could train. Absent where nothing
 * trains, where there are workers, without CPU samples. Needs the metrics of the analyses `files` and `children`.
 */
void pt_loading(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view, pt_u32 main_thread);

#endif
