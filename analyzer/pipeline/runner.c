/* SPDX-License-Identifier: MIT
 *
 * runner.c - Owns: the order of a pipeline: isolation, stages, quality, the record. Threads: main only. Never: leaves a
 * temporary file behind, writes to stdout.
 *
 * Signals that ask for an end are kept in the caller's descriptor from before the first file is made until the last is
 * removed, so that Ctrl-C at any time leaves a complete record.
 */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_file/write.h"
#include "pipeline/config_keys.h"
#include "util/auto.h"
#include "util/mem.h"
#include "runner_stage.h"
#include "util/text/posix_names.h"

/* ---- stages ---- */

static void skip(struct pt_run_stage *stage, const char *reason)
{
    stage->status = "skipped";
    stage->reason = reason;
}

/* Why the stages after this one are not run; NULL = they are. */
static const char *why_stop(struct pt_runner *runner, const struct pt_run_stage *stage)
{
    struct pt_signals_seen seen;
    pt_signals_read(runner->request->signals, 0, true, &seen);
    if (seen.end_signal && !runner->end_signal)
        runner->end_signal = seen.end_signal;
    if (runner->end_signal)
        return pt_runner_format(runner, "interrupted (SIG%s)", pt_signal_name(runner->end_signal));
    if (!stage || !strcmp(stage->status, "ok"))
        return NULL;
    return pt_runner_format(runner, "stage '%s' %s", stage->name,
                            strcmp(stage->status, "timeout") ? "failed" : "timed out");
}

static void run_stages(struct pt_runner *runner)
{
    const struct pt_plan *plan = runner->request->plan;
    const char *stop = why_stop(runner, NULL);
    for (size_t i = 0; i < plan->n; i++) {
        struct pt_run_stage *stage = &runner->run.stages[i];
        if (plan->items[i].stage->skip)
            continue; /* as planned: said already */
        if (stop) {
            skip(stage, stop);
            continue;
        }
        pt_runner_stage(runner, i);
        runner->result->n_failed += strcmp(stage->status, "ok") != 0;
        stop = why_stop(runner, stage);
        pt_runner_record(runner);
    }
}

/* If we are killed, the file stays as it is now: a stage that has not ended has no status, one that was not begun is
 * skipped. */
static void plan_stage(struct pt_runner *runner, const struct pt_planned *planned)
{
    struct pt_run_info *run = &runner->run;
    struct pt_run_stage *stage = &run->stages[run->n_stages++];
    const double timeout_s = planned->stage->timeout_s;
    pt_run_stage_forget(stage);
    stage->name = planned->stage->name;
    stage->cwd = planned->stage->cwd;
    if (!isnan(timeout_s))
        stage->timeout_s = trunc(trunc(timeout_s * 1e9) / 1e6) / 1000; /* whole milliseconds */
    skip(stage,
         planned->stage->skip ? planned->stage->skip : "not reached: proftrace was killed before, or is still running");
}

/* Whether the data set and the epochs are of this run: the defaults are those of the shipped pipeline. */
static bool is_passed_on(const struct pt_config *config, const struct pt_plan *plan)
{
    if (strcmp(config->dataset, pt_config_key(PT_CONFIG_PROFILE, "dataset")->fallback) ||
        config->train_epochs != strtoull(pt_config_key(PT_CONFIG_PROFILE, "train_epochs")->fallback, NULL, 10))
        return true;
    for (size_t i = 0; i < plan->n; i++)
        for (const char *const *word = plan->items[i].stage->command; word && *word; word++)
            if (strstr(*word, "{config}") || strstr(*word, "{dataset}") || strstr(*word, "{epochs}"))
                return true;
    return false;
}

static void plan_run(struct pt_runner *runner)
{
    const struct pt_config *config = runner->request->config;
    const struct pt_plan *plan = runner->request->plan;
    struct pt_run_info *run = &runner->run;
    pt_run_forget(run);
    run->interval_ns = (double)config->interval_ns;
    run->is_pipeline = true;
    run->pipeline.config = config->absolute;
    run->pipeline.dataset = config->dataset;
    run->pipeline.train_epochs = (double)config->train_epochs;
    run->pipeline.not_passed_on =
        is_passed_on(config, plan) ? NULL : "no stage's command names {config}, {dataset} or {epochs}";
    run->pipeline.thresholds = config->thresholds;
    run->pipeline.carbon_intensity_g_per_kwh = config->carbon_intensity_g_per_kwh;
    run->pipeline.quality_file = config->quality.file;
    run->stages = pt_calloc(plan->n, sizeof *run->stages);
    run->untraced = pt_calloc(plan->n, sizeof *run->untraced);
    runner->runs = pt_calloc(plan->n, sizeof *runner->runs);
    for (size_t i = 0; i < plan->n; i++)
        plan_stage(runner, &plan->items[i]);
}

