/* SPDX-License-Identifier: MIT
 *
 * ignored_options.h - options of a traced process that had no effect.
 */
#ifndef PT_MODEL_IGNORED_OPTIONS_H
#define PT_MODEL_IGNORED_OPTIONS_H

#include "session_types.h"

/* Adds a note to the session for each option that had no effect; one note for all processes that were given the
 * same. */
void pt_process_note_ignored_options(const struct pt_process *process, struct pt_session *session);

#endif
