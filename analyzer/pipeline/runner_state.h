/* SPDX-License-Identifier: MIT
 *
 * runner_state.h - a pipeline while it runs: what was asked for, what is known of it, and its record in run.json.
 */
#ifndef PT_PIPELINE_RUNNER_STATE_H
#define PT_PIPELINE_RUNNER_STATE_H

#include <stdbool.h>

#include "launcher/run_record.h"
#include "launcher/signals.h"
#include "launcher/status_line.h"
#include "isolate.h"
#include "plan.h"
#include "quality.h"

struct pt_runner_request {
    const struct pt_config *config;
    const struct pt_plan *plan;
    const struct pt_session_dir *dir;
    const char *library;              /* to preload; NULL = tracing is switched off */
    const struct pt_signals *signals; /* caught by the caller before the first file was made */
    bool keep_temp;                   /* leave the temporary configuration, and say where it is */
    pt_u64 stall_ns;                  /* 0 = never: look at a stage when nothing of it has moved for so long */
    /* Look at a stage that runs too long or does not go on; returns why, in one line, until the next call. NULL = none
     * is there; it returns NULL where it has looked too often already, unless somebody asked. The stacks are kept in
     * the run directory. */
    const char *(*look)(void *context, const char *stage, pid_t pid, const char *why, bool is_asked, bool *ret_is_new);
    /* Of one that died and left a core dump: where it died; "" = not known. */
    const char *(*look_at_core)(void *context, const char *stage, pid_t pid, const char *cwd);
    /* The stacks of the last of either, for reports; "" = none. */
    const char *(*stacks)(void *context);
    void *look_context;             /* of these */
    struct pt_launch_reader reader; /* of the trace files of the run */
};

struct pt_runner_result {
    size_t n_failed; /* failed, timed out or interrupted */
    int end_signal;  /* the signal that asked us to end; 0 = none */
    struct {
        PT_VEC(char *);
    } broken_floors; /* a sentence for each */
    bool recorded;   /* run.json is that of the end; false where it could not be written: it shows an earlier state */
};

/* What a stage's record points to. */
struct pt_stage_run {
    char **argv;
    struct pt_sampler *sampler; /* owns the samples of the result */
    struct pt_launch_result result;
    const char *stuck;        /* why it did not go on when it was looked at last; NULL = it was not */
    struct pt_run_left *left; /* with commands of their own */
    pt_u32 n_left;
};

struct pt_runner {
    const struct pt_runner_request *request;
    struct pt_runner_result *result;
    struct pt_status_line status_line;
    struct pt_isolated isolated;
    int logs_fd;
    struct pt_run_info run;    /* as many stages as the plan has */
    struct pt_stage_run *runs; /* the same */
    struct pt_quality_metrics quality;
    int end_signal;
    struct {
        PT_VEC(char *);
    } notes;
    struct pt_str trouble; /* why run.json could not be written, as it was said */
    struct pt_arena arena; /* of texts in records */
};

/* Since the start of the run. */
pt_u64 pt_runner_now_ns(const struct pt_runner *runner);
/* A text that lives as long as the runner. */
__attribute__((format(printf, 2, 3))) const char *pt_runner_format(struct pt_runner *runner, const char *format, ...);
/* A sentence for the reports. */
void pt_runner_note(struct pt_runner *runner, const char *text);
/* Write run.json, as it is now. False when it cannot be written, with a message that is not said each time: that does
 * not stop the pipeline, because the work of the stages matters more. */
bool pt_runner_record(struct pt_runner *runner);

#endif
