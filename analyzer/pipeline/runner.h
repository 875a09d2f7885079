/* SPDX-License-Identifier: MIT
 *
 * runner.h - run the stages of a pipeline one after another, each traced and sampled, and record what happened.
 */
#ifndef PT_PIPELINE_RUNNER_H
#define PT_PIPELINE_RUNNER_H

#include <stdbool.h>

#include "launcher/session_dir.h"
#include "launcher/signals.h"
#include "plan.h"

struct pt_runner_request {
    const struct pt_config *config;
    const struct pt_plan *plan;
    const struct pt_session_dir *dir;
    const char *library;              /* to preload; NULL = tracing is switched off */
    const struct pt_signals *signals; /* taken by the caller before he made the first file */
    bool keep_temp;                   /* leave the temporary configuration, and say where it is */
};

struct pt_runner_result {
    size_t n_failed; /* failed, timed out or interrupted */
    int end_signal;  /* somebody asked us to end; 0 = nobody */
    struct {
        PT_VEC(char *);
    } broken_floors; /* a sentence for each */
    bool recorded;   /* run.json is that of the end; false where it could not be written: it shows an earlier state */
};

/* What the stages did is known when this returns 0, whatever became of them. -1: nothing was run. */
int pt_pipeline_run(const struct pt_runner_request *request, struct pt_runner_result *ret_result, struct pt_error *err);
void pt_runner_result_fini(struct pt_runner_result *result);

#endif
