/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of channels and their users. Threads: one. Never: guesses: only processes that use the same channel
 * in opposite directions are connected by it.
 *
 * A pipe and a socket pair have the same name in all processes. A connection has not: each end is named by the other's
 * address. The connect alone gives both: for the other side its name is the address that it came from.
 */
#include "channels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "model/tree.h"
#include "util/hash.h"
#include "util/mem.h"
#include "wait_kind.h"

enum { MOST_CHANNELS = 65536, MOST_CROWDED = 4096, MOST_USERS = 16 };

static bool is_loopback(const char *address)
{
    return !strncmp(address, " 127.", 5) || !strncmp(address, " [::1]", 6);
}

/* Of addresses the kind is left out: a connection from an IPv4 client to a socket for IPv6 is "tcp" and "tcp6". */
pt_u64 pt_channel_hash(const struct pt_process *process, const char *text)
{
    const char *address = pt_channel_of_path(text) == PT_CHANNEL_NETWORK ? strchr(text, ' ') : NULL;
    const pt_u64 hash = pt_hash_text(address ? address : text, PT_HASH_OF_TEXT);
    return (address && !is_loopback(address) ? hash : pt_hash_pair(hash, pt_machine_of(process))) | 1;
}

static pt_u64 mixed(pt_u64 a, pt_u64 b)
{
    return ((a ^ (b << 1 | b >> 63)) * 0x9e3779b97f4a7c15ull) | 1;
}

static pt_u32 channel_at(struct pt_channels *channels, pt_u64 hash)
{
    pt_u64 *slot = pt_map_find(&channels->by_channel, hash);
    if (!slot && channels->ends.n >= MOST_CHANNELS)
        return 0;
    slot = pt_map_at(&channels->by_channel, hash);
    if (!*slot) {
        pt_vec_push(&channels->ends, (struct pt_channel_end){0});
        *slot = channels->ends.n;
    }
    return (pt_u32)*slot;
}

static void join(struct pt_channels *channels, pt_u64 one, pt_u64 other)
{
    const pt_u32 a = channel_at(channels, one), b = channel_at(channels, other);
    if (a)
        channels->ends.items[a - 1].pair = other;
    if (b)
        channels->ends.items[b - 1].pair = one;
}

/* ---- pairs and connections ---- */

/* A socket pair has two names. */
static void note_pair(struct pt_channels *channels, const struct pt_event *event)
{
    const struct pt_ev_net_socket *pair = pt_event_as(event, net_socket);
    const char *one = pt_process_string(event->process, pair->path);
    const char *other = pt_process_string(event->process, pair->to_path);
    if (one && other && *one && *other && strcmp(one, other))
        join(channels, pt_channel_hash(event->process, one), pt_channel_hash(event->process, other));
}

static size_t host_bytes(const char *address)
{
    const char *port = strrchr(address, ':');
    return port ? (size_t)(port - address) : strlen(address);
}

/* The other side of this machine calls this one so; 0 = it is no connection within it. */
static pt_u64 name_over_there(const struct pt_event *event, const char *peer, const char *local)
{
    char name[512];
    const bool is_network = pt_channel_of_path(peer) == PT_CHANNEL_NETWORK;
    if (is_network && (!local || host_bytes(local) != host_bytes(peer) || strncmp(local, peer, host_bytes(peer)) != 0))
        return 0;
    if (is_network)
        return pt_channel_hash(event->process, local);
    snprintf(name, sizeof name, "%s (pid %u)", peer, event->process->pid);
    return pt_channel_hash(event->process, name);
}

static void keep_connection(struct pt_channels *channels, pt_u64 key, pt_u64 peer, pt_u32 channel)
{
    pt_u64 *slot = pt_map_find(&channels->by_descriptor, key);
    if (!slot && channels->connections.n >= MOST_CHANNELS)
        return;
    slot = pt_map_at(&channels->by_descriptor, key);
    if (!*slot) {
        pt_vec_push(&channels->connections, (struct pt_connection){0});
        *slot = channels->connections.n;
    }
    channels->connections.items[*slot - 1] = (struct pt_connection){peer, channel};
}

static pt_u64 key_of(const struct pt_process *process, pt_i32 descriptor)
{
    return (pt_u64)process->index << 32 | (pt_u32)descriptor;
}

/* Most addresses are those of other machines: that is soon known. */
static pt_u64 any_to(pt_u64 peer)
{
    return mixed(0x5bd1e995, peer);
}

