/* SPDX-License-Identifier: MIT
 *
 * cpu/path_weights.h - how much of what a main thread computed was on the critical path of the stage. For stacks.c
 * only.
 */
#ifndef PT_ANALYSIS_CPU_PATH_WEIGHTS_H
#define PT_ANALYSIS_CPU_PATH_WEIGHTS_H

#include "facts/path/critical_path.h"
#include "util/map.h"

struct pt_path_weights {
    const struct pt_path_thread *threads; /* of the profile */
    pt_u32 critical;                      /* the one of them that computes most; 0 = not known */
    bool *is_peer;                        /* by thread: of a process that does the path's job beside it, as ranks do */
    bool *in_worker;                      /* by thread: any of a worker's, but for one that is the program itself */
    struct pt_map counts; /* thread and node, of those that were the path for a part of their lives -> samples on it,
                             << 32, and all */
};

void pt_path_weights_open(struct pt_path_weights *weights, const struct pt_profile *profile, pt_u32 stage,
                          const struct pt_path_thread *threads, pt_u32 critical);
void pt_path_weights_close(struct pt_path_weights *weights);
/* The part of a main thread's samples of a node that is on the path. */
double pt_path_weight(const struct pt_path_weights *weights, pt_u32 thread, pt_u32 node);

#endif
