/* SPDX-License-Identifier: MIT
 *
 * timeline/lanes.h - the tracks of a thread: its own, those beside it for what overlaps there, and one for its steps.
 */
#ifndef PT_EXPORT_TIMELINE_LANES_H
#define PT_EXPORT_TIMELINE_LANES_H

#include "types.h"

/* What has begun on a thread and has no event for its end. */
struct pt_timeline_period {
    bool is_open;
    pt_u64 number;
    pt_i64 start_ns;
};

struct pt_timeline_lane {
    struct pt_thread *thread;
    struct pt_timeline_process *process;
    struct pt_timeline_tracks tracks;  /* calls in signal handlers need not nest: such lie beside */
    struct pt_timeline_track *steps;   /* NULL = not needed yet */
    struct pt_timeline_track *samples; /* the same */
    struct pt_timeline_track *operators;
    struct pt_timeline_period step, epoch;
    struct pt_timeline_period exec; /* number = string id of the program */
    pt_u32 holes;                   /* in its events, that were passed */
};

/* The lane of the event's thread, with a track for steps where the event is one. */
struct pt_timeline_lane *pt_timeline_lane(struct pt_timeline *timeline, const struct pt_event *event);
struct pt_timeline_lane *pt_timeline_lane_at(struct pt_timeline_process *process, pt_u32 thread_index);
void pt_timeline_lane_free(struct pt_timeline_lane *lane);

/* The track of a thread itself, which all slices that nest lie on. */
struct pt_timeline_track *pt_timeline_thread_track(struct pt_timeline_lane *lane);
/* The track beside it of what it ran, as samples tell. */
struct pt_timeline_track *pt_timeline_lane_samples(struct pt_timeline_lane *lane);
/* The same of PyTorch's operators, as its profiler tells. */
struct pt_timeline_track *pt_timeline_lane_operators(struct pt_timeline_lane *lane);
/* The name that a thread gave itself; NULL = it has that of its program, or none is known. */
const char *pt_timeline_thread_name(const struct pt_timeline *timeline, const struct pt_process *process, pt_u32 tid);
/* As pt_timeline_place. */
struct pt_timeline_track *pt_timeline_lane_place(struct pt_timeline *timeline, struct pt_timeline_lane *lane,
                                                 pt_i64 *start_ns, pt_i64 *end_ns);

#endif
