/* SPDX-License-Identifier: MIT
 *
 * ignored_options.h - options of a traced process that had no effect.
 */
#ifndef PT_MODEL_IGNORED_OPTIONS_H
#define PT_MODEL_IGNORED_OPTIONS_H

#include "session_types.h"

/* What was set for it and had no effect, as notes of its session; once for all processes that were given the same. */
void pt_process_note_ignored_options(const struct pt_process *process, struct pt_session *session);

#endif
