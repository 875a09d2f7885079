/* SPDX-License-Identifier: MIT
 *
 * perfetto.c - a timeline as a Perfetto trace: protobuf, absolute nanoseconds, each text once.
 *
 * Owns: the ids of tracks, the slices that begin with their track. One thread. Never: keeps other slices; writes a time
 * in other units than nanoseconds of the run, which the clock snapshot relates to the time of day.
 *
 * A slice is two packets, its beginning and its end. The viewer sorts them by time and keeps the order of the file for
 * equal times: so of slices that begin together the outer one must be written first, although it ends last, and is
 * known here last. Only at the start of a track that is common (the window cuts all that is open there): those wait
 * until the end.
 */
#include "export/timeline/timeline.h"
#include "util/whole.h"

#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "packet.h"

#define MAX_ARGS 8
#define CLOCK_ID_REALTIME 1
#define CLOCK_ID_BOOTTIME 6 /* the default clock of packets */

struct held {
    size_t offset, bytes;
};

struct perfetto {
    struct pt_perfetto_intern intern;
    pt_u64 n_tracks;
    struct pt_map groups, counters; /* to ids of tracks */
    struct {
        PT_VEC(struct held);
    } held; /* beginnings of slices that begin with their track */
    struct {
        PT_VEC(char);
    } held_bytes;
    char scratch[PT_SINK_ROOM];
};

static struct perfetto *state_of(struct pt_timeline *timeline)
{
    return timeline->state;
}

/* ---- tracks ---- */

static void perfetto_open(struct pt_timeline *timeline)
{
    state_of(timeline)->intern.sink = timeline->sink;
    char *const packet = pt_proto_begin(pt_sink_room(timeline->sink), PT_TRACE_PACKET);
    char *at = pt_proto_u64(pt_perfetto_sequence(packet), PT_PACKET_SEQUENCE_FLAGS, 1);
    pt_sink_wrote(timeline->sink, pt_proto_end(packet, at));
    if (!timeline->session->start_realtime_ns)
        return;
    char *const clocks = pt_proto_begin(pt_sink_room(timeline->sink), PT_TRACE_PACKET);
    char *const snapshot = pt_proto_begin(pt_perfetto_sequence(clocks), PT_PACKET_CLOCK_SNAPSHOT);
    const pt_u64 times[][2] = {{CLOCK_ID_BOOTTIME, 0}, {CLOCK_ID_REALTIME, timeline->session->start_realtime_ns}};
    at = snapshot;
    for (int i = 0; i < 2; i++) {
        char *const clock = pt_proto_begin(at, 1);
        at = pt_proto_u64(pt_proto_u64(clock, 1, times[i][0]), 2, times[i][1]);
        at = pt_proto_end(clock, at);
    }
    at = pt_proto_end(snapshot, at);
    pt_sink_wrote(timeline->sink, pt_proto_end(clocks, at));
}

/* A descriptor begins; describe_end writes it. */
struct description {
    char *packet, *body, *at;
};

static struct description describe(struct pt_timeline *timeline, pt_u64 uuid, pt_u64 parent)
{
    struct description made;
    made.packet = pt_proto_begin(pt_sink_room(timeline->sink), PT_TRACE_PACKET);
    made.body = pt_proto_begin(pt_perfetto_naming_sequence(made.packet), PT_PACKET_TRACK_DESCRIPTOR);
    made.at = pt_proto_u64(made.body, PT_DESCRIPTOR_UUID, uuid);
    if (parent)
        made.at = pt_proto_u64(made.at, PT_DESCRIPTOR_PARENT, parent);
    return made;
}

static void describe_end(struct pt_timeline *timeline, struct description *made)
{
    made->at = pt_proto_end(made->body, made->at);
    pt_sink_wrote(timeline->sink, pt_proto_end(made->packet, made->at));
}

