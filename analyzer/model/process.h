/* SPDX-License-Identifier: MIT
 *
 * process.h - one process of a session, from its trace file.
 */
#ifndef PT_MODEL_PROCESS_H
#define PT_MODEL_PROCESS_H

#include "session_data.h"

/* Build a process from its file; the clock scale is set. Never fails: damage is counted. */
void pt_process_fill(struct pt_process_data *data);
void pt_process_fini(struct pt_process_data *data);

#endif
