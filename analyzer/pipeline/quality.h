/* SPDX-License-Identifier: MIT
 *
 * quality.h - the quality metrics that the last stages leave in a grade report, and their floors.
 */
#ifndef PT_PIPELINE_QUALITY_H
#define PT_PIPELINE_QUALITY_H

#include "config.h"

struct pt_quality_metric {
    const char *key;   /* as reports show it */
    const char *place; /* where it is looked for: the same, or the dotted path that the user gave for it */
    double value;      /* NAN = not known */
    double min;        /* NAN = no floor */
    char *reason;      /* why the value is not known; NULL = it is */
    bool broken;       /* below its floor, or not known although it has one */
};

struct pt_quality {
    PT_VEC(struct pt_quality_metric); /* the document's four keys first, then those that were named */
    size_t broken;                    /* how many; the command exits with 5 when it is not 0 */
};

/* Read the grade report after the last stage. A file older than the start of the run is not of this run. Never fails:
 * what is missing has a reason. Texts of `config` are shared. */
void pt_quality_read(const struct pt_config *config, pt_u64 start_realtime_ns, struct pt_quality *ret_quality);
void pt_quality_fini(struct pt_quality *quality);

/* "precision_proxy is 0.61, below its floor of 0.7", "... is not known, so its floor of 0.7 cannot be checked: REASON".
 */
void pt_quality_describe_broken(const struct pt_quality_metric *metric, struct pt_str *out);

#endif