static void perfetto_process(struct pt_timeline *timeline, struct pt_timeline_process *process, const char *title,
                             const char *labels)
{
    process->uuid = ++state_of(timeline)->n_tracks;
    struct description made = describe(timeline, process->uuid, 0);
    if (process->process) {
        char *const body = pt_proto_begin(made.at, PT_DESCRIPTOR_PROCESS);
        char *at = pt_proto_u64(pt_proto_u64(body, 1, process->pid), 3, process->process->index);
        at = pt_proto_text(at, 6, title);
        made.at = pt_proto_end(body, *labels ? pt_proto_text(at, 8, labels) : at);
    } else {
        made.at = pt_proto_text(made.at, PT_DESCRIPTOR_NAME, title);
    }
    made.at = pt_proto_u64(made.at, PT_DESCRIPTOR_CHILD_ORDER, 3);
    describe_end(timeline, &made);
}

static pt_u64 group_of(struct pt_timeline *timeline, const struct pt_timeline_track *track)
{
    if (!track->group)
        return track->process->uuid;
    pt_u64 *uuid = pt_map_at(&state_of(timeline)->groups, (uintptr_t)track->group);
    if (*uuid)
        return *uuid;
    *uuid = ++state_of(timeline)->n_tracks;
    struct description made = describe(timeline, *uuid, track->process->uuid);
    made.at = pt_proto_text(made.at, PT_DESCRIPTOR_NAME, track->group);
    made.at = pt_proto_u64(made.at, PT_DESCRIPTOR_CHILD_ORDER, 3);
    made.at = pt_proto_u64(made.at, PT_DESCRIPTOR_RANK, track->order);
    describe_end(timeline, &made);
    return *uuid;
}

static void perfetto_track(struct pt_timeline *timeline, struct pt_timeline_track *track)
{
    if (track->uuid)
        return; /* named already, as the parent of another track */
    if (track->beside && !track->beside->uuid)
        perfetto_track(timeline, track->beside);
    const pt_u64 parent = track->beside ? track->beside->uuid : group_of(timeline, track);
    track->uuid = ++state_of(timeline)->n_tracks;
    struct description made = describe(timeline, track->uuid, parent);
    if (track->thread_tid) {
        char *const body = pt_proto_begin(made.at, PT_DESCRIPTOR_THREAD);
        char *at = pt_proto_u64(pt_proto_u64(body, 1, track->process->pid), 2, track->tid);
        at = pt_proto_text(pt_proto_u64(at, 3, track->order), 5, track->name);
        made.at = pt_proto_end(body, at);
    } else {
        made.at = pt_proto_text(made.at, PT_DESCRIPTOR_NAME, track->name);
        made.at = pt_proto_u64(made.at, PT_DESCRIPTOR_RANK, track->order);
    }
    describe_end(timeline, &made);
}

/* ---- slices ---- */

/* The packet of an event of a track begins with its time. */
static char *begin_event(char **ret_packet, char *at, pt_i64 at_ns)
{
    at = *ret_packet = pt_proto_begin(at, PT_TRACE_PACKET);
    at = pt_proto_u64(at, PT_PACKET_TIMESTAMP, at_ns > 0 ? (pt_u64)at_ns : 0);
    return pt_proto_begin(pt_perfetto_sequence(at), PT_PACKET_TRACK_EVENT);
}

static char *put_type(char *at, enum pt_track_event_type type, pt_u64 track)
{
    return pt_proto_u64(pt_proto_u64(at, PT_TRACK_EVENT_TYPE, type), PT_TRACK_EVENT_TRACK, track);
}

static void name_args(struct perfetto *state, const struct pt_timeline_slice *slice, pt_u64 keys[MAX_ARGS])
{
    for (pt_u32 i = 0; i < slice->n_args && i < MAX_ARGS; i++)
        keys[i] = pt_perfetto_text(&state->intern, PT_PERFETTO_KEYS, (uintptr_t)slice->args[i].key, slice->args[i].key);
}

