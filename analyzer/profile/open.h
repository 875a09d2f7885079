/* SPDX-License-Identifier: MIT
 *
 * open.h - a run directory opened: its trace files as a session, and what the launcher noted in run.json.
 */
#ifndef PT_PROFILE_OPEN_H
#define PT_PROFILE_OPEN_H

#include "model/session.h"
#include "run_file/read.h"

/* Zeroed = closed. */
struct pt_run {
    struct pt_session *session; /* NULL = no process wrote a trace, but run.json is there */
    struct pt_session *empty;   /* stands in for it then */
    struct pt_run_info *info;   /* NULL = no launcher */
};

/* `path` as in pt_session_open. A run without any trace is fine when its run.json says what was run. Close it whatever
 * the result. */
int pt_run_open(const char *path, struct pt_run *run, struct pt_error *err);
void pt_run_close(struct pt_run *run);

/* Cut it to its last `since_ns`, before anybody analyzes it: see model/window.h. What the launcher noted is cut, too:
 * stages that had ended by then count as skipped, and resources are those of the samples of the window. */
int pt_run_since(struct pt_run *run, pt_i64 since_ns, struct pt_error *err);

/* When it ended, by the session's clock, as far as the launcher or a trace says. */
pt_i64 pt_run_end_ns(const struct pt_run *run);

/* What to take from times of run.json to have times of the session: the run's own clock begins when the launcher did, a
 * moment before the first trace. 0 where the clocks cannot be compared. */
double pt_run_clock_ahead_ns(const struct pt_run_info *info, const struct pt_session *session);

/* The session, or what stands in for it. */
static inline struct pt_session *pt_run_session(const struct pt_run *run)
{
    return run->session ? run->session : run->empty;
}

#endif
