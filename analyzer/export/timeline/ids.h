/* SPDX-License-Identifier: MIT
 *
 * timeline/ids.h - the pid and tid under which a viewer shows a process and a thread.
 *
 * The kernel's own number where it is unique in the run; else (the same pid on two hosts, reused, or another image
 * after exec) the smallest number that is no process's pid. Same run, same numbers.
 */
#ifndef PT_EXPORT_TIMELINE_IDS_H
#define PT_EXPORT_TIMELINE_IDS_H

#include "model/session.h"

struct pt_timeline_ids {
    pt_u32 *pids;  /* by process index */
    pt_u32 **tids; /* by process index, thread index */
    pt_u32 n_processes;
    pt_u32 next_tid, next_pid;
};

void pt_timeline_ids_build(struct pt_timeline_ids *ids, const struct pt_session *session);
/* A tid that no thread has: for tracks that are not a thread's own. */
pt_u32 pt_timeline_ids_new_tid(struct pt_timeline_ids *ids);
/* A pid that no process has: for tracks without a process. */
pt_u32 pt_timeline_ids_new_pid(struct pt_timeline_ids *ids);
void pt_timeline_ids_free(struct pt_timeline_ids *ids);

#endif