static char *put_args(char *at, const struct pt_timeline_slice *slice, const pt_u64 *keys)
{
    for (pt_u32 i = 0; i < slice->n_args && i < MAX_ARGS; i++) {
        const struct pt_timeline_arg *arg = &slice->args[i];
        char *const body = pt_proto_begin(at, PT_TRACK_EVENT_ANNOTATION);
        at = pt_proto_u64(body, PT_ANNOTATION_KEY, keys[i]);
        at = arg->text ? pt_proto_text(at, PT_ANNOTATION_TEXT, arg->text)
                       : pt_proto_i64(at, PT_ANNOTATION_SIGNED, arg->number);
        at = pt_proto_end(body, at);
    }
    return at;
}

static char *put_what(char *at, const struct pt_timeline_slice *slice, const struct pt_perfetto_named *named,
                      const pt_u64 *keys)
{
    at = pt_proto_u64(at, PT_TRACK_EVENT_CATEGORY, named->category);
    at = pt_proto_u64(at, PT_TRACK_EVENT_NAME, named->name);
    at = pt_perfetto_put_fields(at, named);
    at = put_args(at, slice, keys);
    if (slice->arrow_to)
        at = pt_proto_fixed64(at, PT_TRACK_EVENT_FLOW, slice->arrow_to);
    if (slice->arrow_from)
        at = pt_proto_fixed64(at, PT_TRACK_EVENT_FLOW, slice->arrow_from);
    for (pt_u32 i = 0; i < slice->n_arrows_from && i < PT_TIMELINE_MOST_ARROWS; i++)
        at = pt_proto_fixed64(at, PT_TRACK_EVENT_FLOW, slice->arrows_from[i]);
    return at;
}

static char *put_end(char *at, const struct pt_timeline_slice *slice)
{
    char *const packet = pt_proto_begin_short(at, PT_TRACE_PACKET);
    at = pt_proto_u64(packet, PT_PACKET_TIMESTAMP, slice->end_ns > 0 ? (pt_u64)slice->end_ns : 0);
    char *const event = pt_proto_begin_short(pt_perfetto_sequence(at), PT_PACKET_TRACK_EVENT);
    at = pt_proto_end_short(event, put_type(event, PT_TRACK_END, slice->track->uuid));
    return pt_proto_end_short(packet, at);
}

/* The end of a slice that was opened long ago says what its beginning could not know yet. */
static void show_end(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    pt_u64 keys[MAX_ARGS];
    char *packet;
    name_args(state_of(timeline), slice, keys);
    char *const event = begin_event(&packet, pt_sink_room(timeline->sink), slice->end_ns);
    char *const at = put_args(put_type(event, PT_TRACK_END, slice->track->uuid), slice, keys);
    pt_sink_wrote(timeline->sink, pt_proto_end(packet, pt_proto_end(event, at)));
}

static char *put_start(char *at, const struct pt_timeline_slice *slice, enum pt_track_event_type type,
                       const struct pt_perfetto_named *named, const pt_u64 *keys)
{
    char *packet;
    char *const event = begin_event(&packet, at, slice->start_ns);
    at = put_what(put_type(event, type, slice->track->uuid), slice, named, keys);
    return pt_proto_end(packet, pt_proto_end(event, at));
}

static void hold(struct perfetto *state, const char *bytes, size_t n)
{
    pt_vec_push(&state->held, ((struct held){state->held_bytes.n, n}));
    for (size_t i = 0; i < n; i++)
        pt_vec_push(&state->held_bytes, bytes[i]);
}

static void show_start(struct pt_timeline *timeline, const struct pt_timeline_slice *slice,
                       enum pt_track_event_type type, bool has_end)
{
    struct perfetto *state = state_of(timeline);
    struct pt_perfetto_named named;
    pt_u64 keys[MAX_ARGS];
    pt_perfetto_name(&state->intern, slice, &named);
    name_args(state, slice, keys);
    if (type == PT_TRACK_BEGIN && slice->start_ns <= slice->track->nesting.from_ns) {
        char *at = put_start(state->scratch, slice, type, &named, keys);
        if (slice->end_ns <= slice->start_ns)
            at = put_end(at, slice);
        else
            pt_sink_wrote(timeline->sink, put_end(pt_sink_room(timeline->sink), slice));
        hold(state, state->scratch, (size_t)(at - state->scratch));
        return;
    }
    char *at = put_start(pt_sink_room(timeline->sink), slice, type, &named, keys);
    pt_sink_wrote(timeline->sink, has_end ? put_end(at, slice) : at);
}

