/* SPDX-License-Identifier: MIT
 *
 * timeline.c - one pass over the events of a run: which part of the timeline shows each of them, and when each part
 * ends.
 *
 * Owns: the state of the walk. One thread. Never: holds events, shows heap events as slices (they feed one counter). */
#include "timeline.h"

#include "util/auto.h"
#include "cpu.h"
#include "gpu.h"
#include "operators.h"
#include "processes.h"
#include "ranges.h"
#include "samples.h"
#include "show.h"
#include "threads.h"

#define HEAP_POINTS 200000u /* of all live-heap counters together */

static void add_heap(struct pt_timeline *timeline, struct pt_timeline_process *process, const struct pt_event *event)
{
    struct pt_thinned *series = &process->heap.series;
    if (!series->show) {
        const pt_i64 points = (pt_i64)(HEAP_POINTS / (timeline->n_processes ? timeline->n_processes : 1));
        process->heap_counter = (struct pt_timeline_counter){
            .process = process,
            .name = process->process->heap_mode == PT_HEAP_FULL ? "live heap" : "live heap (sampled estimate)",
            .series = "bytes",
            .key = PT_TIMELINE_KEY_HEAP,
            .unit = PT_TIMELINE_UNIT_BYTES};
        pt_timeline_show_series(series, &process->heap_counter, points < 16 ? 16 : points > 4000 ? 4000 : points);
    }
    if (!pt_live_heap_add(&process->heap, event))
        timeline->summary->left_out++;
}

static void show_event(struct pt_timeline *timeline, const struct pt_event *event)
{
    struct pt_timeline_process *process = &timeline->processes[event->process->index];
    if (!process->is_shown)
        return;
    if (event->desc->category == PT_CATEGORY_HEAP)
        add_heap(timeline, process, event);
    else if (event->desc->category == PT_CATEGORY_GPU)
        pt_timeline_gpu_event(timeline, process, event);
    else if (event->desc->category != PT_CATEGORY_CLOCK && event->desc->category != PT_CATEGORY_PYTHON)
        /* those two are nothing that the program did */
        pt_timeline_thread_event(timeline, event);
}

static void finish_process(struct pt_timeline *timeline, struct pt_timeline_process *process)
{
    if (!process->is_shown)
        return;
    pt_timeline_end_series(process, &process->heap.series);
    pt_timeline_gpu_finish(process);
    pt_timeline_ranges_finish(timeline, process);
    pt_timeline_threads_finish(timeline, process);
}

/* Header of the file, the names of the processes, and what is not from events. */
static void open_timeline(struct pt_timeline *timeline, struct pt_session *session,
                          const struct pt_export_options *options)
{
    const struct pt_filter *filter = &options->filter;
    timeline->session = session;
    timeline->window = pt_window_of(filter);
    timeline->min_duration_ns = filter->min_duration_ns;
    timeline->writer->open(timeline);
    pt_timeline_cpu_names(timeline, options);
    pt_timeline_processes_open(timeline, filter);
    pt_timeline_samples(timeline, filter);
    pt_timeline_cpu(timeline, options);
    pt_timeline_operators(timeline);
}

/* What is still open, the lives of the processes, the end of the file. Frees everything. */
static void close_timeline(struct pt_timeline *timeline)
{
    for (pt_u32 i = 0; i < timeline->n_processes; i++)
        finish_process(timeline, &timeline->processes[i]);
    pt_timeline_processes_show(timeline);
    timeline->writer->close(timeline);
    for (pt_u32 i = 0; i < timeline->n_processes; i++)
        pt_timeline_gpu_free(&timeline->processes[i]);
    pt_timeline_processes_free(timeline);
    free(timeline->thread_names.items);
    pt_intern_fini(&timeline->texts);
}

static int walk(struct pt_timeline *timeline, struct pt_session *session, const struct pt_export_options *options,
                struct pt_error *err)
{
    /* Ranges, execs and the live heap need what came before the window, and flows need calls shorter than the limit. */
    struct pt_filter filter = options->filter;
    filter.from_ns = 0;
    filter.min_duration_ns = 0;
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, &filter, err);
    if (!feed)
        return -1;
    open_timeline(timeline, session, options);
    struct pt_event event;
    int more;
    while ((more = feed->next(feed, &event, err)) > 0 && !pt_sink_failed(timeline->sink))
        show_event(timeline, &event);
    close_timeline(timeline);
    return more < 0 ? -1 : 0;
}

int pt_timeline_export(struct pt_session *session, const struct pt_export_options *options,
                       const struct pt_timeline_writer *writer, struct pt_sink *sink,
                       struct pt_export_summary *ret_summary, struct pt_error *err)
{
    PT_AUTO(pt_freep) char *state = pt_calloc(1, writer->state_bytes);
    struct pt_timeline timeline = {.writer = writer, .state = state, .sink = sink, .summary = ret_summary};
    *ret_summary = (struct pt_export_summary){0};
    const int result = walk(&timeline, session, options, err);
    if (writer->free)
        writer->free(state);
    return result;
}
