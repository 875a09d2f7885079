/* SPDX-License-Identifier: MIT
 *
 * facts/network/ends.h - which end of a connection a process has: it asks at one end and serves at the other. Who
 * connected, and who was forked from it, has the client's; what was accepted is a server's, in whatever process serves
 * it: a child that was forked after accept, or the program that it executed.
 */
#ifndef PT_FACTS_NETWORK_ENDS_H
#define PT_FACTS_NETWORK_ENDS_H

#include "decode/event.h"
#include "model/session.h"
#include "util/map.h"

enum pt_connection_end {
    PT_END_UNKNOWN, /* neither was recorded */
    PT_END_CLIENT,
    PT_END_SERVER, /* accepted, or it listens */
    PT_END_LOST,   /* one of the two, and the event that told which is missing */
};

/* Bounded: of later ones no more is known than what the process did at all, connect or accept. */
struct pt_connection_ends {
    struct pt_map connected; /* process and hash of the other side -> 1 */
    struct pt_map accepted;  /* hash of the other side -> 1 */
};

/* Each net_connect and net_accept. */
void pt_connection_ends_note(struct pt_connection_ends *ends, const struct pt_event *event);
/* Of a window: those that were made before it. */
void pt_connection_ends_note_earlier(struct pt_connection_ends *ends, const struct pt_session *session);
/* `path`: the name of the descriptor, that of the other side. */
enum pt_connection_end pt_connection_end_of(const struct pt_connection_ends *ends, const struct pt_process *process,
                                            const char *path);
void pt_connection_ends_fini(struct pt_connection_ends *ends);

#endif
