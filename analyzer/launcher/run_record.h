/* SPDX-License-Identifier: MIT
 *
 * run_record.h - what the launcher knows about a run and its stages, on its way into run.json.
 */
#ifndef PT_LAUNCHER_RUN_RECORD_H
#define PT_LAUNCHER_RUN_RECORD_H

#include "run_file/run_file.h"
#include "launch.h"
#include "session_dir.h"
#include "target.h"

/* The result of a stage's command, or its state while it runs. Lists and texts still belong to the result and the
 * sampler. */
void pt_run_stage_take(struct pt_run_stage *stage, const struct pt_launch_result *result,
                       const struct pt_session_dir *dir);
/* Names of GPUs: from the first stage that knows them; they are the same for all. */
void pt_run_take_gpus(struct pt_run_info *run, const struct pt_samples *samples);
/* List the target of a stage when it is not traced. `untraced` has room for it. */
void pt_run_take_target(struct pt_run_info *run, const char *stage, const struct pt_target *target);
/* The same stage's, taken last, could not be started: it did not run untraced. */
void pt_run_drop_target(struct pt_run_info *run, const char *stage);

/* Write run.json into the run's directory, with the place, the machine and the time of the start added. */
int pt_run_record_write(const struct pt_session_dir *dir, const struct pt_run_info *run, struct pt_error *err);

#endif
