/* SPDX-License-Identifier: MIT
 *
 * runner.h - run the stages of a pipeline one after another, each traced and sampled, and record what happened.
 */
#ifndef PT_PIPELINE_RUNNER_H
#define PT_PIPELINE_RUNNER_H

#include "runner_state.h"

/* What the stages did is known when this returns 0, whatever became of them; quality values only if the
 * configuration names their file. -1: nothing was run. */
int pt_pipeline_run(const struct pt_runner_request *request, struct pt_runner_result *ret_result, struct pt_error *err);
/* Judge floors again, where the grade report was found only afterwards. */
void pt_runner_judge(struct pt_runner_result *result, const struct pt_quality_metrics *quality);
void pt_runner_result_fini(struct pt_runner_result *result);

#endif
