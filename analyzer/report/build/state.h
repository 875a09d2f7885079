/* SPDX-License-Identifier: MIT
 *
 * state.h - what all files of this folder build a document from.
 */
#ifndef PT_REPORT_BUILD_STATE_H
#define PT_REPORT_BUILD_STATE_H

#include <string.h>

#include "report/doc/doc.h"
#include "options.h"

struct pt_build {
    const struct pt_profile *profile;
    const struct pt_findings *findings;
    const struct pt_report_options *options;
    struct pt_doc *doc;
};

static inline bool pt_build_wants(const struct pt_build *b, pt_u32 stage)
{
    return !b->options->stage || !strcmp(b->options->stage, b->profile->stages.items[stage].name);
}

static inline struct pt_value pt_build_metric(const struct pt_build *b, pt_u32 stage, const char *metric)
{
    return pt_metrics_get(&b->profile->metrics, pt_scope_stage(stage), metric);
}

#endif
