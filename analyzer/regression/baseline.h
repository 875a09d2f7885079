/* SPDX-License-Identifier: MIT
 *
 * baseline.h - the figures of earlier runs in one JSON file that lives in git: raw values, one line for each run and
 * stage. A line's place follows from its run alone: the file has 256 lines that are always there ("00" to "ff"), and a
 * run stands before the one that its name and time hash to. So branches that add runs change different places, and git
 * merges them; with `merge=union` in .gitattributes it does so even where two runs share a place, because every line of
 * a run ends with a comma.
 *
 *     {"schema_version": "2.0", "runs": [
 *     "00",
 *     {"stage": "train", "run": ..., "at_utc": ..., "commit": ..., "host": ..., "cpus": 2, "tool": "proftrace 0.1.0",
 *      "dataset": null, "untraced": 0, "figures": {"wall_s": 1.25, "read.calls": 1200}, "unknown": {}},
 *     "01", ... "ff"]}
 *
 * In memory it is {"schema_version", "stages": {"train": [entry, ...]}}, the newest run first, which is also what files
 * of format 1 look like. Members that we do not know are kept.
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
/* Put it among the others of its stage, and forget those behind the `most` newest (0 = none). The same run again
 * replaces its line. */
void pt_baseline_add(cJSON *baseline, const char *stage, cJSON *entry, int most);
/* The runs of a stage, the newest first; NULL = none. */
const cJSON *pt_baseline_runs(const cJSON *baseline, const char *stage);

#endif
