/* SPDX-License-Identifier: MIT
 *
 * run_record.h - run.json: what the launcher knows about a run and each of its stages. Unknown is null.
 *
 * The command of `proftrace run` is a run of one stage. Read by run_file/run_info.c.
 */
#ifndef PT_LAUNCHER_RUN_RECORD_H
#define PT_LAUNCHER_RUN_RECORD_H

#include "launch.h"
#include "session_dir.h"
#include "target.h"

#define PT_RUN_RECORD_FILE "run.json"

/* A process that was still running when its stage ended. */
struct pt_left_record {
    pid_t pid;
    char *command;
};

struct pt_stage_record {
    const char *stage;
    const char *status; /* ok, failed, skipped, timeout; NULL = still running or not reached */
    const char *reason; /* why it is not ok */
    char **argv;        /* NULL = it has no command */
    const char *cwd, *log;
    const struct pt_target *target;        /* NULL = was not looked at */
    const struct pt_launch_result *result; /* NULL = it never began */
    pt_u64 start_ns;                       /* since the start of the run */
    pt_u64 timeout_ns;                     /* 0 = none */
    const struct pt_left_record *left;
    size_t n_left;
};

/* A quality metric of the pipeline; NAN = unknown, or without a floor. */
struct pt_quality_record {
    const char *key;
    double value, min;
    const char *reason;
};

/* What only a pipeline has; see pipeline/config.h. */
struct pt_pipeline_record {
    const char *config, *dataset;
    pt_u64 train_epochs;
    double cpu_percent, memory_percent, disk_percent, sustained_s; /* thresholds of alerts */
    double carbon_intensity_g_per_kwh;                             /* NAN = not given */
    const char *quality_file;
    const struct pt_quality_record *quality;
    size_t n_quality;
};

struct pt_run_record {
    pt_u64 interval_ns;
    pt_u64 duration_ns;                        /* 0 = it has not ended yet */
    const struct pt_pipeline_record *pipeline; /* NULL = a single command */
    const struct pt_stage_record *stages;
    size_t n_stages;
    const char *const *notes; /* NULL-terminated; NULL = none */
};

/* Replaces the file at once: a reader sees the old one or the new one, whole. */
int pt_run_record_write(const struct pt_session_dir *dir, const struct pt_run_record *record, struct pt_error *err);

#endif
