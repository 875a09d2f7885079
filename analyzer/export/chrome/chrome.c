/* SPDX-License-Identifier: MIT
 *
 * chrome.c - a timeline as a Chrome trace: one JSON object, one event a line.
 *
 * Owns: the texts that lines have in common. One thread. Never: decides what is shown. */
#include "event.h"

#include <stdio.h>
#include <string.h>

#include "export/timeline/timeline.h"
#include "util/whole.h"

static struct pt_chrome_out *out_of(struct pt_timeline *timeline)
{
    return timeline->state;
}

static void chrome_open(struct pt_timeline *timeline)
{
    const struct pt_session *session = timeline->session;
    struct pt_chrome_out *out = out_of(timeline);
    out->sink = timeline->sink;
    out->summary = timeline->summary;
    char *at = pt_sink_room(timeline->sink);
    at = pt_put(at, "{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":");
    at = pt_put_u64(at, session->start_realtime_ns);
    at = pt_put(at, ",\"otherData\":{\"tool\":\"proftrace " PROFTRACE_VERSION "\",\"run\":");
    at = pt_put_string(at, session->name ? session->name : "");
    at = pt_put_u64(pt_put(at, ",\"processes\":"), session->n_processes);
    at = pt_put_u64(pt_put(at, ",\"events_recorded\":"), session->quality.events);
    at = pt_put_u64(pt_put(at, ",\"events_overwritten\":"), session->quality.overwritten);
    at = pt_put_u64(pt_put(at, ",\"events_dropped\":"), session->quality.dropped);
    at = pt_put(at, "},\"traceEvents\":[");
    pt_sink_wrote(timeline->sink, at);
}

static void chrome_process(struct pt_timeline *timeline, struct pt_timeline_process *process, const char *title,
                           const char *labels)
{
    struct pt_chrome_out *out = out_of(timeline);
    pt_chrome_name(out, process->pid, 0, "process_name", title);
    pt_chrome_sort_index(out, process->pid, 0, "process_sort_index",
                         process->process ? process->process->index : timeline->n_processes);
    if (*labels)
        pt_chrome_name(out, process->pid, 0, "process_labels", labels);
}

static void chrome_track(struct pt_timeline *timeline, struct pt_timeline_track *track)
{
    struct pt_chrome_out *out = out_of(timeline);
    char name[256];
    snprintf(name, sizeof name, "%s%s%s", track->group ? track->group : "", track->group ? " " : "", track->name);
    pt_chrome_name(out, track->process->pid, track->tid, "thread_name", name);
    pt_chrome_sort_index(out, track->process->pid, track->tid, "thread_sort_index", track->order);
}

/* How each slice of a track begins, up to its time. */
static char *begin_slice(struct pt_chrome_out *out, struct pt_timeline_track *track, pt_i64 start_ns)
{
    if (track->head.bytes)
        return pt_put_us(pt_put_block(pt_sink_room(out->sink), &track->head), start_ns);
    track->head.bytes =
        (pt_u8)snprintf(track->head.text, sizeof track->head.text,
                        ",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":", track->process->pid, track->tid);
    return pt_chrome_begin(out, 'X', track->process->pid, track->tid, start_ns);
}

static char *put_arg(char *at, const struct pt_timeline_arg *arg)
{
    *at++ = '"';
    at = pt_put(pt_put(at, arg->key), "\":");
    return arg->text ? pt_put_string(at, arg->text) : pt_put_i64(at, arg->number);
}

/* Category, name and args. */
static char *put_what(struct pt_chrome_out *out, char *at, const struct pt_timeline_slice *slice)
{
    if (slice->event) {
        at = pt_chrome_put_event(out, at, slice->event, slice->name, slice->with_strings);
    } else {
        at = pt_put(pt_put(at, ",\"cat\":\""), slice->category);
        at = pt_put_string(pt_put(at, "\",\"name\":"), slice->name);
        if (slice->n_args)
            at = pt_put(at, ",\"args\":{");
    }
    for (pt_u32 i = 0; i < slice->n_args; i++) {
        if (at[-1] != '{')
            *at++ = ',';
        at = put_arg(at, &slice->args[i]);
    }
    if (slice->event || slice->n_args)
        *at++ = '}';
    return at;
}

static void chrome_slice(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    struct pt_chrome_out *out = out_of(timeline);
    char *at = begin_slice(out, slice->track, slice->start_ns);
    at = pt_put_us(pt_put(at, ",\"dur\":"), slice->end_ns - slice->start_ns);
    pt_chrome_end(out, put_what(out, at, slice));
}

static void chrome_instant(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    struct pt_chrome_out *out = out_of(timeline);
    char *at = pt_chrome_begin(out, 'i', slice->track->process->pid, slice->track->tid, slice->start_ns);
    at = pt_put(at, slice->is_of_process ? ",\"s\":\"p\"" : ",\"s\":\"t\"");
    pt_chrome_end(out, put_what(out, at, slice));
}

static void chrome_counter(struct pt_timeline *timeline, const struct pt_timeline_counter *counter, pt_i64 at_ns,
                           pt_f64 value)
{
    struct pt_chrome_out *out = out_of(timeline);
    char *at = pt_chrome_begin(out, 'C', counter->process->pid, 0, at_ns);
    at = pt_put_string(pt_put(at, ",\"name\":"), counter->name);
    at = pt_put(pt_put(pt_put(at, ",\"args\":{\""), counter->series), "\":");
    at = counter->unit == PT_TIMELINE_UNIT_NONE ? pt_put_f64(at, value) : pt_put_u64(at, pt_whole(value));
    *at++ = '}';
    pt_chrome_end(out, at);
}

static void put_arrow_end(struct pt_chrome_out *out, char phase, const char *category, const char *name,
                          const struct pt_timeline_place *place)
{
    char *at = pt_chrome_begin(out, phase, place->track->process->pid, place->track->tid, place->at_ns);
    at = pt_put_u64(pt_put(at, ",\"id\":"), out->n_arrows);
    at = pt_put(pt_put(at, ",\"cat\":\""), category);
    at = pt_put(pt_put(at, "\",\"name\":\""), name);
    at = pt_put(at, phase == 'f' ? "\",\"bp\":\"e\"" : "\"");
    pt_chrome_end(out, at);
}

static void chrome_arrow(struct pt_timeline *timeline, const char *category, const char *name,
                         const struct pt_timeline_place *from, const struct pt_timeline_place *to)
{
    struct pt_chrome_out *out = out_of(timeline);
    out->n_arrows++;
    put_arrow_end(out, 's', category, name, from);
    put_arrow_end(out, 'f', category, name, to);
}

static void chrome_close(struct pt_timeline *timeline)
{
    pt_sink_wrote(timeline->sink, pt_put(pt_sink_room(timeline->sink), "\n]}\n"));
}

static const struct pt_timeline_writer writer = {.state_bytes = sizeof(struct pt_chrome_out),
                                                 .open = chrome_open,
                                                 .process = chrome_process,
                                                 .track = chrome_track,
                                                 .slice = chrome_slice,
                                                 .instant = chrome_instant,
                                                 .counter = chrome_counter,
                                                 .arrow = chrome_arrow,
                                                 .close = chrome_close};

int pt_export_chrome(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                     struct pt_export_summary *ret_summary, struct pt_error *err)
{
    return pt_timeline_export(session, options, &writer, sink, ret_summary, err);
}