/* ---- isolation ---- */

static int prepare(struct pt_runner *runner, struct pt_error *err)
{
    const struct pt_runner_request *request = runner->request;
    runner->logs_fd = pt_session_dir_logs(request->dir, err);
    if (runner->logs_fd < 0)
        return -1;
    return pt_isolate_create(request->config, &runner->isolated, err);
}

static void remove_temp(struct pt_runner *runner)
{
    struct pt_error err = {0};
    if (!runner->isolated.directory)
        return;
    if (runner->request->keep_temp) {
        pt_isolate_keep(&runner->isolated);
        pt_runner_note(
            runner, pt_runner_format(runner, "the temporary configuration was kept: %s", runner->isolated.config_path));
    } else if (pt_isolate_remove(&runner->isolated, &err) < 0) {
        pt_runner_note(runner, err.text);
    }
}

/* ---- quality ---- */

static void forget_floors(struct pt_runner_result *result)
{
    for (size_t i = 0; i < result->broken_floors.n; i++)
        free(result->broken_floors.items[i]);
    free(result->broken_floors.items);
    result->broken_floors.items = NULL;
    result->broken_floors.n = result->broken_floors.capacity = 0;
}

void pt_runner_judge(struct pt_runner_result *result, const struct pt_quality_metrics *quality)
{
    forget_floors(result);
    for (size_t i = 0; i < quality->n; i++) {
        if (!pt_quality_is_broken(&quality->items[i]))
            continue;
        PT_AUTO(pt_str_fini) struct pt_str sentence = {0};
        pt_quality_describe_broken(&quality->items[i], &sentence);
        pt_vec_push(&result->broken_floors, pt_strdup(pt_str_text(&sentence)));
    }
}

static void read_quality(struct pt_runner *runner)
{
    struct pt_quality_metrics *quality = &runner->quality;
    struct pt_run_pipeline *pipeline = &runner->run.pipeline;
    pt_quality_read(runner->request->config, runner->request->dir->start_realtime_ns, quality);
    pt_runner_judge(runner->result, quality);
    pipeline->quality = quality->items;
    pipeline->n_quality = (pt_u32)quality->n;
    pipeline->quality_read_from = quality->file;
}

/* ---- the whole ---- */

static void runner_fini(struct pt_runner *runner)
{
    pt_status_line_close(&runner->status_line);
    for (pt_u32 i = 0; i < runner->run.n_stages; i++)
        pt_runner_stage_fini(&runner->runs[i]);
    for (size_t i = 0; i < runner->notes.n; i++)
        free(runner->notes.items[i]);
    free(runner->notes.items);
    free(runner->run.stages);
    free(runner->run.untraced);
    free(runner->runs);
    pt_quality_fini(&runner->quality);
    pt_isolate_fini(&runner->isolated);
    pt_arena_fini(&runner->arena);
    pt_str_fini(&runner->trouble);
    if (runner->logs_fd >= 0)
        close(runner->logs_fd);
}

int pt_pipeline_run(const struct pt_runner_request *request, struct pt_runner_result *ret_result, struct pt_error *err)
{
    struct pt_runner runner = {.request = request, .result = ret_result, .logs_fd = -1};
    *ret_result = (struct pt_runner_result){0};
    plan_run(&runner);
    pt_status_line_open(&runner.status_line);
    const int prepared = prepare(&runner, err);
    if (prepared == 0) {
        pt_runner_record(&runner);
        run_stages(&runner);
        read_quality(&runner);
    }
    remove_temp(&runner);
    if (prepared == 0) {
        runner.run.duration_ns = (double)pt_runner_now_ns(&runner);
        ret_result->recorded = pt_runner_record(&runner);
    }
    ret_result->end_signal = runner.end_signal;
    runner_fini(&runner);
    return prepared;
}

void pt_runner_result_fini(struct pt_runner_result *result)
{
    forget_floors(result);
}
