/* SPDX-License-Identifier: MIT
 *
 * gpu/ranges.h - the program's own ranges and steps, as far as GPUs worked for them.
 */
#ifndef PT_ANALYSIS_GPU_RANGES_H
#define PT_ANALYSIS_GPU_RANGES_H

#include "decode/event.h"
#include "state.h"

void pt_gpu_ranges_event(struct pt_gpu *gpu, const struct pt_event *event);
void pt_gpu_ranges_work(struct pt_gpu *gpu, const struct pt_gpu_activity *work, const struct pt_gpu_call *call);
void pt_gpu_ranges_end(struct pt_gpu *gpu);
pt_u32 pt_gpu_node_of(const struct pt_gpu *gpu, const struct pt_thread *thread);
/* The range for which a thread works that has never had one of its own; 0 = not known. */
pt_u32 pt_gpu_node_helped(const struct pt_gpu *gpu, const struct pt_thread *thread);
/* Events of the thread are missing: what was open had gone on until then, and nothing is known of its end. */
void pt_gpu_ranges_hole(struct pt_gpu *gpu, const struct pt_thread *thread, const struct pt_hole *hole);
/* After pt_gpu_ranges_event: which range the thread is in now. */
void pt_gpu_note_range_change(struct pt_gpu *gpu, const struct pt_event *event);
/* Name of the range that was open just before end_ns, and since when it had been the innermost one; NULL = none. */
const char *pt_gpu_range_before(const struct pt_gpu *gpu, const struct pt_thread *thread, pt_i64 end_ns,
                                pt_i64 *ret_start_ns);

#endif
