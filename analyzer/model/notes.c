/* SPDX-License-Identifier: MIT
 *
 * notes.c - Owns: the list of a session's notes. Threads: one at a time. Never: judges whether a note is true.
 */
#include "notes.h"

#include <string.h>

#include "util/auto.h"
#include "util/mem.h"

void pt_session_note(struct pt_session *session, const char *text)
{
    session->notes = pt_realloc(session->notes, (session->n_notes + 1) * sizeof *session->notes);
    session->notes[session->n_notes++] = pt_strdup(text);
}

void pt_session_note_once(struct pt_session *session, const char *text)
{
    for (pt_u32 i = 0; i < session->n_notes; i++)
        if (!strcmp(session->notes[i], text))
            return;
    pt_session_note(session, text);
}

void pt_session_note_lines(struct pt_session *session, const char *lines)
{
    for (const char *at = lines; *at;) {
        const size_t n = strcspn(at, "\n");
        PT_AUTO(pt_freep) char *line = pt_asprintf("%.*s", (int)n, at);
        pt_session_note(session, line);
        at += n + (at[n] == '\n');
    }
}
