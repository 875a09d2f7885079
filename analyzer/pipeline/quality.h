/* SPDX-License-Identifier: MIT
 *
 * quality.h - the quality metrics that the last stages leave in a grade report, and their floors.
 */
#ifndef PT_PIPELINE_QUALITY_H
#define PT_PIPELINE_QUALITY_H

#include "run_file/run_file.h"
#include "util/arena.h"
#include "config.h"

struct pt_quality_metrics {
    PT_VEC(struct pt_run_quality); /* the document's four keys first, then those that were named */
    const char *file;              /* that was read; NULL = none was */
    struct pt_arena texts;
};

/* Read the grade report that the configuration names, after the last stage. A file older than the start of the run is
 * not of this run. Never fails: what is missing has a reason. Texts of `config` are shared. */
void pt_quality_read(const struct pt_config *config, pt_u64 start_realtime_ns, struct pt_quality_metrics *ret_quality);

/* The JSON files that the stages wrote, as far as known. */
struct pt_written_files {
    const char *const *paths; /* absolute; the one that was written last first; some may be gone */
    size_t n;
    const char *unseen; /* why there may be others that were not seen; NULL = there are none */
};

/* The same where the configuration names none: the report is one of the files that were written. */
void pt_quality_search(const struct pt_config *config, pt_u64 start_realtime_ns, const struct pt_written_files *written,
                       struct pt_quality_metrics *ret_quality);
void pt_quality_fini(struct pt_quality_metrics *quality);

/* Below its floor, or not known although it has one: the command exits with 5. */
bool pt_quality_is_broken(const struct pt_run_quality *metric);
/* "precision_proxy is 0.61, below its floor of 0.7", "... is not known, so its floor of 0.7 cannot be checked: REASON".
 */
void pt_quality_describe_broken(const struct pt_run_quality *metric, struct pt_str *out);

#endif
