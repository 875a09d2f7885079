/* SPDX-License-Identifier: MIT
 *
 * python_seen.h - how far the library could look into the CPython of a process.
 */
#ifndef PT_MODEL_PYTHON_SEEN_H
#define PT_MODEL_PYTHON_SEEN_H

#include "session_types.h"

enum { PT_PYTHON_STATES = 6 };
/* As text, by enum pt_python_state. */
extern const char *const pt_python_states[PT_PYTHON_STATES];

/* Adds a note to the session where phases or stacks are missing; one for all processes of the same reason. */
void pt_process_note_python(const struct pt_process *process, struct pt_session *session);

#endif
