/* SPDX-License-Identifier: MIT
 *
 * runner_stage.h - one stage of a running pipeline. For runner.c only.
 */
#ifndef PT_PIPELINE_RUNNER_STAGE_H
#define PT_PIPELINE_RUNNER_STAGE_H

#include "launcher/run_record.h"
#include "launcher/status_line.h"
#include "isolate.h"
#include "quality.h"
#include "runner.h"

/* What a stage's record points to. */
struct pt_stage_run {
    char **argv;
    struct pt_sampler *sampler; /* owns the samples of the result */
    struct pt_launch_result result;
    struct pt_left_record *left;
    size_t n_left;
};

struct pt_runner {
    const struct pt_runner_request *request;
    struct pt_runner_result *result;
    struct pt_status_line status_line;
    struct pt_isolated isolated;
    int logs_fd;
    struct pt_stage_record *stages; /* as many as the plan has */
    struct pt_stage_run *runs;
    size_t n_stages;
    struct pt_quality quality;
    int end_signal;
    struct {
        PT_VEC(char *);
    } notes;
    struct pt_arena arena; /* of texts in records */
};

/* Run stage `index` to its end and complete its record. Never fails: what goes wrong becomes the stage's status. */
void pt_runner_stage(struct pt_runner *runner, size_t index);
void pt_runner_stage_fini(struct pt_stage_run *run);

/* run.json, as it is now. */
void pt_runner_record(struct pt_runner *runner);
/* Since the start of the run. */
pt_u64 pt_runner_now_ns(const struct pt_runner *runner);
/* A text that lives as long as the runner. */
__attribute__((format(printf, 2, 3))) const char *pt_runner_format(struct pt_runner *runner, const char *format, ...);

#endif
