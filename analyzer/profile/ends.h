/* SPDX-License-Identifier: MIT
 *
 * profile/ends.h - what the launcher saw of the ends of processes, and which of its stages still runs.
 */
#ifndef PT_PROFILE_ENDS_H
#define PT_PROFILE_ENDS_H

#include "model/session.h"
#include "run_file/run_file.h"

/* A run whose launcher is at work, and a stage whose command is alive or being started, are marked so; a stage lasts
 * until now. Where that cannot be seen, as from outside of a container, a run.json that was just written says it. */
void pt_run_find_running(struct pt_run_info *run);

/* A stage that no launcher saw ending is ok where its command noted itself that it ended with 0, and "unknown" where it
 * became a program without a trace. Of the run at `path` only heads of trace files are read. */
void pt_run_take_noted_ends(const char *path, struct pt_run_info *run);

/* Processes that noted no end: when each ended by the CPU profiles of the run, and how the commands of stages did. */
void pt_run_find_ends(const struct pt_run_info *run, struct pt_session *session);

#endif
