/* SPDX-License-Identifier: MIT
 *
 * cpu_slices.c - Owns nothing. Threads: one per list. Never: shows time between samples that are far apart.
 */
#include "cpu_slices.h"

#include <stdlib.h>

#include "util/mem.h"
#include "util/whole.h"

/* Of what a sample stands for: longer, and the thread did not run in between. */
#define LONGEST_GAP 2.5

static pt_u32 stack_of(const struct pt_cpu_view *view, pt_u32 node, pt_u32 functions[PT_CPU_SLICES_DEEPEST])
{
    pt_u32 n = 0, depth = 0;
    for (pt_u32 frame = view->frame_of[node]; frame; frame = pt_cpu_shown_caller(view, frame))
        depth++;
    for (pt_u32 frame = view->frame_of[node]; frame; frame = pt_cpu_shown_caller(view, frame))
        if (--depth < PT_CPU_SLICES_DEEPEST) {
            functions[depth] = pt_cpu_shown(view, frame);
            n++;
        }
    return n;
}

void pt_cpu_slices_add(struct pt_cpu_slices *slices, const struct pt_cpu_view *view,
                       const struct pt_shown_sample *sample)
{
    pt_u32 functions[PT_CPU_SLICES_DEEPEST], same = 0;
    const pt_u32 n = stack_of(view, sample->node, functions);
    const pt_i64 at_ns = (pt_i64)sample->t_ns, length_ns = pt_whole_signed(sample->s * 1e9);
    const bool follows = slices->n && (double)(at_ns - slices->last_ns) <= LONGEST_GAP * (double)length_ns;
    while (follows && same < slices->n_open && same < n &&
           slices->items[slices->open[same]].function == functions[same])
        slices->items[slices->open[same++]].end_ns = at_ns;
    const pt_i64 start_ns = follows ? slices->last_ns : at_ns - length_ns;
    for (pt_u32 i = same; i < n; i++) {
        slices->open[i] = slices->n;
        pt_vec_push(slices, ((struct pt_cpu_slice){functions[i], start_ns, at_ns}));
    }
    slices->n_open = n;
    slices->last_ns = at_ns;
}

void pt_cpu_slices_clear(struct pt_cpu_slices *slices)
{
    slices->n = 0;
    slices->n_open = 0;
}

void pt_cpu_slices_free(struct pt_cpu_slices *slices)
{
    free(slices->items);
    *slices = (struct pt_cpu_slices){0};
}
