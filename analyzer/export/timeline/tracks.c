/* SPDX-License-Identifier: MIT
 *
 * timeline/tracks.c - on which track a slice lies.
 *
 * Owns nothing. One thread. Never: puts two slices on one track that overlap by halves, or, where the writer needs them
 * in order, an inner slice before the outer one that begins at the same instant. */
#include "tracks.h"

#include <limits.h>
#include <stdlib.h>

struct pt_timeline_track *pt_timeline_track_new(struct pt_timeline_process *process, pt_u32 order)
{
    struct pt_timeline_track *track = pt_calloc(1, sizeof *track);
    track->process = process;
    track->order = order;
    track->nesting.from_ns = process->from_ns;
    track->nesting.until_ns = process->until_ns;
    track->nesting.forgotten_until_ns = LLONG_MIN;
    track->nesting.refuses_late_parents = process->timeline->writer->in_order;
    return track;
}

struct pt_timeline_track *pt_timeline_place(struct pt_timeline *timeline, struct pt_timeline_tracks *tracks,
                                            struct pt_timeline_track *(*make)(void *context, pt_u32 index),
                                            void *context, pt_i64 *start_ns, pt_i64 *end_ns)
{
    for (pt_u32 i = 0; i < tracks->limit; i++) {
        if (!tracks->tracks[i])
            tracks->tracks[i] = make(context, i);
        if (!pt_nesting_place(&tracks->tracks[i]->nesting, start_ns, end_ns))
            continue;
        timeline->summary->moved += i > 0;
        return tracks->tracks[i];
    }
    timeline->summary->left_out++;
    return NULL;
}

void pt_timeline_track_free(struct pt_timeline_track *track)
{
    if (track)
        pt_nesting_free(&track->nesting);
    free(track);
}

void pt_timeline_tracks_free(struct pt_timeline_tracks *tracks)
{
    for (pt_u32 i = 0; i < PT_TIMELINE_TRACKS; i++)
        pt_timeline_track_free(tracks->tracks[i]);
}
