/* SPDX-License-Identifier: MIT
 *
 * facts/channels.h - the process at the other end of a pipe or socket: the one that wrote to it, or read from it, last.
 */
#ifndef PT_FACTS_CHANNELS_H
#define PT_FACTS_CHANNELS_H

#include "proftrace/events.h"
#include "decode/event.h"
#include "model/session.h"
#include "util/map.h"
#include "util/vec.h"
#include "wait_kind.h"

/* The last processes that wrote to an end, or read from it, each with its first use after the one before. */
struct pt_channel_users {
    struct pt_channel_use {
        const struct pt_thread *thread;
        pt_i64 since_ns;
    } * uses;                 /* ring; NULL = none */
    pt_u32 n, capacity, next; /* capacity: a power of two */
    pt_u32 processes[2];      /* index + 1 of the last two different ones, the later one first */
};

struct pt_channel_end {
    struct pt_channel_users writers, readers;
    pt_u64 pair;         /* hash of the other end's name: socket pairs and connections; 0 = the same name */
    bool may_be_kernels; /* an eventfd: nobody in sight need have written to it */
};

/* Bounded: a channel beyond the limit has no known users. */
struct pt_channels {
    struct pt_map by_channel; /* hash of the channel's name -> index in ends, plus 1 */
    struct {
        PT_VEC(struct pt_channel_end);
    } ends;
    pt_u32 n_crowded;            /* ends with more than two alternating users */
    bool has_connections;        /* within the machine */
    struct pt_map by_descriptor; /* process and descriptor -> index in connections, plus 1 */
    struct {
        PT_VEC(struct pt_connection {
            pt_u64 peer;    /* hash of the other side's address, as reads and writes name it */
            pt_u32 channel; /* index in ends, plus 1 */
        });
    } connections;
};

static inline bool pt_sends(const struct pt_event *event)
{
    return event->desc->kind == PT_KIND_io_write || event->desc->kind == PT_KIND_io_writev ||
           event->desc->kind == PT_KIND_stdio_write || event->desc->kind == PT_KIND_stdio_flush ||
           event->desc->kind == PT_KIND_net_send || pt_copies_to_channel(event);
}

/* Of the name of a channel, as a process calls it: pipes, sockets of the machine and loopback are on each machine
 * others. */
pt_u64 pt_channel_hash(const struct pt_process *process, const char *text);
/* Index in channels, plus 1, of the end that a span is about; 0 = none. */
pt_u32 pt_channels_note(struct pt_channels *channels, const struct pt_event *event);
/* The thread that used the other end last before `end_ns`, not `thread` itself; NULL = unknown. `channel`: as
 * pt_channels_note gave it. */
const struct pt_thread *pt_channels_other_thread(const struct pt_channels *channels, const struct pt_thread *thread,
                                                 pt_u32 channel, bool waits_for_writer, pt_i64 end_ns);
/* The process that used it last, not `process` itself; NULL = unknown. */
const struct pt_process *pt_channels_other_process(const struct pt_channels *channels, const struct pt_process *process,
                                                   pt_u32 channel, bool waits_for_writer);
/* Nobody has been seen at that side yet. */
bool pt_channels_is_nobody(const struct pt_channels *channels, pt_u32 channel, bool waits_for_writer);
void pt_channels_fini(struct pt_channels *channels);

#endif
