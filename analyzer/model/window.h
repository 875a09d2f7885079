/* SPDX-License-Identifier: MIT
 *
 * window.h - a session cut to its last seconds: what lies before is as if it had never been recorded, but for what
 * holds on: which devices a process has, and how they are seen.
 */
#ifndef PT_MODEL_WINDOW_H
#define PT_MODEL_WINDOW_H

#include "util/error.h"
#include "session_types.h"

/* From `from_ns` on, before anybody reads events. Processes that had ended by then are gone; the others and their
 * threads begin no earlier; calls that began before are cut. Totals are those of the events that ended in the window:
 * where events were lost they are too small, and a note says so. Heap counters, CPU times and the most memory of a
 * process have no times, and are not known of a window. */
int pt_session_window(struct pt_session *session, pt_i64 from_ns, struct pt_error *err);

/* Why something is not known of a window. */
extern const char pt_window_no_counters[];
/* ... and how many events of it were lost. */
extern const char pt_window_no_losses[];

static inline bool pt_session_is_window(const struct pt_session *session)
{
    return session && session->window_from_ns > 0;
}

#endif
