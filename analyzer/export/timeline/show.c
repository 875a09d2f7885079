/* SPDX-License-Identifier: MIT
 *
 * timeline/show.c - the way to the writer.
 *
 * Owns: the counts of what was shown. One thread. Never: gives the writer a slice before the track that it lies on. */
#include "show.h"

static void use_track(struct pt_timeline *timeline, struct pt_timeline_track *track)
{
    if (track->is_used)
        return;
    track->is_used = true;
    timeline->summary->tracks++;
    timeline->writer->track(timeline, track);
}

void pt_timeline_show(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    use_track(timeline, slice->track);
    timeline->writer->slice(timeline, slice);
    timeline->summary->slices++;
    if (slice->work.track)
        pt_timeline_show_arrow(timeline, "ac2g", "ac2g", &slice->call, &slice->work);
}

void pt_timeline_show_opened(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    if (!timeline->writer->opened)
        return;
    use_track(timeline, slice->track);
    timeline->writer->opened(timeline, slice);
}

void pt_timeline_show_instant(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    use_track(timeline, slice->track);
    timeline->writer->instant(timeline, slice);
    timeline->summary->instants++;
}

void pt_timeline_show_counter(struct pt_timeline *timeline, const struct pt_timeline_counter *counter, pt_i64 at_ns,
                              pt_f64 value)
{
    timeline->writer->counter(timeline, counter, at_ns, value);
    timeline->summary->counters++;
}

static void show_point(void *context, pt_i64 at_ns, pt_u64 value)
{
    const struct pt_timeline_counter *counter = context;
    struct pt_timeline *timeline = counter->process->timeline;
    if (pt_window_has(&timeline->window, at_ns))
        pt_timeline_show_counter(timeline, counter, at_ns, (pt_f64)value);
}

void pt_timeline_show_series(struct pt_thinned *series, struct pt_timeline_counter *counter, pt_i64 buckets)
{
    const struct pt_timeline *timeline = counter->process->timeline;
    series->show = show_point;
    series->context = counter;
    series->from_ns = timeline->window.from_ns;
    series->bucket_ns = pt_window_shown_ns(&timeline->window, timeline->session->duration_ns) / buckets;
}

bool pt_timeline_is_end(const struct pt_timeline *timeline, const struct pt_process *process, pt_i64 end_ns)
{
    return !process->is_running && end_ns <= timeline->window.until_ns;
}

void pt_timeline_end_series(const struct pt_timeline_process *process, struct pt_thinned *series)
{
    if (pt_timeline_is_end(process->timeline, process->process, process->end_ns))
        pt_thinned_end(series, process->end_ns);
    else
        pt_thinned_flush(series);
}

void pt_timeline_show_arrow(struct pt_timeline *timeline, const char *category, const char *name,
                            const struct pt_timeline_place *from, const struct pt_timeline_place *to)
{
    if (timeline->writer->arrow)
        timeline->writer->arrow(timeline, category, name, from, to);
    timeline->summary->flows++;
}
