/* SPDX-License-Identifier: MIT
 *
 * cpu_slices.h - CPU samples of a thread as slices: a function lasts as long as it is at the same place of the stacks
 * of consecutive samples.
 */
#ifndef PT_EXPORT_STACKS_CPU_SLICES_H
#define PT_EXPORT_STACKS_CPU_SLICES_H

#include "cpu_samples.h"

enum { PT_CPU_SLICES_DEEPEST = 64 };

struct pt_cpu_slice {
    pt_u32 function; /* of the view */
    pt_i64 start_ns, end_ns;
};

/* Zeroed = empty. In the order of their beginnings, outer ones first. */
struct pt_cpu_slices {
    PT_VEC(struct pt_cpu_slice);
    size_t open[PT_CPU_SLICES_DEEPEST]; /* the last slice of each depth */
    pt_u32 n_open;
    pt_i64 last_ns; /* of the sample before */
};

/* The next sample of the thread. */
void pt_cpu_slices_add(struct pt_cpu_slices *slices, const struct pt_cpu_view *view,
                       const struct pt_shown_sample *sample);
/* For another thread. */
void pt_cpu_slices_clear(struct pt_cpu_slices *slices);
void pt_cpu_slices_free(struct pt_cpu_slices *slices);

#endif
