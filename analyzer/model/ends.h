/* SPDX-License-Identifier: MIT
 *
 * ends.h - the ends of processes that could not note their own: killed, crashed, or gone without libc's exit.
 *
 * A process of which nobody knows more ended after its last sign of life (alive_ns); that is then its end for all that
 * follows. What others know moves both bounds: here what its parent was told, in profile/ends.h what the launcher saw.
 */
#ifndef PT_MODEL_ENDS_H
#define PT_MODEL_ENDS_H

#include "session_types.h"

/* It lived at that instant. */
void pt_process_was_alive(struct pt_process *process, pt_i64 at_ns);
/* It was gone at that instant. */
void pt_process_was_gone(struct pt_process *process, pt_i64 at_ns);
/* It ended at that instant; one that is not later than its own last sign of life is taken for that. */
void pt_process_ended(struct pt_process *process, pt_i64 at_ns);

/* What the calls that waited for children tell of them. */
void pt_session_find_ends(struct pt_session *session);

#endif
