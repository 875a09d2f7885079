/* SPDX-License-Identifier: MIT
 *
 * heap/stack_text.h - a recorded stack as text: "load (data.c:12) < main (train.c:80) < __libc_start_main". Texts live
 * as long as the metrics.
 */
#ifndef PT_ANALYSIS_HEAP_STACK_TEXT_H
#define PT_ANALYSIS_HEAP_STACK_TEXT_H

#include "profile/metrics.h"
#include "profile/stacks.h"
#include "symbols/symbols.h"

struct pt_stack_text {
    const char *leaf;  /* the innermost frame that is not the allocator's own */
    const char *stack; /* from that frame outwards, at most a dozen frames */
};

/* The same as frames; returns how many. */
pt_u32 pt_heap_frames(struct pt_symbols *symbols, struct pt_process *process, pt_u32 stack, pt_i64 at_ns,
                      struct pt_stack_frame ret_frames[PT_STACK_FRAMES]);

struct pt_stack_text pt_frames_text(struct pt_metrics *metrics, struct pt_symbols *symbols, struct pt_process *process,
                                    pt_u32 stack, pt_i64 at_ns);

#endif
