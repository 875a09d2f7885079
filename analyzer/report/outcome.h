/* SPDX-License-Identifier: MIT
 *
 * outcome.h - how stages and processes ended, for every form of report. Unknown is unknown, with the reason.
 *
 * Texts that are put together live in the arena that is given.
 */
#ifndef PT_REPORT_OUTCOME_H
#define PT_REPORT_OUTCOME_H

#include <string.h>

#include "profile/profile.h"
#include "util/arena.h"

/* A note about a run without run.json. */
const char *pt_report_no_launcher_note(const struct pt_session *session, struct pt_arena *arena);

static inline bool pt_status_is_bad(const char *status)
{
    return !strcmp(status, "failed") || !strcmp(status, "timeout");
}

/* The launcher saw it end badly. */
static inline bool pt_run_stage_failed(const struct pt_run_stage *run)
{
    return run->status && pt_status_is_bad(run->status);
}

/* ok, failed, skipped, timeout, running; ok, too, where it became a program without a trace: nothing says that it
 * failed. */
const char *pt_report_stage_status(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena);
/* "exit 0", "signal 9 (SIGKILL)"; unknown where no end was seen. */
struct pt_value pt_report_stage_exit(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena);
/* Why a stage is not ok, or not known to be; unknown without a reason where it is. */
struct pt_value pt_report_stage_reason(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena);
/* In seconds. */
struct pt_value pt_report_stage_duration(const struct pt_profile *profile, pt_u32 stage);
/* "exit 0", "exec", "still running"; unknown where no end was seen. */
struct pt_value pt_report_process_exit(const struct pt_process *process, struct pt_arena *arena);
/* It is known to have ended badly: one that runs another program, or still runs, has not. */
bool pt_report_process_failed(const struct pt_process *process);

/* A count of events that were lost: of a window it is not known, unless none of the run were. */
struct pt_value pt_report_lost(const struct pt_session *session, pt_u64 events);

/* The words of a stage's command, secrets masked; ending with NULL. Empty if it is not known. */
const char **pt_report_stage_command(const struct pt_profile *profile, pt_u32 stage, struct pt_arena *arena);
/* The same for any arguments; `argc` may be larger than there are. */
const char **pt_masked_arguments(const char *const *argv, int argc, struct pt_arena *arena);

/* ISO 8601, UTC. */
struct pt_value pt_report_started(const struct pt_profile *profile, struct pt_arena *arena);
/* The first characters of the commit, as git shows them. */
struct pt_value pt_report_commit(const struct pt_profile *profile, struct pt_arena *arena);
/* "the last 10 m 00 s, from 2 h 03 m on"; unknown = the report is of the whole run. */
struct pt_value pt_report_window(const struct pt_profile *profile, struct pt_arena *arena);
/* In seconds. */
struct pt_value pt_report_duration(const struct pt_profile *profile);

#endif
