/* SPDX-License-Identifier: MIT
 *
 * frames.h - a recorded stack as text: "main (train.c:12) < run < start". Texts live as long as the metrics.
 */
#ifndef PT_ANALYSIS_FRAMES_H
#define PT_ANALYSIS_FRAMES_H

#include "../model/session.h"
#include "metrics.h"

/* The innermost frame that is not the allocator's own. */
const char *pt_frames_leaf(struct pt_metrics *metrics, struct pt_process *process, pt_u32 stack, pt_i64 at_ns);
/* The stack from that frame outwards, at most a dozen frames. */
const char *pt_frames_text(struct pt_metrics *metrics, struct pt_process *process, pt_u32 stack, pt_i64 at_ns);

#endif
