/* SPDX-License-Identifier: MIT
 *
 * stall.h - has a command stopped moving, or does it compute without coming on?
 */
#ifndef PT_LAUNCHER_STALL_H
#define PT_LAUNCHER_STALL_H

#include <stdbool.h>

#include "sampler/sampler.h"

/* What the trace files of the command say it has done: counts that only grow. */
struct pt_launch_done {
    pt_u64 steps, network_bytes;
    pt_u64 written_bytes; /* to files, terminals and pipes */
    pt_u64 images;        /* programs that began: processes, and what they executed */
};

enum pt_stall { PT_STALL_NONE, PT_STALL_STILL, PT_STALL_NO_STEP };

struct pt_stall_watch {
    pt_u64 stall_ns; /* 0 = nobody asked */
    /* NULL = there are no trace files to read; false: they cannot be read now. */
    bool (*read_done)(void *context, struct pt_launch_done *ret_done);
    void *context;
    pt_u64 done_due_ns;
    pt_u64 moved_ns;     /* when anything of it was seen to move last, computing included */
    pt_u64 progress_ns;  /* ... computing apart */
    pt_u64 step_ns;      /* the last step */
    pt_u64 longest_ns;   /* the longest that it took from one step to the next, of those seen so far */
    pt_u64 output_bytes; /* as they were then */
    pt_u64 sampled_ns;   /* when it was looked at last */
    pt_u64 judged_ns;    /* of the samples since it was judged last, and what they used */
    double cpu_ns;
    bool has_used_gpu;
    double values[3];
    struct pt_launch_done first, done;
    bool has_done, is_told;
};

void pt_stall_begin(struct pt_stall_watch *watch, pt_u64 now_ns);
/* We were stopped, and it with us, so that it could not move: from now on. */
void pt_stall_resume(struct pt_stall_watch *watch, pt_u64 now_ns);

/* After each sample. Each time that it stops is told once: STILL when nothing at all moves, NO_STEP when it had made
 * steps and now computes without one, and moves nothing else. */
enum pt_stall pt_stall_check(struct pt_stall_watch *watch, const double *values, pt_u64 output_bytes, pt_u64 now_ns);

#endif
