/* SPDX-License-Identifier: MIT
 *
 * stall.h - has a command stopped moving, or does it compute without coming on?
 */
#ifndef PT_LAUNCHER_STALL_H
#define PT_LAUNCHER_STALL_H

#include <stdbool.h>

#include "sampler/sampler.h"
#include "util/str.h"

/* What the trace files of the command say it has done: counts that only grow. */
struct pt_launch_done {
    pt_u64 steps;  /* that programs mark */
    pt_u64 phases; /* of trainings: begun and ended */
    pt_u64 network_bytes;
    pt_u64 written_bytes; /* to files, terminals and pipes */
    pt_u64 images;        /* programs that began: processes, and what they executed */
};

enum pt_stall { PT_STALL_NONE, PT_STALL_STILL, PT_STALL_NO_STEP };

/* How the trace files of the command are read; zeroed = it has none. */
struct pt_launch_reader {
    /* False: they cannot be read now. */
    bool (*read_done)(void *context, struct pt_launch_done *ret_done);
    /* Whether it is in a part of a training step that it came through before, in the last `window_ns`. */
    bool (*is_in_step)(void *context, pt_u64 window_ns);
    void *context;
};

/* How it goes from one to the next. */
struct pt_stall_pace {
    pt_u64 last_ns, longest_ns; /* of those seen so far */
};

struct pt_stall_watch {
    pt_u64 stall_ns; /* 0 = nobody asked */
    struct pt_launch_reader reader;
    pt_u64 done_due_ns;
    pt_u64 moved_ns;    /* when anything of it was seen to move last, computing included */
    pt_u64 progress_ns; /* ... computing apart */
    struct pt_stall_pace steps, phases;
    pt_u64 output_bytes; /* as they were then */
    pt_u64 sampled_ns;   /* when it was looked at last */
    pt_u64 judged_ns;    /* of the samples since it was judged last, and what they used */
    double cpu_ns;
    bool has_used_gpu;
    double values[3];
    struct pt_launch_done first, done;
    bool has_done, is_told;
    bool is_asked; /* whether it is in a step, since it moved last */
};

void pt_stall_begin(struct pt_stall_watch *watch, pt_u64 now_ns);
/* We were stopped, and it with us, so that it could not move: from now on. */
void pt_stall_resume(struct pt_stall_watch *watch, pt_u64 now_ns);

/* After each sample. Each time that it stops is told once: STILL when nothing at all moves, NO_STEP when it had made
 * steps and now computes without one, or within one whose parts it does not end, and moves nothing else. */
enum pt_stall pt_stall_check(struct pt_stall_watch *watch, const double *values, pt_u64 output_bytes, pt_u64 now_ns);

enum pt_launch_still {
    PT_LAUNCH_STALLED,
    PT_LAUNCH_NO_STEP, /* it had made steps, and computes as long as never before without one */
    PT_LAUNCH_ASKED,   /* SIGQUIT: Ctrl-\\ */
    PT_LAUNCH_TIMES_OUT,
};

/* Why it is looked at, in words; `ns`: for how long nothing was seen, or its timeout. */
void pt_launch_still_text(enum pt_launch_still why, pt_u64 ns, struct pt_str *out);

#endif
