/* SPDX-License-Identifier: MIT
 *
 * chrome.c - a run as a Chrome trace: one pass over the events, each becoming at most one line.
 *
 * Owns: what is open on each thread (ranges, steps, an exec that has not come back). One thread. Never: holds events,
 * shows heap events as slices (they feed one counter), writes two slices of one track that overlap by halves. */
#include "chrome_walk.h"

#include <math.h>
#include <stdio.h>

#define STRINGS_FROM_NS 10000 /* shorter calls go without their path: half the file, and nobody looks at them */
#define HEAP_POINTS 200000u   /* of all live-heap counters together */

/* The part of a slice that lies in the window asked for; false when none does. */
static bool clip(const struct pt_chrome *chrome, pt_i64 *start_ns, pt_i64 *end_ns)
{
    if (*end_ns < chrome->from_ns || *start_ns > chrome->until_ns)
        return false;
    *start_ns = *start_ns < chrome->from_ns ? chrome->from_ns : *start_ns;
    *end_ns = *end_ns > chrome->until_ns ? chrome->until_ns : *end_ns;
    return true;
}

static bool in_window(const struct pt_chrome *chrome, pt_i64 at_ns)
{
    return at_ns >= chrome->from_ns && at_ns <= chrome->until_ns;
}

/* The row of the thread that has room for the slice; -1 when none has. */
static int lane_place(struct pt_chrome_lane *lane, pt_i64 *start_ns, pt_i64 *end_ns)
{
    for (int row = 0; row < PT_CHROME_ROWS; row++)
        if (pt_track_place(&lane->rows[row], start_ns, end_ns))
            return row;
    return -1;
}

static char *slice_begin(struct pt_chrome *chrome, struct pt_chrome_lane *lane, int row, pt_i64 start_ns, pt_i64 end_ns)
{
    struct pt_put_text *const head = &lane->heads[row];
    char *at;
    if (head->bytes) {
        at = pt_put_us(pt_put_block(pt_sink_room(chrome->out.sink), head), start_ns);
    } else {
        const pt_u32 tid = pt_chrome_lane_tid(chrome, lane, row);
        head->bytes = (pt_u8)snprintf(head->text, sizeof head->text,
                                      ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":", lane->process->pid, tid);
        at = pt_chrome_begin(&chrome->out, 'X', lane->process->pid, tid, start_ns);
    }
    at = pt_put(at, ",\"dur\":");
    chrome->out.summary->slices++;
    chrome->out.summary->moved += row > 0 && row < PT_CHROME_ROWS;
    return pt_put_us(at, end_ns - start_ns);
}

static char *put_quoted(char *at, const char *before, const char *text)
{
    return pt_put_string(pt_put(at, before), text ? text : "");
}

/* `closed_by`: what ended it in place of its own end; NULL = nothing. */
static void slice_end(struct pt_chrome *chrome, char *at, const char *closed_by)
{
    if (closed_by)
        at = pt_put(put_quoted(at, ",\"args\":{\"closed_by\":", closed_by), "}");
    pt_chrome_end(&chrome->out, at);
}

/* ---- calls ---- */

static bool is_worth_strings(const struct pt_event *event)
{
    return event->duration_ns >= STRINGS_FROM_NS || event->desc->category == PT_CATEGORY_PROC ||
           event->desc->id == PT_EV_io_open;
}

/* An arrow from a slice to the process that it made, where its beginning is shown. */
static void link_process(struct pt_chrome *chrome, const char *what, struct pt_chrome_lane *lane, int row,
                         pt_i64 start_ns, struct pt_chrome_process *made)
{
    if (!made || made->from_ns != made->start_ns)
        return;
    made->is_linked = true;
    pt_chrome_flow(&chrome->out, what,
                   &(struct pt_chrome_end_of_flow){lane->process->pid, pt_chrome_lane_tid(chrome, lane, row), start_ns},
                   &(struct pt_chrome_end_of_flow){made->pid, made->main_tid, made->from_ns});
}

static void show_span(struct pt_chrome *chrome, struct pt_chrome_lane *lane, const struct pt_event *event)
{
    pt_i64 start_ns = event->start_ns, end_ns = pt_event_end_ns(event);
    const bool makes_process = event->desc->id == PT_EV_proc_fork || event->desc->id == PT_EV_proc_spawn;
    if (event->duration_ns < chrome->min_duration_ns && !makes_process)
        return;
    if (!clip(chrome, &start_ns, &end_ns))
        return;
    const int row = lane_place(lane, &start_ns, &end_ns);
    if (row < 0) {
        chrome->out.summary->left_out++;
        return;
    }
    char *at = slice_begin(chrome, lane, row, start_ns, end_ns);
    at = pt_chrome_put_event(&chrome->out, at, event, is_worth_strings(event));
    pt_chrome_end(&chrome->out, at);
    if (makes_process && event->result > 0)
        link_process(chrome, event->desc->id == PT_EV_proc_fork ? "fork" : "spawn", lane, row, start_ns,
                     pt_chrome_find_child(chrome, lane->process, event->result, event->start_ns));
}

/* ---- ranges ---- */

