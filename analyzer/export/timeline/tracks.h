/* SPDX-License-Identifier: MIT
 *
 * timeline/tracks.h - tracks of a process, and which of several takes a slice.
 */
#ifndef PT_EXPORT_TIMELINE_TRACKS_H
#define PT_EXPORT_TIMELINE_TRACKS_H

#include "types.h"

/* A new track of the process, to be named by the caller. */
struct pt_timeline_track *pt_timeline_track_new(struct pt_timeline_process *process, pt_u32 order);
void pt_timeline_track_free(struct pt_timeline_track *track);

/* The first track with room, which may move the slice by what rounding put it wrong; NULL when none has. `make` gives
 * the track at an index that has none yet. */
struct pt_timeline_track *pt_timeline_place(struct pt_timeline *timeline, struct pt_timeline_tracks *tracks,
                                            struct pt_timeline_track *(*make)(void *context, pt_u32 index),
                                            void *context, pt_i64 *start_ns, pt_i64 *end_ns);
void pt_timeline_tracks_free(struct pt_timeline_tracks *tracks);

#endif
