/* SPDX-License-Identifier: MIT
 *
 * facts/channels.h - who is at the other end of a pipe or socket: whoever wrote to it, or read from it, last.
 */
#ifndef PT_FACTS_CHANNELS_H
#define PT_FACTS_CHANNELS_H

#include "decode/event.h"
#include "model/session.h"
#include "util/map.h"
#include "util/vec.h"

/* Those who write to an end, or read from it: the last two different ones. */
struct pt_channel_users {
    const struct pt_thread *threads[2]; /* the later one first */
    pt_i64 since_ns;                    /* the first one's first use after the other's */
    pt_u32 users[2];                    /* process index + 1 */
};

struct pt_channel_end {
    struct pt_channel_users writers, readers;
    pt_u64 pair; /* hash of the other end's name: socket pairs and connections; 0 = the same name */
};

/* Bounded: a channel beyond the limit has no known peer. */
struct pt_channels {
    struct pt_map by_channel; /* hash of the channel's name -> index in ends, plus 1 */
    struct {
        PT_VEC(struct pt_channel_end);
    } ends;
    bool has_connections;        /* within the machine */
    struct pt_map by_descriptor; /* process and descriptor -> index in connections, plus 1 */
    struct {
        PT_VEC(struct pt_connection {
            pt_u64 peer;    /* hash of the other side's address, as reads and writes name it */
            pt_u32 channel; /* index in ends, plus 1 */
        });
    } connections;
};

/* Index in channels, plus 1, of the end that a span is about; 0 = none. */
pt_u32 pt_channels_note(struct pt_channels *channels, const struct pt_event *event);
/* Process index + 1 of the one that `process` waited for on the channel; 0 = unknown or itself. */
pt_u32 pt_channels_other_process(const struct pt_channels *channels, const struct pt_process *process,
                                 const char *channel, bool waits_for_writer);
/* The thread that used the other end last before `end_ns`; NULL = unknown. `channel`: as pt_channels_note gave it. */
const struct pt_thread *pt_channels_other_thread(const struct pt_channels *channels, const struct pt_thread *thread,
                                                 pt_u32 channel, bool waits_for_writer, pt_i64 end_ns);
void pt_channels_fini(struct pt_channels *channels);

#endif
