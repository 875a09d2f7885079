/* SPDX-License-Identifier: MIT
 *
 * run_info.h - run.json: what the launcher knew about a run, which no trace file can tell.
 *
 * Absent when the library was preloaded without the launcher. Unknown keys are ignored, absent numbers are NAN, absent
 * texts NULL, so that files of other versions stay readable.
 */
#ifndef PT_MODEL_RUN_INFO_H
#define PT_MODEL_RUN_INFO_H

#include "../util/error.h"
#include "proftrace/schema.h"

struct cJSON;

struct pt_run_sample {
    double t_s, cpu_percent, rss_bytes, pss_bytes, processes;
};

struct pt_run_untraced {
    const char *path, *reason;
};

struct pt_run_info {
    struct cJSON *json;   /* owns all texts */
    const char **command; /* NULL-terminated */
    const char *stage, *exit;
    double start_realtime_ns, duration_ns, exit_code;
    double rss_max_bytes, cpu_percent_avg, cpu_percent_max, cpu_s;
    struct pt_run_sample *samples;
    pt_u32 n_samples;
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