static void end_range(struct pt_chrome *chrome, struct pt_chrome_lane *lane, pt_i64 at_ns, const char *closed_by)
{
    struct pt_track_range range;
    pt_i64 end_ns = at_ns;
    if (!pt_track_range_end(&lane->rows[0], &end_ns, &range)) {
        chrome->out.summary->left_out++;
        return;
    }
    pt_i64 start_ns = range.start_ns;
    if (!clip(chrome, &start_ns, &end_ns))
        return;
    char *at = slice_begin(chrome, lane, 0, start_ns, end_ns);
    at = put_quoted(at, ",\"cat\":\"range\",\"name\":", pt_process_string(lane->process->process, range.name));
    slice_end(chrome, at, closed_by);
}

/* A step (an epoch) lasts until the next one of its thread, a step also no longer than its epoch. They have a row of
 * their own: the program's ranges need not respect them. */
static void end_period(struct pt_chrome *chrome, struct pt_chrome_lane *lane, struct pt_chrome_period *period,
                       const char *what, pt_i64 at_ns, const char *closed_by)
{
    pt_i64 start_ns = period->start_ns, end_ns = at_ns < start_ns ? start_ns : at_ns;
    if (!period->is_open)
        return;
    period->is_open = false;
    if (!clip(chrome, &start_ns, &end_ns))
        return;
    char *at = slice_begin(chrome, lane, PT_CHROME_ROWS, start_ns, end_ns);
    at = pt_put(at, ",\"cat\":\"step\",\"name\":\"");
    at = pt_put(at, what);
    *at++ = ' ';
    at = pt_put_u64(at, period->number);
    *at++ = '"';
    slice_end(chrome, at, closed_by);
}

static void begin_period(struct pt_chrome *chrome, struct pt_chrome_lane *lane, const struct pt_event *event)
{
    const bool is_epoch = event->desc->id == PT_EV_epoch;
    end_period(chrome, lane, &lane->step, "step", event->start_ns, NULL);
    if (is_epoch)
        end_period(chrome, lane, &lane->epoch, "epoch", event->start_ns, NULL);
    *(is_epoch ? &lane->epoch : &lane->step) =
        (struct pt_chrome_period){.is_open = true, .number = event->words[0], .start_ns = event->start_ns};
}

/* ---- instants and counters ---- */

static void show_instant(struct pt_chrome *chrome, struct pt_chrome_lane *lane, const struct pt_event *event)
{
    if (!in_window(chrome, event->start_ns))
        return;
    char *at =
        pt_chrome_begin(&chrome->out, 'i', lane->process->pid, pt_chrome_lane_tid(chrome, lane, 0), event->start_ns);
    if (event->desc->id == PT_EV_mark) {
        at = pt_put(at, ",\"s\":\"t\",\"cat\":\"mark\"");
        at = put_quoted(at, ",\"name\":", pt_process_string(event->process, pt_event_as(event, mark)->name));
    } else {
        at = pt_put(at, event->desc->id == PT_EV_stage ? ",\"s\":\"p\"" : ",\"s\":\"t\"");
        at = pt_chrome_put_event(&chrome->out, at, event, true);
    }
    pt_chrome_end(&chrome->out, at);
    chrome->out.summary->instants++;
}

static void show_counter(struct pt_chrome *chrome, struct pt_chrome_lane *lane, const struct pt_event *event)
{
    const struct pt_ev_counter *counter = pt_event_as(event, counter);
    const char *name = pt_process_string(event->process, counter->name);
    if (!in_window(chrome, event->start_ns))
        return;
    if (!isfinite(counter->value)) {
        chrome->out.summary->left_out++;
        return;
    }
    char *at = pt_chrome_begin(&chrome->out, 'C', lane->process->pid, 0, event->start_ns);
    at = put_quoted(at, ",\"name\":", name && *name ? name : "counter");
    at = pt_put_f64(pt_put(at, ",\"args\":{\"value\":"), counter->value);
    *at++ = '}';
    pt_chrome_end(&chrome->out, at);
    chrome->out.summary->counters++;
}

static void show_live_heap(void *context, pt_i64 at_ns, pt_u64 bytes)
{
    struct pt_chrome_process *process = context;
    if (in_window(process->chrome, at_ns))
        pt_chrome_counter(&process->chrome->out, process->pid, at_ns,
                          process->process->heap_mode == PT_HEAP_FULL ? "live heap" : "live heap (sampled estimate)",
                          "bytes", bytes);
}

static void add_heap(struct pt_chrome *chrome, struct pt_chrome_process *process, const struct pt_event *event)
{
    struct pt_thinned *series = &process->heap.series;
    if (!series->show) {
        const pt_i64 points = (pt_i64)(HEAP_POINTS / (chrome->n_processes ? chrome->n_processes : 1));
        series->show = show_live_heap;
        series->context = process;
        series->bucket_ns = pt_chrome_shown_ns(chrome) / (points < 16 ? 16 : points > 4000 ? 4000 : points);
    }
    if (!pt_live_heap_add(&process->heap, event))
        chrome->out.summary->left_out++;
}

/* ---- exec: a slice from the call to the end of the image, or to its failure ---- */

