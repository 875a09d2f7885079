/* SPDX-License-Identifier: MIT
 *
 * Owns: who connected and who accepted. Threads: one for each table. Never: takes a descriptor's number for the
 * connection: a child has it under another one.
 */
#include "ends.h"

#include <string.h>

#include "proftrace/payloads.h"
#include "facts/channels.h"

enum { MOST_CONNECTIONS = 65536 };

static pt_u64 key_of(const struct pt_process *process, pt_u64 peer)
{
    return ((pt_u64)process->index * 0x9e3779b97f4a7c15ull ^ peer) | 1;
}

static void put(struct pt_map *map, pt_u64 key)
{
    if (map->n < MOST_CONNECTIONS)
        *pt_map_at(map, key) = 1;
}

void pt_connection_ends_note(struct pt_connection_ends *ends, const struct pt_event *event)
{
    const bool connects = event->desc->kind == PT_KIND_net_connect;
    if (!connects && event->desc->kind != PT_KIND_net_accept)
        return;
    const char *peer = pt_process_string(event->process, connects ? pt_event_as(event, net_connect)->peer
                                                                  : pt_event_as(event, net_accept)->peer);
    if (!peer || !*peer || (!connects && event->result < 0))
        return;
    const pt_u64 hash = pt_channel_hash(event->process, peer);
    if (connects)
        put(&ends->connected, key_of(event->process, hash));
    else
        put(&ends->accepted, hash);
}

void pt_connection_ends_note_earlier(struct pt_connection_ends *ends, const struct pt_session *session)
{
    for (pt_u32 i = 0; i < session->n_earlier; i++)
        pt_connection_ends_note(ends, &session->earlier[i]);
}

/* How often it connected and accepted in all of its life is known also where these events are lost, or were not read: a
 * ring keeps a server's last minutes, and its connections are older. Where nothing is lost, only what has no room left
 * can be missing: a server of many clients that has a connection to a database did not make theirs. */
static enum pt_connection_end end_by_counts(const struct pt_connection_ends *ends, const struct pt_process *process)
{
    pt_u64 connects = 0, accepts = 0;
    bool lost = false;
    struct pt_maker_steps steps = {0};
    for (; process; process = pt_process_next_maker(process, &steps)) {
        const struct pt_totals_by_kind *totals = process->life_totals ? process->life_totals : process->totals;
        connects += pt_totals_of(totals, PT_KIND_net_connect)->calls;
        accepts += pt_totals_of(totals, PT_KIND_net_accept)->calls;
        lost |= pt_process_lost_events(process) || process->lacks_earlier;
    }
    const bool may_be_client = connects && (lost || ends->connected.n >= MOST_CONNECTIONS);
    const bool may_be_server = accepts && (lost || ends->accepted.n >= MOST_CONNECTIONS);
    if (may_be_client && may_be_server)
        return PT_END_LOST;
    return may_be_client ? PT_END_CLIENT : may_be_server ? PT_END_SERVER : PT_END_UNKNOWN;
}

enum pt_connection_end pt_connection_end_of(const struct pt_connection_ends *ends, const struct pt_process *process,
                                            const char *path)
{
    if (pt_is_listening(path))
        return PT_END_SERVER;
    if (!ends->connected.n && !ends->accepted.n)
        return end_by_counts(ends, process);
    const pt_u64 hash = pt_channel_hash(process, path);
    struct pt_maker_steps steps = {0};
    for (const struct pt_process *one = process; one; one = pt_process_next_maker(one, &steps))
        if (pt_map_find(&ends->connected, key_of(one, hash)))
            return PT_END_CLIENT;
    return pt_map_find(&ends->accepted, hash) ? PT_END_SERVER : end_by_counts(ends, process);
}

void pt_connection_ends_fini(struct pt_connection_ends *ends)
{
    pt_map_fini(&ends->connected);
    pt_map_fini(&ends->accepted);
}
