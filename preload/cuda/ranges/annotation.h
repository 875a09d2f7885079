/* SPDX-License-Identifier: MIT
 *
 * annotation.h - what NVTX and ITT have in common: ranges, marks and counters of the program as events.
 *
 * Called by any thread of the host and in its signal handlers, at the rate of the host's annotations; each is one event
 * on the calling thread, or nothing when users' events are off.
 */
#ifndef PT_CUDA_RANGES_ANNOTATION_H
#define PT_CUDA_RANGES_ANNOTATION_H

#include "proftrace/events.h"
#include "core/emit.h"
#include "core/options.h"

PT_ALWAYS_INLINE void pt_annotate_begin(pt_u32 name)
{
    pt_point(PT_EV_range_begin, 0, 0, pt_words(name, 0), 0);
}

PT_ALWAYS_INLINE void pt_annotate_end(void)
{
    pt_point(PT_EV_range_end, 0, 0, 0, 0);
}

PT_ALWAYS_INLINE void pt_annotate_mark(pt_u32 name)
{
    pt_point(PT_EV_mark, 0, 0, pt_words(name, 0), 0);
}

/* Ranges that may end on another thread. */
PT_ALWAYS_INLINE void pt_annotate_open(pt_u32 name, pt_u64 id)
{
    pt_point(PT_EV_range_open, name, 0, id, 0);
}

PT_ALWAYS_INLINE void pt_annotate_close(pt_u64 id)
{
    pt_point(PT_EV_range_close, 0, 0, id, 0);
}

/* An id that no other range of the process has; never 0. */
pt_u64 pt_annotation_new_id(void);

/* Will anything be recorded? Asked when a library of the host connects. That may be before the constructor has read
 * the options: then the answer is yes. */
PT_ALWAYS_INLINE int pt_annotation_wanted(pt_u8 option)
{
    return !pt_switches.off && (!pt_options.dir || option);
}

#endif
