/* SPDX-License-Identifier: MIT
 *
 * trend.h - since when is a figure another? the history of a baseline, with the runs and commits in which levels began.
 */
#ifndef PT_REGRESSION_TREND_H
#define PT_REGRESSION_TREND_H

#include <cjson/cJSON.h>

#include "report/doc/doc.h"

struct pt_trend {
    const cJSON *baseline;
    const char *stage, *figure; /* only this one; NULL = all */
};

/* The document's verdict is the newest change in one line; each stage has a table of changes, the newest first. */
void pt_trend(const struct pt_trend *trend, struct pt_doc *doc);

#endif
