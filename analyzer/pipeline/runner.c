/* SPDX-License-Identifier: MIT
 *
 * runner.c - Owns: the order of a pipeline: isolation, stages, quality, the record. Threads: main only. Never: leaves a
 * temporary file behind, writes to stdout.
 *
 * Signals that ask for an end wait in the caller's descriptor from before the first file is made until the last is
 * removed, so that Ctrl-C at any moment ends in a complete record.
 */
#include "runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "launcher/status_line.h"
#include "util/auto.h"
#include "util/text/sanitize.h"
#include "runner_stage.h"

/* ---- the record ---- */

static void note(struct pt_runner *runner, const char *text)
{
    pt_vec_push(&runner->notes, pt_strdup(text));
}

static struct pt_pipeline_record pipeline_record(const struct pt_runner *runner, struct pt_quality_record *quality)
{
    const struct pt_config *config = runner->request->config;
    for (size_t i = 0; i < runner->quality.n; i++) {
        const struct pt_quality_metric *metric = &runner->quality.items[i];
        quality[i] = (struct pt_quality_record){metric->key, metric->value, metric->min, metric->reason};
    }
    return (struct pt_pipeline_record){
        .config = config->absolute,
        .dataset = config->dataset,
        .train_epochs = config->train_epochs,
        .cpu_percent = config->thresholds.cpu_percent,
        .memory_percent = config->thresholds.memory_percent,
        .disk_percent = config->thresholds.disk_percent,
        .sustained_s = config->thresholds.sustained_s,
        .carbon_intensity_g_per_kwh = config->carbon_intensity_g_per_kwh,
        .quality_file = config->quality.file,
        .quality = quality,
        .n_quality = runner->quality.n,
    };
}

/* If we are killed, this is how it stays: a stage without an end has no status, one that was not begun is skipped. */
static void mark_unreached(struct pt_stage_record *stages, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!stages[i].status && !stages[i].argv) {
            stages[i].status = "skipped";
            stages[i].reason = "not reached: proftrace was killed before, or is still running";
        }
}

/* A record that cannot be written must not stop the pipeline: the stages' work is worth more. */
static bool write_record(struct pt_runner *runner, bool ended)
{
    struct pt_error err = {0};
    PT_AUTO(pt_freep) struct pt_quality_record *quality = pt_calloc(runner->quality.n, sizeof *quality);
    PT_AUTO(pt_freep) const char **notes = pt_calloc(runner->notes.n + 1, sizeof *notes);
    for (size_t i = 0; i < runner->notes.n; i++)
        notes[i] = runner->notes.items[i];
    PT_AUTO(pt_freep) struct pt_stage_record *stages = pt_calloc(runner->n_stages, sizeof *stages);
    memcpy(stages, runner->stages, runner->n_stages * sizeof *stages);
    mark_unreached(stages, runner->n_stages);
    const struct pt_pipeline_record pipeline = pipeline_record(runner, quality);
    const struct pt_run_record record = {
        .interval_ns = runner->request->config->interval_ns,
        .duration_ns = ended ? pt_runner_now_ns(runner) : 0,
        .pipeline = &pipeline,
        .stages = stages,
        .n_stages = runner->n_stages,
        .notes = notes,
    };
    if (pt_run_record_write(runner->request->dir, &record, &err) == 0)
        return true;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_sanitize_terminal(&text, err.text);
    fprintf(stderr, "proftrace: %s\n", pt_str_text(&text));
    return false;
}

void pt_runner_record(struct pt_runner *runner)
{
    write_record(runner, false);
}

/* ---- stages ---- */

static void skip(struct pt_stage_record *record, const char *reason)
{
    record->status = "skipped";
    record->reason = reason;
}

/* Why the stages after this one are not run; NULL = they are. */
static const char *why_stop(struct pt_runner *runner, const struct pt_stage_record *record)
{
    struct pt_signals_seen seen;
    pt_signals_read(runner->request->signals, 0, true, &seen);
    if (seen.end_signal && !runner->end_signal)
        runner->end_signal = seen.end_signal;
    if (runner->end_signal)
        return pt_runner_format(runner, "interrupted (SIG%s)", sigabbrev_np(runner->end_signal));
    if (!record || !record->status || !strcmp(record->status, "ok") || !strcmp(record->status, "skipped"))
        return NULL;
    return pt_runner_format(runner, "stage '%s' %s", record->stage,
                            strcmp(record->status, "timeout") ? "failed" : "timed out");
}

