/* SPDX-License-Identifier: MIT
 *
 * notes.h - sentences on how far a session can be trusted, shown in every report.
 */
#ifndef PT_MODEL_NOTES_H
#define PT_MODEL_NOTES_H

#include "session_types.h"

/* Add a sentence on trust. */
void pt_session_note(struct pt_session *session, const char *text);
/* Add one unless it is there: what several processes have in common is said once. */
void pt_session_note_once(struct pt_session *session, const char *text);
/* Add each line of a text. */
void pt_session_note_lines(struct pt_session *session, const char *lines);

#endif
