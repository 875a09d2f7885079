/* SPDX-License-Identifier: MIT
 *
 * run_info.h - run.json: what the launcher knew about a run and its stages, which no trace file can tell.
 *
 * Absent when the library was preloaded without the launcher. Unknown keys are ignored, absent numbers are NAN, absent
 * texts NULL, so that files of other versions stay readable.
 */
#ifndef PT_RUN_FILE_RUN_INFO_H
#define PT_RUN_FILE_RUN_INFO_H

#include <stdbool.h>

#include "proftrace/schema.h"
#include "util/error.h"
#include "resources.h"

struct cJSON;

/* One resource over a stage. NAN = unknown, with the reason. */
struct pt_run_resource {
    double max, mean, last;
    const char *reason;
    double *samples; /* as many as the stage has; NULL = none */
};

struct pt_run_left {
    double pid;
    const char *command;
};

struct pt_run_stage {
    const char *name, *status, *reason, *exit, *cwd, *log;
    const char **command; /* NULL-terminated */
    double start_ns, duration_ns, timeout_s, exit_code;
    double stop_ns; /* of a stage that was ended: from its command's end until its processes were gone */
    double rss_max_bytes, cpu_percent_avg, cpu_percent_max, cpu_s;
    struct pt_run_resource resources[PT_RESOURCE__COUNT];
    double *sample_t_s; /* since the start of the stage */
    pt_u32 n_samples;
    struct pt_run_left *left; /* processes that outlived the stage */
    pt_u32 n_left;
};

struct pt_run_quality {
    const char *key, *reason;
    double value, min;
};

/* What a pipeline's configuration said; absent for a single command. */
struct pt_run_pipeline {
    const char *config, *dataset, *quality_file;
    double train_epochs;
    double cpu_percent, memory_percent, disk_percent, sustained_s; /* thresholds of alerts */
    double carbon_intensity_g_per_kwh;
    struct pt_run_quality *quality;
    pt_u32 n_quality;
};

struct pt_run_untraced {
    const char *stage, *path, *reason;
};

struct pt_run_info {
    struct cJSON *json; /* owns all texts */
    const char *host, *git_commit;
    double start_realtime_ns, duration_ns, interval_ns;
    double cpus, memory_bytes; /* of the machine */
    bool is_pipeline;
    struct pt_run_pipeline pipeline;
    struct pt_run_stage *stages;
    pt_u32 n_stages;
    struct pt_run_untraced *untraced;
    pt_u32 n_untraced;
    const char **notes; /* NULL-terminated */
};

/* Read <directory>/run.json. 0 = there is none (`run` is NULL) or it was read; -1 = it is there and damaged. */
int pt_run_info_read(const char *directory, struct pt_run_info **ret_run, struct pt_error *err);
void pt_run_info_free(struct pt_run_info *run);

static inline void pt_run_info_freep(struct pt_run_info **run)
{
    pt_run_info_free(*run);
}

#endif