static void run_stages(struct pt_runner *runner)
{
    const struct pt_plan *plan = runner->request->plan;
    const char *stop = why_stop(runner, NULL);
    for (size_t i = 0; i < plan->n; i++) {
        struct pt_stage_record *record = &runner->stages[i];
        if (plan->items[i].stage->skip)
            continue; /* as planned: said already */
        if (stop) {
            skip(record, stop);
            continue;
        }
        pt_runner_stage(runner, i);
        runner->result->n_failed += strcmp(record->status, "ok") != 0;
        stop = why_stop(runner, record);
        write_record(runner, false);
    }
}

static void plan_records(struct pt_runner *runner)
{
    const struct pt_plan *plan = runner->request->plan;
    runner->n_stages = plan->n;
    runner->stages = pt_calloc(plan->n, sizeof *runner->stages);
    runner->runs = pt_calloc(plan->n, sizeof *runner->runs);
    for (size_t i = 0; i < plan->n; i++) {
        const struct pt_config_stage *stage = plan->items[i].stage;
        runner->stages[i] = (struct pt_stage_record){
            .stage = stage->name,
            .cwd = stage->cwd,
            .timeout_ns = isnan(stage->timeout_s) ? 0 : (pt_u64)(stage->timeout_s * 1e9),
        };
        if (stage->skip)
            skip(&runner->stages[i], stage->skip);
        else
            runner->stages[i].target = &plan->items[i].target;
    }
}

/* ---- isolation ---- */

static int prepare(struct pt_runner *runner, struct pt_error *err)
{
    const struct pt_runner_request *request = runner->request;
    if (mkdirat(request->dir->fd, "logs", 0700) < 0)
        return pt_fail(err, "cannot make %s/logs: %s", request->dir->shown, strerror(errno));
    runner->logs_fd = openat(request->dir->fd, "logs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (runner->logs_fd < 0)
        return pt_fail(err, "cannot open %s/logs: %s", request->dir->shown, strerror(errno));
    return pt_isolate_create(request->config, &runner->isolated, err);
}

static void remove_temp(struct pt_runner *runner)
{
    struct pt_error err = {0};
    if (!runner->isolated.directory)
        return;
    if (runner->request->keep_temp) {
        pt_isolate_keep(&runner->isolated);
        note(runner,
             pt_runner_format(runner, "the temporary configuration was kept: %s", runner->isolated.config_path));
    } else if (pt_isolate_remove(&runner->isolated, &err) < 0) {
        note(runner, err.text);
    }
}

/* ---- quality ---- */

static void read_quality(struct pt_runner *runner)
{
    pt_quality_read(runner->request->config, runner->request->dir->start_realtime_ns, &runner->quality);
    for (size_t i = 0; i < runner->quality.n; i++) {
        const struct pt_quality_metric *metric = &runner->quality.items[i];
        if (!metric->broken)
            continue;
        PT_AUTO(pt_str_fini) struct pt_str sentence = {0};
        pt_quality_describe_broken(metric, &sentence);
        pt_vec_push(&runner->result->broken_floors, pt_strdup(pt_str_text(&sentence)));
    }
}

/* ---- the whole ---- */

static void runner_fini(struct pt_runner *runner)
{
    pt_status_line_close(&runner->status_line);
    for (size_t i = 0; i < runner->n_stages; i++)
        pt_runner_stage_fini(&runner->runs[i]);
    for (size_t i = 0; i < runner->notes.n; i++)
        free(runner->notes.items[i]);
    free(runner->notes.items);
    free(runner->stages);
    free(runner->runs);
    pt_quality_fini(&runner->quality);
    pt_isolate_fini(&runner->isolated);
    pt_arena_fini(&runner->arena);
    if (runner->logs_fd >= 0)
        close(runner->logs_fd);
}

int pt_pipeline_run(const struct pt_runner_request *request, struct pt_runner_result *ret_result, struct pt_error *err)
{
    struct pt_runner runner = {.request = request, .result = ret_result, .logs_fd = -1};
    *ret_result = (struct pt_runner_result){0};
    plan_records(&runner);
    pt_status_line_open(&runner.status_line);
    const int prepared = prepare(&runner, err);
    if (prepared == 0) {
        write_record(&runner, false);
        run_stages(&runner);
        read_quality(&runner);
    }
    remove_temp(&runner);
    if (prepared == 0)
        ret_result->recorded = write_record(&runner, true);
    ret_result->end_signal = runner.end_signal;
    runner_fini(&runner);
    return prepared;
}

void pt_runner_result_fini(struct pt_runner_result *result)
{
    for (size_t i = 0; i < result->broken_floors.n; i++)
        free(result->broken_floors.items[i]);
    free(result->broken_floors.items);
}
