/* SPDX-License-Identifier: MIT
 *
 * top/phases.h - in which phase of a training each process is, and how long it waited for data: from its last events,
 * kept from look to look.
 */
#ifndef PT_CMD_TOP_PHASES_H
#define PT_CMD_TOP_PHASES_H

#include "model/session.h"
#include "profile/value.h"
#include "util/map.h"
#include "util/vec.h"

struct pt_top_thread;

/* Zeroed = nothing seen yet. */
struct pt_top_phases {
    struct {
        PT_VEC(struct pt_top_thread *);
    } threads;
    struct pt_map by_thread;  /* -> index in threads, plus 1 */
    pt_i64 from_ns, until_ns; /* the window of the last call, since the start of the session */
    pt_u64 n_events;          /* of the session, by then */
    bool is_followed;         /* else there were more events in it than are read */
};

/* Read the events since the last call; of the first one, those of the last minute. */
int pt_top_phases_follow(struct pt_top_phases *phases, struct pt_session *session, struct pt_error *err);
void pt_top_phases_close(struct pt_top_phases *phases);

/* "forward": the innermost phase or range that is open on the thread that was last in one. */
struct pt_value pt_top_phase_of(const struct pt_top_phases *phases, const struct pt_process *process);
/* Share of the window that its threads waited for data; 100 = one thread all the time. */
struct pt_value pt_top_data_wait_of(const struct pt_top_phases *phases, const struct pt_process *process);

#endif
