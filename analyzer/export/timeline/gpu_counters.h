/* SPDX-License-Identifier: MIT
 *
 * timeline/gpu_counters.h - how many launches of a process wait for its GPUs, and how much memory it has there.
 */
#ifndef PT_EXPORT_TIMELINE_GPU_COUNTERS_H
#define PT_EXPORT_TIMELINE_GPU_COUNTERS_H

#include "util/map.h"
#include "thinned.h"
#include "types.h"

struct pt_timeline_gpu_counters {
    struct pt_timeline_process *process;
    struct pt_map places;   /* by string id */
    struct pt_map memories; /* by key: the same, each once */
    struct pt_timeline_counter depth_counter;
    struct pt_thinned depth;
    pt_u64 n_waiting;
    bool depth_is_unknown; /* records were lost: what was launched may have ended */
};

/* A launch was made (+1) or has run (-1). */
void pt_timeline_gpu_depth(struct pt_timeline_gpu_counters *counters, pt_i64 at_ns, int step);
/* A gpu_memory event. */
void pt_timeline_gpu_memory(struct pt_timeline_gpu_counters *counters, const struct pt_event *event);
void pt_timeline_gpu_counters_finish(struct pt_timeline_gpu_counters *counters);
void pt_timeline_gpu_counters_free(struct pt_timeline_gpu_counters *counters);

#endif
