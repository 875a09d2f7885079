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

#include "../util/auto.h"
#include "../util/json_stream.h"
#include "../util/redact.h"

static void write_command(struct pt_json *json, char *const *argv)
{
    pt_json_array_inline(json, "command");
    for (size_t i = 0; argv[i]; i++) {
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
}

static double rounded(double percent)
{
    return round(percent * 100) / 100;
}

static void write_samples(struct pt_json *json, const struct pt_samples *samples)
{
    pt_json_array(json, "samples");
    for (size_t i = 0; i < samples->n; i++) {
        const struct pt_sample *sample = &samples->list[i];
        pt_json_object_inline(json, NULL);
        pt_json_u64(json, "t_ns", sample->t_ns);
        pt_json_f64(json, "cpu_percent", rounded(sample->cpu_percent));
        pt_json_u64(json, "rss_bytes", sample->rss_bytes);
        if (sample->pss_bytes == PT_PSS_UNKNOWN)
            pt_json_null(json, "pss_bytes");
        else
            pt_json_u64(json, "pss_bytes", sample->pss_bytes);
        pt_json_u64(json, "processes", sample->processes);
        pt_json_u64(json, "threads", sample->threads);
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
    pt_json_text(json, "exit", text);
    pt_json_i64(json, "exit_code", pt_status_exit_code(result->wait_status));
    pt_json_u64(json, "rss_max_bytes", samples->rss_max_bytes);
    pt_json_f64(json, "cpu_percent_avg", rounded(average));
    if (samples->cpu_percent_max < 0) /* too short for a sample */
        pt_json_null(json, "cpu_percent_max");
    else
        pt_json_f64(json, "cpu_percent_max", rounded(fmax(samples->cpu_percent_max, average)));
    pt_json_fixed(json, "cpu_s", (pt_i64)(samples->cpu_ns / 1000), 6);
    write_samples(json, samples);
}

static void write_unknown_result(struct pt_json *json)
{
    static const char *const keys[] = {
        "pid", "duration_ns", "exit", "exit_code", "rss_max_bytes", "cpu_percent_avg", "cpu_percent_max", "cpu_s"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        pt_json_null(json, keys[i]);
    pt_json_array(json, "samples");
    pt_json_end(json);
}

static void write_trust(struct pt_json *json, const struct pt_run_record *record)
{
    pt_json_array(json, "untraced");
    if (!record->target->traced) {
        pt_json_object_inline(json, NULL);
        pt_json_text(json, "path", record->target->binary);
        pt_json_text(json, "reason", record->target->reason);
        pt_json_end(json);
    }
    pt_json_end(json);
    pt_json_array(json, "notes");
    for (const char *const *note = record->notes; note && *note; note++)
        pt_json_text(json, NULL, *note);
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
    write_command(json, record->argv);
    pt_json_text(json, "stage", record->stage);
    write_place(json);
    pt_json_u64(json, "start_realtime_ns", dir->start_realtime_ns);
    pt_json_u64(json, "start_monotonic_ns", dir->start_monotonic_ns);
    pt_json_u64(json, "interval_ns", record->interval_ns);
    if (record->result)
        write_result(json, record->result);
    else
        write_unknown_result(json);
    write_trust(json, record);
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
