/* SPDX-License-Identifier: MIT
 *
 * facts/wait_kind.h - the parts of the time account, and which part a recorded span belongs to.
 */
#ifndef PT_FACTS_WAIT_KIND_H
#define PT_FACTS_WAIT_KIND_H

#include "decode/event.h"
#include "model/session.h"

enum pt_time_part {
#define PART(id, label) PT_PART_##id,
#include "time_parts.def"
#undef PART
    PT_PART__COUNT
};

static inline bool pt_part_is_of_files(enum pt_time_part part)
{
    return part == PT_PART_file_read || part == PT_PART_file_write || part == PT_PART_file_meta;
}
static inline bool pt_part_is_computing(enum pt_time_part part)
{
    return part == PT_PART_python || part == PT_PART_native || part == PT_PART_heap || part == PT_PART_computing;
}

struct pt_time_part_row {
    const char *id, *key, *metric, *label; /* lock, lock_s, time.lock_s, Locks */
    /* Of the main thread: how long it was on the CPU in such calls, and preempted; and by how much more the work of
     * such calls took because it queued for a CPU: see derive/queueing.c. */
    const char *on_cpu_metric, *preempted_metric, *stretch_metric;
};

/* By enum pt_time_part. */
extern const struct pt_time_part_row pt_time_parts[PT_PART__COUNT];

/* The part of the calls of a kind when nothing more is known of them; PT_PART_unattributed = none of ours. */
enum pt_time_part pt_time_part_of_kind(pt_u32 kind);

/* Whether a wait is that of an event loop (epoll), for any of many descriptors. */
bool pt_is_event_loop(const struct pt_event *event);
/* Does the call end with a signal, however long that takes: sigsuspend of timeout(1), pselect of make -j? A program
 * that waits for its child this way does not sleep. */
bool pt_waits_for_signals(const struct pt_event *event);

/* Who serves has timers, and waits for clients beside them. */
bool pt_serves(const struct pt_process *process);

/* Stdio with a buffer takes tens of nanoseconds for a few bytes, and most of that is the reading of our clock; a system
 * call takes hundreds. */
enum { PT_COPIES_BELOW_NS = 250 };

static inline bool pt_only_copies(const struct pt_event *event)
{
    return (event->desc->kind == PT_KIND_stdio_read || event->desc->kind == PT_KIND_stdio_write) &&
           event->duration_ns < PT_COPIES_BELOW_NS;
}

/* A call that moves bytes between two descriptors (sendfile, splice) is about the one that it may wait for: a pipe or a
 * socket, and of two of these the one that it writes to. */
bool pt_copies_to_channel(const struct pt_event *event);
pt_i32 pt_descriptor_number(const struct pt_event *event);
/* The name of the descriptor that a span is about; NULL = it has none, or it is not known. */
const char *pt_descriptor_of_event(const struct pt_event *event);

/* The part of a span, and the channel of its descriptor: many need both, so they are found once, by the thread that
 * puts events in order, and stored in the event. */
void pt_wait_kind_note(struct pt_event *event);
pt_u32 pt_wait_kind_find(const struct pt_event *event);

enum { PT_PART_BITS = 8 };

/* A point has a value of its own in that place. */
static inline pt_u32 pt_wait_kind_of(const struct pt_event *event)
{
    return event->desc->role == PT_ROLE_SPAN && event->note ? event->note : pt_wait_kind_find(event);
}

static inline enum pt_time_part pt_time_part_of_event(const struct pt_event *event)
{
    return (enum pt_time_part)((pt_wait_kind_of(event) & ((1u << PT_PART_BITS) - 1)) - 1);
}

static inline enum pt_channel pt_channel_of_event(const struct pt_event *event)
{
    return (enum pt_channel)(pt_wait_kind_of(event) >> PT_PART_BITS);
}

#endif
