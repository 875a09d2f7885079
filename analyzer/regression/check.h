/* SPDX-License-Identifier: MIT
 *
 * check.h - is a run worse than the runs of a baseline?
 */
#ifndef PT_REGRESSION_CHECK_H
#define PT_REGRESSION_CHECK_H

#include <cjson/cJSON.h>

#include "report/doc/doc.h"
#include "judge.h"

enum pt_check_result { PT_CHECK_OK = 0, PT_CHECK_WORSE = 1, PT_CHECK_UNDECIDED = 4 }; /* exit codes */

struct pt_check {
    const cJSON *baseline;
    cJSON **documents; /* of the runs that are checked; several where times are compared */
    size_t n_documents;
    size_t n_repeated; /* runs that were named more than once, and are in `documents` once */
    const char *stage; /* only this one; NULL = all of the first run and of the baseline */
    bool with_times;
    double threshold_percent; /* NAN = the limits of judge.c */
};

struct pt_checked_stage {
    const char *name;
    const char *reason; /* why nothing is told of it; NULL = it is */
    const char *note;   /* what was left out; NULL = nothing */
    struct pt_judged_figures figures;
};

/* What was found. Texts live in its document. */
struct pt_checked {
    struct pt_doc *doc; /* notes; check_doc.h adds the rest */
    enum pt_check_result result;
    bool is_near; /* more runs might say otherwise */
    struct {
        PT_VEC(struct pt_checked_stage);
    } stages;
    struct {
        PT_VEC(const char *);
    } worse, undecided; /* a sentence for each */
};

/* Worse wins over undecided: what is known is said. */
void pt_check(const struct pt_check *check, struct pt_checked *checked);
void pt_checked_fini(struct pt_checked *checked);

#endif
