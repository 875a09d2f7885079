/* SPDX-License-Identifier: MIT
 *
 * cpu/inline_loading.h - a training that loads its data itself, without workers.
 */
#ifndef PT_ANALYSIS_CPU_INLINE_LOADING_H
#define PT_ANALYSIS_CPU_INLINE_LOADING_H

#include "facts/cpu_timeline.h"
#include "profile/profile.h"
#include "training_code.h"

/* From the first time that a thread is seen in an operation, or reads a batch, to the last: before it programs start,
 * behind it they end. Each end is as far out as two of them are apart. Where a training was seen by its phases, at
 * least from its first step to its last: of steps that hardly take anything beside what is called between them there
 * are few samples. */
struct pt_training_window {
    pt_i64 start_ns, end_ns;
};
struct pt_training_window pt_training_window(const struct pt_profile *profile, pt_u32 stage, pt_u32 thread,
                                             const pt_u16 *codes);

/* Of each frame, bits of pt_training_code; to be freed. */
pt_u16 *pt_training_codes(const struct pt_cpu_view *view);

/*
 * training.operations_s, .dispatch_s, .python_s: what the main thread of a training computes: on tensors, in the
 * framework to find out what to do, and in Python; .preparing_s: the Python that no step of a training needs;
 * .preparing_percent: its share of .window_s, from the first of the training to the last.
 * training.behind.operations_s, .dispatch_s, .python_s: of these, what is called behind the backward passes, and is no
 * phase; training.loading.dispatch_s, .python_s: in a loader.
 * load.in_main.cost_s, .percent of the wall time, .decode_s, .files_s, .python_s: what the main thread spends on
 * decoding, on files of data and, where it reads any, on Python around them while it could train;
 * .beyond_workers_percent: what of it workers would not save, for want of CPUs, as a share of what they would. Absent
 * where nothing trains, where there are workers, without CPU samples. Needs the metrics of the analyses `files` and
 * `children`.
 */
void pt_loading(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view, pt_u32 main_thread);

#endif
