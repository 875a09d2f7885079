/* SPDX-License-Identifier: MIT
 *
 * before.h - what was noted before a window and holds on in it: devices and how they are seen, who connected and who
 * accepted, which pthread_t a thread has. Who connected may have ended, where a process of the window has its
 * connections.
 */
#ifndef PT_MODEL_BEFORE_H
#define PT_MODEL_BEFORE_H

#include "session_types.h"

/* Fills states, earlier and earlier_starts of the session; before its totals are those of the window. It reads about as
 * many blocks as the window has, and no more: where that was too few, `lacks_earlier` of the process says so. */
void pt_session_find_before(struct pt_session *session, pt_i64 from_ns);

#endif
