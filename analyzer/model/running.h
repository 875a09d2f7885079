/* SPDX-License-Identifier: MIT
 *
 * running.h - which processes of a run are still alive: the report covers what they did until now.
 */
#ifndef PT_MODEL_RUNNING_H
#define PT_MODEL_RUNNING_H

#include "session_types.h"

/* Whether the process `pid` has this trace file mapped, from `offset` on: that of one which has ended nobody has. */
bool pt_trace_is_mapped(const char *path, pt_u64 offset, pt_u32 pid);

/* Set is_running of each process, and note how many there are; and is_out_of_sight. */
void pt_session_find_running(struct pt_session *session);

/* Note how many are out of sight, once all is known of ends: one whose end somebody saw no longer is. */
void pt_session_note_out_of_sight(struct pt_session *session);

#endif
