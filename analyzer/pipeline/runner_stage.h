/* SPDX-License-Identifier: MIT
 *
 * runner_stage.h - one stage of a running pipeline.
 */
#ifndef PT_PIPELINE_RUNNER_STAGE_H
#define PT_PIPELINE_RUNNER_STAGE_H

#include "runner_state.h"

/* Run stage `index` to its end and complete its record. Never fails: what goes wrong becomes the stage's status. */
void pt_runner_stage(struct pt_runner *runner, size_t index);
void pt_runner_stage_fini(struct pt_stage_run *run);

#endif