static void note_connection(struct pt_channels *channels, const struct pt_event *event)
{
    const struct pt_ev_net_connect *connect = pt_event_as(event, net_connect);
    const char *peer = pt_process_string(event->process, connect->peer);
    const char *local = pt_process_string(event->process, connect->local);
    if ((event->result && event->result != -EINPROGRESS) || !peer || !*peer)
        return;
    const pt_u64 there = name_over_there(event, peer, local);
    const pt_u64 here = there ? mixed(there, pt_channel_hash(event->process, peer)) : 0;
    const pt_u32 channel = there ? channel_at(channels, here) : 0;
    if (channel)
        join(channels, here, there);
    /* Also where it leads elsewhere: the descriptor may have been another connection's. */
    keep_connection(channels, key_of(event->process, event->tag), pt_channel_hash(event->process, peer), channel);
    if (!channel)
        return;
    channels->has_connections = true;
    /* The descriptor may be copied. */
    keep_connection(channels, mixed(event->process->index, pt_channel_hash(event->process, peer)),
                    pt_channel_hash(event->process, peer), channel);
    keep_connection(channels, any_to(pt_channel_hash(event->process, peer)), pt_channel_hash(event->process, peer),
                    channel);
}

static const struct pt_connection *connection_at(const struct pt_channels *channels, pt_u64 key, pt_u64 peer)
{
    const pt_u64 *slot = pt_map_find(&channels->by_descriptor, key);
    const struct pt_connection *connection = slot ? &channels->connections.items[*slot - 1] : NULL;
    return connection && connection->peer == peer ? connection : NULL;
}

/* Of a connection that the process has made, or one of those whose connections it may have. */
static const struct pt_connection *connection_of(const struct pt_channels *channels, const struct pt_event *event,
                                                 pt_u64 peer)
{
    const struct pt_process *process = event->process;
    if (!pt_map_find(&channels->by_descriptor, any_to(peer)))
        return NULL;
    struct pt_maker_steps steps = {0};
    for (; process; process = pt_process_next_maker(process, &steps)) {
        const struct pt_connection *connection =
            connection_at(channels, key_of(process, pt_descriptor_number(event)), peer);
        if (!connection)
            connection = connection_at(channels, mixed(process->index, peer), peer);
        if (connection)
            return connection;
    }
    return NULL;
}

static bool has_no_name(const char *path)
{
    return !strncmp(path, "anon_inode:", 11);
}

/* All eventfds of a machine have one name, and so have timers: the number tells them apart within a process. One that
 * was inherited by a fork is then another one: a wait for nobody known, where the name would blame whoever has one. */
static pt_u64 hash_of(const struct pt_event *event, const char *path)
{
    const pt_u64 hash = pt_channel_hash(event->process, path);
    return has_no_name(path) ? mixed(hash, key_of(event->process, pt_descriptor_number(event))) : hash;
}

/* Nobody writes to the epoll and the timers that each of thousands of processes has: they would fill the table. Who
 * writes to an eventfd may return later than the one who waited for it. */
static bool may_be_new(const struct pt_event *event, enum pt_channel kind, const char *path)
{
    return kind == PT_CHANNEL_LOCAL && (!has_no_name(path) || pt_sends(event) || !strcmp(path, "anon_inode:[eventfd]"));
}

static pt_u32 channel_of(struct pt_channels *channels, const struct pt_event *event)
{
    const enum pt_channel kind = pt_channel_of_event(event);
    if (kind == PT_CHANNEL_FILE || (kind == PT_CHANNEL_NETWORK && !channels->has_connections))
        return 0;
    const char *path = pt_descriptor_of_event(event);
    const pt_u64 hash = hash_of(event, path);
    const bool may_connect = channels->has_connections && (kind == PT_CHANNEL_NETWORK || !strncmp(path, "unix ", 5));
    const struct pt_connection *connection = may_connect ? connection_of(channels, event, hash) : NULL;
    if (connection)
        return connection->channel;
    if (may_be_new(event, kind, path)) {
        const pt_u32 channel = channel_at(channels, hash);
        if (channel)
            channels->ends.items[channel - 1].may_be_kernels = has_no_name(path);
        return channel;
    }
    const pt_u64 *slot = pt_map_find(&channels->by_channel, hash);
    return slot ? (pt_u32)*slot : 0;
}

/* ---- users ---- */

static struct pt_channel_use *nth_last(const struct pt_channel_users *users, pt_u32 n)
{
    return &users->uses[(users->next - 1 - n) & (users->capacity - 1)];
}

