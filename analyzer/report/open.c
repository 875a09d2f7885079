/* SPDX-License-Identifier: MIT
 *
 * Owns: the order of opening, analyzing and judging a run. Threads: one. Never: writes a file.
 */
#include "open.h"

#include <string.h>

#include "analysis/analysis.h"
#include "util/auto.h"
#include "util/str.h"

int pt_report_open(const char *path, struct pt_report *report, struct pt_error *err)
{
    return pt_report_open_since(path, 0, report, err);
}

int pt_report_open_since(const char *path, pt_i64 since_ns, struct pt_report *report, struct pt_error *err)
{
    if (pt_run_open(path, &report->run, err) < 0 || (since_ns && pt_run_since(&report->run, since_ns, err) < 0))
        return -1;
    report->profile.session = pt_run_session(&report->run);
    report->profile.run = report->run.info;
    if (pt_analyze(&report->profile, err) < 0)
        return -1;
    pt_judge(&report->profile, &report->findings);
    return 0;
}

void pt_report_close(struct pt_report *report)
{
    pt_findings_free(&report->findings);
    pt_profile_free(&report->profile);
    pt_run_close(&report->run);
}

int pt_report_check_stage(const struct pt_profile *profile, const char *stage, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str names = {0};
    for (size_t i = 0; i < profile->stages.n; i++) {
        if (!stage || !strcmp(stage, profile->stages.items[i].name))
            return 0;
        pt_str_printf(&names, "%s%s", i ? ", " : "", profile->stages.items[i].name);
    }
    if (!stage || !profile->stages.n)
        return 0;
    return pt_fail_code(err, 2, "the run has no stage '%s'; it has: %s", stage, pt_str_text(&names));
}
