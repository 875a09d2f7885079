/* SPDX-License-Identifier: MIT
 *
 * baseline.h - the figures of earlier runs in one JSON file that lives in git: raw values, one line for each run and
 * stage, the newest first below its stage, so that branches that add runs of different stages merge without a conflict.
 *
 *     {"schema_version": "1.0", "stages": {"train": [{"run": ..., "at_utc": ..., "commit": ..., "host": ..., "cpus": 2,
 *      "tool": "proftrace 0.1.0", "dataset": null, "figures": {"wall_s": 1.25, "read.calls": 1200}}]}}
 *
 * Members that we do not know are kept.
 */
#ifndef PT_REGRESSION_BASELINE_H
#define PT_REGRESSION_BASELINE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "util/error.h"

/* NULL = error: exit code 3 for a damaged file or one of a newer format, 2 where there is none (unless `or_new`: then
 * an empty one). */
cJSON *pt_baseline_read(const char *path, bool or_new, struct pt_error *err);
/* One without runs. */
cJSON *pt_baseline_new(void);
int pt_baseline_write(const char *path, const cJSON *baseline, struct pt_error *err);
static inline void pt_baseline_freep(cJSON **baseline)
{
    cJSON_Delete(*baseline);
}

/* What a stage of a report is in a baseline. -1 with exit code 4: it is not whole (failed, running, lost events): a
 * baseline of such runs would call the next good one a regression, or a bad one good. */
int pt_baseline_entry(const cJSON *document, const cJSON *stage, cJSON **ret_entry, struct pt_error *err);
/* Put it before the others of its stage, and forget those behind the `most` newest. The same run again replaces its
 * line. */
void pt_baseline_add(cJSON *baseline, const char *stage, cJSON *entry, int most);
/* The runs of a stage, the newest first; NULL = none. */
const cJSON *pt_baseline_runs(const cJSON *baseline, const char *stage);

#endif
