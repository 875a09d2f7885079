/* SPDX-License-Identifier: MIT
 *
 * session.h - a run as analyses and renderers see it: opened and closed here.
 *
 * Built by pt_session_open from the headers, thread areas and definitions of all trace files of a run, without touching
 * the events. Read-only afterwards (except lazily filled caches inside), shared by analyses and renderers.
 */
#ifndef PT_MODEL_SESSION_H
#define PT_MODEL_SESSION_H

#include "util/error.h"
#include "layers.h"
#include "names.h"
#include "notes.h"
#include "session_feed.h"
#include "session_types.h"

/* Open a run directory or one file. Fails (exit code 3) only when nothing in it can be used; a damaged file among good
 * ones becomes a note. `path` NULL = the latest run under PROFTRACE_DIR or ./proftrace.data. */
struct pt_session *pt_session_open(const char *path, struct pt_error *err);
/* The directory of the run that is meant so, whether it holds traces or not; NULL when there is no latest one. The
 * caller frees it. `err`, where it is not NULL, says why it is no run. */
char *pt_session_directory(const char *path, struct pt_error *err);
/* After pt_session_open failed: trace files are there, and one of them is foreign, damaged or of a newer format. */
bool pt_session_is_unreadable(const char *path);
/* ... those that are there and empty; and the note that they are. */
size_t pt_session_n_blank(const char *path);
void pt_session_note_blank(struct pt_session *session, size_t n);
void pt_session_close(struct pt_session *session);
static inline void pt_session_closep(struct pt_session **session)
{
    if (*session)
        pt_session_close(*session);
}

#endif
