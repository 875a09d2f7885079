/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of channels and who used them. Threads: one. Never: guesses: two processes that use the same channel
 * in opposite directions are peers, nobody else is.
 */
#include "peers.h"

#include <stdlib.h>
#include <string.h>

#include "time_part.h"

enum { MOST_CHANNELS = 65536 };

static pt_u64 hash_of(const char *text)
{
    pt_u64 hash = 0xcbf29ce484222325ull;
    for (; *text; text++)
        hash = (hash ^ (pt_u8)*text) * 0x100000001b3ull;
    return hash | 1;
}

static struct pt_peer *channel_at(struct pt_peers *peers, pt_u64 hash)
{
    pt_u64 *slot = pt_map_find(&peers->by_channel, hash);
    if (!slot && peers->channels.n >= MOST_CHANNELS)
        return NULL;
    slot = pt_map_at(&peers->by_channel, hash);
    if (!*slot) {
        pt_vec_push(&peers->channels, (struct pt_peer){0});
        *slot = peers->channels.n;
    }
    return &peers->channels.items[*slot - 1];
}

static void remember(pt_u32 users[2], pt_u32 user)
{
    if (users[0] == user)
        return;
    users[1] = users[0];
    users[0] = user;
}

/* A socket pair has two names; a connection too, but each side knows the other's address only. */
static void note_pair(struct pt_peers *peers, const struct pt_event *event)
{
    const struct pt_ev_net_socket *pair = pt_event_as(event, net_socket);
    const char *one = pt_process_string(event->process, pair->path);
    const char *other = pt_process_string(event->process, pair->to_path);
    if (!one || !other || !*one || !*other || !strcmp(one, other))
        return;
    struct pt_peer *channel = channel_at(peers, hash_of(one));
    if (channel)
        channel->pair = hash_of(other);
    if ((channel = channel_at(peers, hash_of(other))))
        channel->pair = hash_of(one);
}

void pt_peers_note(struct pt_peers *peers, const struct pt_event *event, const char *channel)
{
    const pt_u32 user = event->process->index + 1;
    if (event->desc->row == PT_ROW_net_socket)
        note_pair(peers, event);
    if (!channel || pt_channel_of_path(channel) != PT_CHANNEL_LOCAL)
        return;
    struct pt_peer *peer = channel_at(peers, hash_of(channel));
    if (!peer)
        return;
    switch (event->desc->row) {
    case PT_ROW_io_write:
    case PT_ROW_io_writev:
    case PT_ROW_net_send:
        remember(peer->writers, user);
        break;
    case PT_ROW_io_read:
    case PT_ROW_io_readv:
    case PT_ROW_net_receive:
        remember(peer->readers, user);
        break;
    default:
        break;
    }
}

pt_u32 pt_peers_other(const struct pt_peers *peers, const struct pt_process *process, const char *channel,
                      bool waits_for_writer)
{
    const pt_u64 *slot = channel ? pt_map_find(&peers->by_channel, hash_of(channel)) : NULL;
    if (!slot)
        return 0;
    const struct pt_peer *peer = &peers->channels.items[*slot - 1];
    const pt_u64 *other = peer->pair ? pt_map_find(&peers->by_channel, peer->pair) : NULL;
    if (other)
        peer = &peers->channels.items[*other - 1];
    const pt_u32 *users = waits_for_writer ? peer->writers : peer->readers;
    return users[0] && users[0] != process->index + 1 ? users[0] : users[1] != process->index + 1 ? users[1] : 0;
}

void pt_peers_fini(struct pt_peers *peers)
{
    free(peers->channels.items);
    pt_map_fini(&peers->by_channel);
}
