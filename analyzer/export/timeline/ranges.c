/* SPDX-License-Identifier: MIT
 *
 * timeline/ranges.c - ranges that overlap others or end on another thread: tracks of the process, not of a thread.
 *
 * Owns: which of them are open. One thread. Never: holds more than OPEN_LIMIT of them, ends one whose beginning is not
 * known. */
#include "ranges.h"

#include <stdio.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "show.h"
#include "tracks.h"

#define OPEN_LIMIT 10000u /* each end searches its beginning among them, and a program may never end its ranges */
#define ORDER_RANGES (1u << 19)

void pt_timeline_range_open(struct pt_timeline_process *process, const struct pt_event *event)
{
    if (process->open_ranges.n >= OPEN_LIMIT) {
        process->timeline->summary->left_out++;
        return;
    }
    const struct pt_timeline_open_range range = {pt_event_as(event, range_open)->id, event->start_ns, event->aux};
    pt_vec_push(&process->open_ranges, range);
}

static struct pt_timeline_track *make_track(void *context, pt_u32 index)
{
    struct pt_timeline_track *track = pt_timeline_track_new(context, ORDER_RANGES + index);
    track->tid = pt_timeline_ids_new_tid(&track->process->timeline->ids);
    snprintf(track->name, sizeof track->name, "ranges");
    return track;
}

static void show(struct pt_timeline *timeline, struct pt_timeline_process *process,
                 const struct pt_timeline_open_range *range, pt_i64 end_ns, const struct pt_timeline_arg *arg)
{
    pt_i64 start_ns = range->start_ns;
    end_ns = end_ns < start_ns ? start_ns : end_ns;
    if (!pt_window_clip(&timeline->window, &start_ns, &end_ns))
        return;
    process->ranges.limit = PT_TIMELINE_TRACKS;
    struct pt_timeline_track *track =
        pt_timeline_place(timeline, &process->ranges, make_track, process, &start_ns, &end_ns);
    if (!track)
        return;
    const char *name = pt_process_string(process->process, range->name);
    pt_timeline_show(timeline,
                     &(struct pt_timeline_slice){.track = track,
                                                 .start_ns = start_ns,
                                                 .end_ns = end_ns,
                                                 .category = "range",
                                                 .name = name ? name : "",
                                                 .name_key = (pt_u64)process->process->index << 32 | range->name,
                                                 .args = arg,
                                                 .n_args = arg != NULL});
}

void pt_timeline_range_close(struct pt_timeline *timeline, struct pt_timeline_process *process,
                             const struct pt_event *event)
{
    const pt_u64 id = pt_event_as(event, range_close)->id;
    for (size_t i = process->open_ranges.n; i > 0; i--) {
        struct pt_timeline_open_range *range = &process->open_ranges.items[i - 1];
        if (range->id != id)
            continue;
        show(timeline, process, range, event->start_ns, NULL);
        memmove(range, range + 1, (process->open_ranges.n - i) * sizeof *range);
        process->open_ranges.n--;
        return;
    }
    timeline->summary->left_out++;
}

void pt_timeline_ranges_finish(struct pt_timeline *timeline, struct pt_timeline_process *process)
{
    static const struct pt_timeline_arg ended = {.key = "closed_by", .text = "end of process"};
    const struct pt_timeline_arg *arg = pt_timeline_is_end(timeline, process->process, process->end_ns) ? &ended : NULL;
    while (process->open_ranges.n)
        show(timeline, process, &process->open_ranges.items[--process->open_ranges.n], process->end_ns, arg);
}
