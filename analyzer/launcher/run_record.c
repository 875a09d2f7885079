/* SPDX-License-Identifier: MIT
 *
 * run_record.c - Owns: the form of run.json. Threads: main only. Never: stores an argument unredacted.
 */
#include "run_record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/json/json_stream.h"
#include "util/text/redact.h"
#include "git_head.h"

static void write_command(struct pt_json *json, char *const *argv)
{
    pt_json_array_inline(json, "command");
    for (size_t i = 0; argv && argv[i]; i++) {
        PT_AUTO(pt_freep) char *argument = pt_redact_argument(argv[i], i ? argv[i - 1] : NULL);
        pt_json_text(json, NULL, argument);
    }
    pt_json_end(json);
}

static void write_place(struct pt_json *json)
{
    PT_AUTO(pt_freep) char *cwd = getcwd(NULL, 0);
    char host[256];
    pt_json_text(json, "cwd", cwd);
    pt_json_text(json, "host", gethostname(host, sizeof host - 1) == 0 ? host : NULL);
    char commit[PT_GIT_COMMIT_BYTES];
    pt_json_text(json, "git_commit", pt_git_head(commit) ? commit : NULL);
}

/* As the first stage that knew them tells: they are the same for all. */
static void write_gpus(struct pt_json *json, const struct pt_run_record *record)
{
    const struct pt_samples *samples = NULL;
    for (size_t i = 0; i < record->n_stages && (!samples || !samples->n_gpus); i++)
        if (record->stages[i].result)
            samples = record->stages[i].result->samples;
    pt_json_array_inline(json, "gpus");
    for (size_t i = 0; samples && i < samples->n_gpus; i++)
        pt_json_text(json, NULL, samples->gpus[i]);
    pt_json_end(json);
}

static void write_machine(struct pt_json *json, const struct pt_run_record *record)
{
    const pt_u64 pages = (pt_u64)sysconf(_SC_PHYS_PAGES);
    pt_json_object(json, "machine");
    pt_json_u64(json, "cpus", (pt_u64)sysconf(_SC_NPROCESSORS_ONLN));
    pt_json_u64(json, "memory_bytes", pages * (pt_u64)sysconf(_SC_PAGESIZE));
    write_gpus(json, record);
    pt_json_end(json);
}

static double rounded(double value)
{
    return round(value * 1000) / 1000;
}

static void write_known(struct pt_json *json, const char *key, pt_u64 value, bool known)
{
    if (known)
        pt_json_u64(json, key, value);
    else
        pt_json_null(json, key);
}

/* ---- what was sampled ---- */

static void write_resources(struct pt_json *json, const struct pt_samples *samples)
{
    pt_json_object(json, "resources");
    for (size_t i = 0; i < PT_RESOURCE__COUNT; i++) {
        const struct pt_resource_summary *summary = &samples->summary[i];
        pt_json_object_inline(json, pt_resources[i].id);
        pt_json_f64(json, "max", rounded(summary->max));
        pt_json_f64(json, "mean", rounded(summary->mean));
        pt_json_f64(json, "last", rounded(summary->last));
        if (summary->reason)
            pt_json_text(json, "reason", summary->reason);
        pt_json_end(json);
    }
    pt_json_end(json);
}

/* One array per resource: half the size of one object per sample. */
static void write_samples(struct pt_json *json, const struct pt_samples *samples)
{
    pt_json_object(json, "samples");
    pt_json_array_inline(json, "t_ns");
    for (size_t i = 0; i < samples->n; i++)
        pt_json_u64(json, NULL, samples->list[i].t_ns);
    pt_json_end(json);
    for (size_t resource = 0; resource < PT_RESOURCE__COUNT; resource++) {
        if (isnan(samples->summary[resource].last))
            continue;
        pt_json_array_inline(json, pt_resources[resource].id);
        for (size_t i = 0; i < samples->n; i++)
            pt_json_f64(json, NULL, rounded(samples->list[i].values[resource]));
        pt_json_end(json);
    }
    pt_json_end(json);
}

static void write_result(struct pt_json *json, const struct pt_launch_result *result)
{
    char text[48];
    const struct pt_samples *samples = result->samples;
    const double average = result->duration_ns ? 100.0 * (double)samples->cpu_ns / (double)result->duration_ns : NAN;
    pt_status_text(result->wait_status, text, sizeof text);
    pt_json_u64(json, "pid", (pt_u64)result->pid);
    pt_json_u64(json, "duration_ns", result->duration_ns);
    if (result->how != PT_LAUNCH_ENDED && !result->running)
        pt_json_u64(json, "stop_ns", result->stop_ns);
    pt_json_text(json, "exit", result->running ? NULL : text);
    if (result->running)
        pt_json_null(json, "exit_code");
    else
        pt_json_i64(json, "exit_code", pt_status_exit_code(result->wait_status));
    pt_json_u64(json, "rss_max_bytes", samples->rss_max_bytes);
    pt_json_f64(json, "cpu_percent_avg", rounded(average));
    if (isnan(samples->cpu_percent_max)) /* too short for a sample */
        pt_json_null(json, "cpu_percent_max");
    else
        pt_json_f64(json, "cpu_percent_max", rounded(fmax(samples->cpu_percent_max, average)));
    pt_json_fixed(json, "cpu_s", (pt_i64)(samples->cpu_ns / 1000), 6);
    write_resources(json, samples);
    write_samples(json, samples);
}