static void end_exec(struct pt_chrome *chrome, struct pt_chrome_lane *lane, pt_i64 at_ns,
                     const struct pt_event *failure, struct pt_chrome_process *next_image)
{
    pt_i64 start_ns = lane->exec.start_ns, end_ns = at_ns;
    lane->exec.is_open = false;
    if (!clip(chrome, &start_ns, &end_ns))
        return;
    const int row = lane_place(lane, &start_ns, &end_ns);
    if (row < 0) {
        chrome->out.summary->left_out++;
        return;
    }
    char *at = slice_begin(chrome, lane, row, start_ns, end_ns);
    if (failure) {
        at = pt_chrome_put_event(&chrome->out, at, failure, true);
    } else {
        at = pt_put(at, ",\"cat\":\"proc\",\"name\":\"exec\",\"args\":{");
        at = put_quoted(at, "\"path\":", pt_process_string(lane->process->process, (pt_u32)lane->exec.number));
        *at++ = '}';
    }
    pt_chrome_end(&chrome->out, at);
    link_process(chrome, "exec", lane, row, start_ns, next_image);
}

static void begin_exec(struct pt_chrome_lane *lane, const struct pt_event *event)
{
    lane->exec = (struct pt_chrome_period){
        .is_open = true, .number = pt_event_as(event, proc_exec)->path, .start_ns = event->start_ns};
}

/* ---- the walk ---- */

static void show_point(struct pt_chrome *chrome, struct pt_chrome_lane *lane, const struct pt_event *event)
{
    switch (event->desc->id) {
    case PT_EV_counter:
        show_counter(chrome, lane, event);
        break;
    case PT_EV_step:
    case PT_EV_epoch:
        begin_period(chrome, lane, event);
        break;
    case PT_EV_proc_exec:
        begin_exec(lane, event);
        break;
    case PT_EV_thread_start:
        break; /* the row's first slice says as much */
    default:
        show_instant(chrome, lane, event);
    }
}

static void show_event(struct pt_chrome *chrome, const struct pt_event *event)
{
    struct pt_chrome_process *process = &chrome->processes[event->process->index];
    if (!process->is_shown)
        return;
    if (event->desc->category == PT_CATEGORY_HEAP) {
        add_heap(chrome, process, event);
        return;
    }
    struct pt_chrome_lane *lane = pt_chrome_lane(chrome, event);
    /* A vfork'ed child execs in its parent's memory: when the thread goes on, the exec was not its own. */
    if (lane->exec.is_open)
        end_exec(chrome, lane, event->start_ns, event->desc->id == PT_EV_proc_exec_failed ? event : NULL, NULL);
    switch (event->desc->role) {
    case PT_ROLE_UNIT:
        break;
    case PT_ROLE_SPAN:
        show_span(chrome, lane, event);
        break;
    case PT_ROLE_POINT:
        if (event->desc->id != PT_EV_proc_exec_failed)
            show_point(chrome, lane, event);
        break;
    case PT_ROLE_BEGIN:
        pt_track_range_begin(&lane->rows[0], event->start_ns, pt_event_as(event, range_begin)->name);
        break;
    case PT_ROLE_END:
        end_range(chrome, lane, event->start_ns, NULL);
        break;
    }
}

static void finish_lane(struct pt_chrome *chrome, struct pt_chrome_lane *lane)
{
    static const char closed_by[] = "end of thread";
    const pt_i64 end_ns = lane->thread->end_ns;
    if (lane->exec.is_open)
        end_exec(chrome, lane, lane->process->end_ns, NULL, pt_chrome_next_image(chrome, lane->process));
    while (lane->rows[0].n_ranges)
        end_range(chrome, lane, end_ns, closed_by);
    end_period(chrome, lane, &lane->step, "step", end_ns, closed_by);
    end_period(chrome, lane, &lane->epoch, "epoch", end_ns, closed_by);
}

void pt_chrome_finish_process(struct pt_chrome *chrome, struct pt_chrome_process *process)
{
    if (!process->is_shown)
        return;
    pt_thinned_flush(&process->heap.series);
    for (pt_u32 i = 0; i < process->process->n_threads; i++)
        if (process->lanes[i])
            finish_lane(chrome, process->lanes[i]);
}

int pt_export_chrome(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                     struct pt_export_summary *ret_summary, struct pt_error *err)
{
    *ret_summary = (struct pt_export_summary){0};
    struct pt_chrome chrome = {.out = {.sink = sink, .summary = ret_summary}};
    /* Ranges, execs and the live heap need what came before the window, and flows need calls shorter than the limit. */
    struct pt_filter filter = options->filter;
    filter.from_ns = 0;
    filter.min_duration_ns = 0;
    PT_AUTO(pt_stream_closep) struct pt_stream *stream = pt_session_stream(session, &filter, err);
    if (!stream)
        return -1;
    pt_chrome_open(&chrome, session, &options->filter);
    struct pt_event event;
    int more;
    while ((more = stream->next(stream, &event, err)) > 0 && !pt_sink_failed(sink))
        show_event(&chrome, &event);
    pt_chrome_close(&chrome);
    return more < 0 ? -1 : 0;
}
