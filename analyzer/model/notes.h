/* SPDX-License-Identifier: MIT
 *
 * notes.h - sentences that say how far a session can be trusted; shown in every report.
 */
#ifndef PT_MODEL_NOTES_H
#define PT_MODEL_NOTES_H

#include "session_types.h"

/* Add a sentence. */
void pt_session_note(struct pt_session *session, const char *text);
/* Add a sentence unless it is there already: what several processes have in common is said once. */
void pt_session_note_once(struct pt_session *session, const char *text);
/* Add each line of a text. */
void pt_session_note_lines(struct pt_session *session, const char *lines);

#endif