static void write_unknown_result(struct pt_json *json)
{
    static const char *const keys[] = {
        "pid", "duration_ns", "exit", "exit_code", "rss_max_bytes", "cpu_percent_avg", "cpu_percent_max", "cpu_s"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        pt_json_null(json, keys[i]);
}

/* ---- stages ---- */

static void write_left(struct pt_json *json, const struct pt_stage_record *stage)
{
    pt_json_array(json, "left_running");
    for (size_t i = 0; i < stage->n_left; i++) {
        pt_json_object_inline(json, NULL);
        pt_json_u64(json, "pid", (pt_u64)stage->left[i].pid);
        pt_json_text(json, "command", stage->left[i].command);
        pt_json_end(json);
    }
    pt_json_end(json);
}

static void write_stage(struct pt_json *json, const struct pt_stage_record *stage)
{
    pt_json_object(json, NULL);
    pt_json_text(json, "stage", stage->stage);
    pt_json_text(json, "status", stage->status);
    pt_json_text(json, "reason", stage->reason);
    write_command(json, stage->argv);
    pt_json_text(json, "cwd", stage->cwd);
    pt_json_text(json, "log", stage->log);
    write_known(json, "start_ns", stage->start_ns, stage->result != NULL);
    if (stage->timeout_ns)
        pt_json_fixed(json, "timeout_s", (pt_i64)(stage->timeout_ns / 1000000), 3);
    else
        pt_json_null(json, "timeout_s");
    if (stage->result)
        write_result(json, stage->result);
    else
        write_unknown_result(json);
    write_left(json, stage);
    pt_json_end(json);
}

/* ---- the run ---- */

static void write_quality(struct pt_json *json, const struct pt_pipeline_record *pipeline)
{
    pt_json_text(json, "quality_file", pipeline->quality_file);
    pt_json_array(json, "quality");
    for (size_t i = 0; i < pipeline->n_quality; i++) {
        const struct pt_quality_record *metric = &pipeline->quality[i];
        pt_json_object_inline(json, NULL);
        pt_json_text(json, "key", metric->key);
        pt_json_f64(json, "value", metric->value);
        pt_json_f64(json, "min", metric->min);
        pt_json_text(json, "reason", metric->reason);
        pt_json_end(json);
    }
    pt_json_end(json);
}

static void write_pipeline(struct pt_json *json, const struct pt_pipeline_record *pipeline)
{
    if (!pipeline) {
        pt_json_null(json, "pipeline");
        return;
    }
    pt_json_object(json, "pipeline");
    pt_json_text(json, "config", pipeline->config);
    pt_json_text(json, "dataset", pipeline->dataset);
    pt_json_u64(json, "train_epochs", pipeline->train_epochs);
    pt_json_object_inline(json, "thresholds");
    pt_json_f64(json, "cpu_percent", pipeline->cpu_percent);
    pt_json_f64(json, "memory_percent", pipeline->memory_percent);
    pt_json_f64(json, "disk_percent", pipeline->disk_percent);
    pt_json_f64(json, "sustained_s", pipeline->sustained_s);
    pt_json_end(json);
    pt_json_f64(json, "carbon_intensity_g_per_kwh", pipeline->carbon_intensity_g_per_kwh);
    write_quality(json, pipeline);
    pt_json_end(json);
}

static void write_untraced(struct pt_json *json, const struct pt_run_record *record)
{
    pt_json_array(json, "untraced");
    for (size_t i = 0; i < record->n_stages; i++) {
        const struct pt_target *target = record->stages[i].target;
        if (!target || target->traced)
            continue;
        pt_json_object_inline(json, NULL);
        pt_json_text(json, "stage", record->stages[i].stage);
        pt_json_text(json, "path", target->binary);
        pt_json_text(json, "reason", target->reason);
        pt_json_end(json);
    }
    pt_json_end(json);
}

static int write_document(FILE *file, const struct pt_session_dir *dir, const struct pt_run_record *record)
{
    PT_AUTO(pt_freep) struct pt_json *json = malloc(sizeof *json);
    if (!json)
        return -1;
    pt_json_init_file(json, file, true);
    pt_json_object(json, NULL);
    pt_json_text(json, "schema_version", "1.0");
    write_place(json);
    pt_json_u64(json, "start_realtime_ns", dir->start_realtime_ns);
    pt_json_u64(json, "start_monotonic_ns", dir->start_monotonic_ns);
    pt_json_u64(json, "interval_ns", record->interval_ns);
    write_known(json, "duration_ns", record->duration_ns, record->duration_ns > 0);
    write_machine(json, record);
    write_pipeline(json, record->pipeline);
    pt_json_array(json, "stages");
    for (size_t i = 0; i < record->n_stages; i++)
        write_stage(json, &record->stages[i]);
    pt_json_end(json);
    write_untraced(json, record);
    pt_json_array(json, "notes");
    for (const char *const *note = record->notes; note && *note; note++)
        pt_json_text(json, NULL, *note);
    pt_json_end(json);
    pt_json_end(json);
    return pt_json_close(json);
}

int pt_run_record_write(const struct pt_session_dir *dir, const struct pt_run_record *record, struct pt_error *err)
{
    static const char temporary[] = "." PT_RUN_RECORD_FILE ".new";
    unlinkat(dir->fd, temporary, 0);
    const int fd = openat(dir->fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return pt_fail(err, "cannot make %s/" PT_RUN_RECORD_FILE ": %s", dir->shown, strerror(errno));
    }
    const int written = write_document(file, dir, record);
    if (fclose(file) != 0 || written < 0 || renameat(dir->fd, temporary, dir->fd, PT_RUN_RECORD_FILE) < 0) {
        const int problem = errno;
        unlinkat(dir->fd, temporary, 0);
        return pt_fail(err, "cannot write %s/" PT_RUN_RECORD_FILE ": %s", dir->shown, strerror(problem));
    }
    return 0;
}