static void perfetto_opened(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    show_start(timeline, slice, PT_TRACK_BEGIN, false);
}

static void perfetto_slice(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    if (slice->was_opened)
        show_end(timeline, slice);
    else
        show_start(timeline, slice, PT_TRACK_BEGIN, true);
}

static void perfetto_instant(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    show_start(timeline, slice, PT_TRACK_INSTANT, false);
}

/* ---- counters ---- */

static pt_u64 counter_track(struct pt_timeline *timeline, const struct pt_timeline_counter *counter)
{
    struct perfetto *state = state_of(timeline);
    pt_u64 *uuid = pt_map_at(&state->counters, (pt_u64)counter->process->pid << 34 | counter->key);
    if (*uuid)
        return *uuid;
    *uuid = ++state->n_tracks;
    struct description made = describe(timeline, *uuid, counter->process->uuid);
    made.at = pt_proto_text(made.at, PT_DESCRIPTOR_NAME, counter->name);
    char *const body = pt_proto_begin(made.at, PT_DESCRIPTOR_COUNTER);
    char *const at = counter->unit == PT_TIMELINE_UNIT_NONE
                         ? body
                         : pt_proto_u64(body, 3, counter->unit == PT_TIMELINE_UNIT_BYTES ? 3 : 2);
    made.at = pt_proto_end(body, at);
    describe_end(timeline, &made);
    return *uuid;
}

static void perfetto_counter(struct pt_timeline *timeline, const struct pt_timeline_counter *counter, pt_i64 at_ns,
                             pt_f64 value)
{
    const pt_u64 track = counter_track(timeline, counter);
    char *packet;
    char *const event = begin_event(&packet, pt_sink_room(timeline->sink), at_ns);
    char *at = put_type(event, PT_TRACK_COUNTER, track);
    at = counter->unit == PT_TIMELINE_UNIT_NONE ? pt_proto_f64(at, PT_TRACK_EVENT_DOUBLE, value)
                                                : pt_proto_i64(at, PT_TRACK_EVENT_INTEGER, pt_whole_signed(value));
    pt_sink_wrote(timeline->sink, pt_proto_end(packet, pt_proto_end(event, at)));
}

/* ---- the file ---- */

/* What arrived last is outermost, and goes first. */
static void perfetto_close(struct pt_timeline *timeline)
{
    struct perfetto *state = state_of(timeline);
    for (size_t i = state->held.n; i > 0; i--) {
        const struct held *held = &state->held.items[i - 1];
        char *at = pt_sink_room(timeline->sink);
        memcpy(at, state->held_bytes.items + held->offset, held->bytes);
        pt_sink_wrote(timeline->sink, at + held->bytes);
    }
}

static void perfetto_free(void *of)
{
    struct perfetto *state = of;
    pt_perfetto_intern_free(&state->intern);
    pt_map_fini(&state->groups);
    pt_map_fini(&state->counters);
    free(state->held.items);
    free(state->held_bytes.items);
}

static const struct pt_timeline_writer writer = {.state_bytes = sizeof(struct perfetto),
                                                 .in_order = true,
                                                 .open = perfetto_open,
                                                 .process = perfetto_process,
                                                 .track = perfetto_track,
                                                 .opened = perfetto_opened,
                                                 .slice = perfetto_slice,
                                                 .instant = perfetto_instant,
                                                 .counter = perfetto_counter,
                                                 .close = perfetto_close,
                                                 .free = perfetto_free};

int pt_export_perfetto(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                       struct pt_export_summary *ret_summary, struct pt_error *err)
{
    return pt_timeline_export(session, options, &writer, sink, ret_summary, err);
}
