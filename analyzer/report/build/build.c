/* SPDX-License-Identifier: MIT
 *
 * Owns: the order in which a document is built. Threads: one. Never: computes what an analysis could compute.
 */
#include "build.h"

#include "chart.h"
#include "finding.h"
#include "gpu_chart.h"
#include "minute_chart.h"
#include "process.h"
#include "resources.h"
#include "run.h"
#include "stage.h"
#include "state.h"
#include "verdict.h"

struct pt_doc *pt_report_build(const struct pt_profile *profile, const struct pt_findings *findings,
                               const struct pt_report_options *options)
{
    const struct pt_build b = {profile, findings, options, pt_doc_new()};
    b.doc->profile = profile;
    b.doc->all_findings = findings;
    b.doc->only_stage = options->stage;
    pt_build_head(&b);
    pt_build_stages(&b);
    pt_build_grades(&b);
    pt_build_failures(&b);
    pt_build_findings(&b);
    pt_build_verdict(&b);
    pt_build_charts(&b);
    pt_build_gpu_charts(&b);
    pt_build_minute_charts(&b);
    pt_build_resources(&b);
    pt_build_processes(&b);
    pt_build_trace_quality(&b);
    return b.doc;
}
