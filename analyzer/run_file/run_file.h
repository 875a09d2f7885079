/* SPDX-License-Identifier: MIT
 *
 * run_file.h - run.json: what only the launcher knows about a run and each of its stages; no trace file has it. The
 * launcher fills this and write.h writes it; read.h gives it back. The command of `proftrace run` is a run of one
 * stage.
 *
 * Unknown numbers are NAN, unknown texts NULL. Its keys are in run_file.def.
 */
#ifndef PT_RUN_FILE_RUN_FILE_H
#define PT_RUN_FILE_RUN_FILE_H

#include <stdbool.h>

#include "proftrace/schema.h"
#include "resources.h"

#define PT_RUN_FILE "run.json"

enum { PT_RUN_STUCK_LINES = 40 }; /* of its stacks */
enum { PT_RUN_MOST_CPUS = 8192 }; /* of a machine: Linux can be built for no more */
/* What the launcher keeps, and no reader has to read more: a file of more takes a hundred times its size in memory. */
enum {
    PT_RUN_MOST_STAGES = 1000,
    PT_RUN_STAGE_SAMPLES = 8192,                     /* of one stage; a stage of more than an hour has as many */
    PT_RUN_MOST_SAMPLES = 12 * PT_RUN_STAGE_SAMPLES, /* of all stages */
};

/* One resource over a stage, with the reason why it is unknown, or not quite what its name says. Totals have no mean.
 */
struct pt_run_resource {
    double max, mean, last;
    const char *reason;
    double *samples; /* as many as the stage has; NULL = none */
};

/* A process that was still running when its stage ended. */
struct pt_run_left {
    double pid;
    const char *command;
};

struct pt_run_stage {
    const char *name;
    const char *status; /* ok, failed, skipped, timeout; NULL = still running */
    const char *reason; /* why it is not ok */
    const char *stuck;  /* why it did not go on, when it was looked at last; NULL = it was not */
    const char *stacks; /* of that look, or of its core dump: equal ones once, a line each; NULL = none were taken */
    const char *exit;   /* "exit 0", "signal 9 (SIGKILL)" */
    const char *cwd, *log;
    const char **command; /* NULL-terminated; NULL = none */
    bool is_running;      /* its command is alive now; in no file: who opens the run finds out */
    double start_ns;      /* since the start of the run */
    double pid;           /* unknown = it never began */
    double duration_ns, timeout_s, exit_code;
    double stop_ns; /* of a stage that was ended: from its command's end until its processes were gone */
    double rss_max_bytes, cpu_percent_avg, cpu_percent_max, cpu_s;
    struct pt_run_resource resources[PT_RESOURCE__COUNT];
    double *sample_t_s; /* since the start of the stage */
    pt_u32 n_samples;
    struct pt_run_left *left; /* processes that outlived the stage */
    pt_u32 n_left;
};

/* A quality metric of a pipeline, and its floor. */
struct pt_run_quality {
    const char *key;
    double value, min;
    const char *reason; /* why the value is not known */
};

/* The thresholds above which the use of a resource becomes a finding. */
struct pt_run_thresholds {
    double cpu_percent, memory_percent, disk_percent, sustained_s;
    double memory_growth_mb; /* NAN = none */
};

/* What a pipeline's configuration said; absent for a single command. */
struct pt_run_pipeline {
    const char *config, *dataset, *quality_file;
    const char *quality_read_from; /* the grade report that gave the values; NULL = none was read */
    double train_epochs;
    const char *not_passed_on; /* why no stage knows the data set and the epochs; NULL = a stage does */
    struct pt_run_thresholds thresholds;
    double carbon_intensity_g_per_kwh;
    struct pt_run_quality *quality;
    pt_u32 n_quality;
};

struct pt_run_untraced {
    const char *stage, *path, *reason;
};

/* Who writes the file, so that it is known whether the run goes on. */
struct pt_run_launcher {
    double pid, start_ticks; /* as /proc/<pid>/stat has it */
    const char *boot_id, *pid_namespace;
};

struct pt_run_info {
    struct cJSON *json; /* of one that was read: owns all texts */
    const char *cwd, *host, *git_commit;
    pt_u64 start_realtime_ns, start_monotonic_ns; /* more digits than a double has; 0 = unknown */
    pt_u64 written_realtime_ns;                   /* 0 = by a version that did not note it */
    pt_u64 changed_realtime_ns; /* of one that was read: its mtime, of a copy often when it was copied; in no file */
    struct pt_run_launcher launcher;
    bool is_running;   /* its launcher is at work now; in no file: who opens the run finds out */
    bool is_elsewhere; /* ... where it cannot be seen, as in a container: then run.json is new */
    double interval_ns;
    double duration_ns;        /* unknown = it has not ended yet */
    double cpus, memory_bytes; /* of the machine */
    double cpus_usable;        /* of these, how many the job may use at once: affinity, quotas */
    const char **gpus;         /* NULL-terminated, as all lists of texts here */
    bool is_pipeline;
    struct pt_run_pipeline pipeline;
    struct pt_run_stage *stages;
    pt_u32 n_stages;
    struct pt_run_untraced *untraced;
    pt_u32 n_untraced;
    const char **notes;
};

#endif