/* Most channels have one user at each end; those that workers share have many. */
static void make_room(struct pt_channels *channels, struct pt_channel_users *users)
{
    const bool may_grow = users->capacity < MOST_USERS && (users->capacity < 2 || channels->n_crowded < MOST_CROWDED);
    if (users->n < users->capacity)
        return;
    if (!may_grow) {
        users->n--;
        return;
    }
    const struct pt_channel_users old = *users;
    channels->n_crowded += old.capacity == 2;
    users->capacity = old.capacity ? old.capacity * 2 : 1;
    users->uses = pt_calloc(users->capacity, sizeof *users->uses);
    for (pt_u32 i = 0; i < old.n; i++)
        users->uses[old.n - 1 - i] = *nth_last(&old, i);
    users->next = old.n;
    free(old.uses);
}

static void remember(struct pt_channels *channels, struct pt_channel_users *users, const struct pt_event *event)
{
    const pt_u32 process = event->process->index + 1;
    if (users->n && nth_last(users, 0)->thread == event->thread)
        return;
    if (users->processes[0] != process) {
        users->processes[1] = users->processes[0];
        users->processes[0] = process;
    }
    make_room(channels, users);
    users->uses[users->next++ & (users->capacity - 1)] = (struct pt_channel_use){event->thread, event->start_ns};
    users->n++;
}

pt_u32 pt_channels_note(struct pt_channels *channels, const struct pt_event *event)
{
    if (event->desc->kind == PT_KIND_net_socket)
        note_pair(channels, event);
    if (event->desc->kind == PT_KIND_net_connect)
        note_connection(channels, event);
    const pt_u32 channel = channel_of(channels, event);
    if (!channel)
        return 0;
    struct pt_channel_end *end = &channels->ends.items[channel - 1];
    const pt_u32 kind = event->desc->kind;
    if (pt_sends(event))
        remember(channels, &end->writers, event);
    else if (kind == PT_KIND_io_read || kind == PT_KIND_io_readv || kind == PT_KIND_net_receive ||
             kind == PT_KIND_io_copy)
        remember(channels, &end->readers, event);
    return channel;
}

static const struct pt_channel_users *other_side(const struct pt_channels *channels, pt_u32 channel,
                                                 bool waits_for_writer)
{
    const struct pt_channel_end *end = &channels->ends.items[channel - 1];
    const pt_u64 *other = end->pair ? pt_map_find(&channels->by_channel, end->pair) : NULL;
    if (other)
        end = &channels->ends.items[*other - 1];
    return waits_for_writer ? &end->writers : &end->readers;
}

const struct pt_process *pt_channels_other_process(const struct pt_channels *channels, const struct pt_process *process,
                                                   pt_u32 channel, bool waits_for_writer)
{
    const struct pt_channel_users *users = other_side(channels, channel, waits_for_writer);
    const pt_u32 other = users->processes[users->processes[0] == process->index + 1];
    return other ? process->session->processes[other - 1] : NULL;
}

bool pt_channels_is_nobody(const struct pt_channels *channels, pt_u32 channel, bool waits_for_writer)
{
    return !other_side(channels, channel, waits_for_writer)->processes[0];
}

const struct pt_thread *pt_channels_other_thread(const struct pt_channels *channels, const struct pt_thread *thread,
                                                 pt_u32 channel, bool waits_for_writer, pt_i64 end_ns)
{
    const struct pt_channel_users *users = other_side(channels, channel, waits_for_writer);
    const struct pt_thread *found = NULL;
    for (pt_u32 i = 0; i < users->n; i++) {
        const struct pt_channel_use *use = nth_last(users, i);
        if (use->thread == thread)
            continue;
        if (use->since_ns <= end_ns)
            return use->thread;
        found = use->thread;
    }
    /* The oldest one that is known, though it began later: somebody must have written to a pipe, and to an eventfd
     * perhaps one whose use is no longer kept. */
    const bool are_all_kept = users->next == users->n;
    return channels->ends.items[channel - 1].may_be_kernels && are_all_kept ? NULL : found;
}

void pt_channels_fini(struct pt_channels *channels)
{
    for (size_t i = 0; i < channels->ends.n; i++) {
        free(channels->ends.items[i].writers.uses);
        free(channels->ends.items[i].readers.uses);
    }
    free(channels->ends.items);
    free(channels->connections.items);
    pt_map_fini(&channels->by_channel);
    pt_map_fini(&channels->by_descriptor);
}
