/* SPDX-License-Identifier: MIT
 *
 * exchanges.h - what goes over the network and may be no request that the program waits for: what ranks exchange with
 * those of other machines, and calls of gRPC, many of which share a connection.
 */
#ifndef PT_ANALYSIS_EXCHANGES_H
#define PT_ANALYSIS_EXCHANGES_H

#include "decode/event.h"
#include "facts/thread_ids.h"

struct pt_exchanges {
    const struct pt_thread_ids *ids;
    bool *is_python; /* by number of a thread: it has had a place in Python; NULL = all ranks are here */
    pt_u8 *has_grpc; /* by index of a process: 1 = no, 2 = yes; 0 = not asked for yet */
};

void pt_exchanges_init(struct pt_exchanges *exchanges, const struct pt_session *session,
                       const struct pt_thread_ids *ids);
void pt_exchanges_fini(struct pt_exchanges *exchanges);

/* A python_place. */
void pt_exchanges_note(struct pt_exchanges *exchanges, const struct pt_event *event);

/* Whether a call may be of a collective: a rank's, of which others are on machines that are not in the session, in a
 * thread that no Python has run in. */
bool pt_exchanges_with_ranks(const struct pt_exchanges *exchanges, const struct pt_event *event);

/* Whether a process has loaded what puts many requests on one connection. */
bool pt_exchanges_by_grpc(struct pt_exchanges *exchanges, const struct pt_process *process);

#endif
