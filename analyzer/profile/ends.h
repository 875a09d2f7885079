/* SPDX-License-Identifier: MIT
 *
 * profile/ends.h - what the launcher saw of the ends of processes, and which of its stages still runs.
 */
#ifndef PT_PROFILE_ENDS_H
#define PT_PROFILE_ENDS_H

#include "model/session.h"
#include "run_file/run_file.h"

/* A stage whose command is alive now is marked so and lasts until now. */
void pt_run_find_running(struct pt_run_info *run);

/* A stage that no launcher saw ending, and whose command noted itself that it ended with 0, is ok. Of the run at `path`
 * only heads of trace files are read. */
void pt_run_take_noted_ends(const char *path, struct pt_run_info *run);

/* Processes that noted no end: when each ended by the CPU profiles of the run, and how the commands of stages did. */
void pt_run_find_ends(const struct pt_run_info *run, struct pt_session *session);

#endif
