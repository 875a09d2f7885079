/* SPDX-License-Identifier: MIT
 *
 * peers.h - who is at the other end of a pipe or socket: whoever wrote to it, or read from it, last.
 */
#ifndef PT_ANALYSIS_PEERS_H
#define PT_ANALYSIS_PEERS_H

#include "../decode/event.h"
#include "../model/session.h"
#include "../util/map.h"
#include "../util/vec.h"

struct pt_peer {
    pt_u32 writers[2], readers[2]; /* process index + 1; the last two different ones */
    pt_u64 pair;                   /* hash of the other end's name: socketpair; 0 = the same name */
};

/* Bounded: a channel beyond the limit has no known peer. */
struct pt_peers {
    struct pt_map by_channel; /* hash of the channel's name -> index in channels, plus 1 */
    struct {
        PT_VEC(struct pt_peer);
    } channels;
};

void pt_peers_note(struct pt_peers *peers, const struct pt_event *event, const char *channel);
/* Process index + 1 of the one that `process` waited for on the channel; 0 = unknown or itself. */
pt_u32 pt_peers_other(const struct pt_peers *peers, const struct pt_process *process, const char *channel,
                      bool waits_for_writer);
void pt_peers_fini(struct pt_peers *peers);

#endif
