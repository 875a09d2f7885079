/* SPDX-License-Identifier: MIT
 *
 * judged.c - Owns: what is known of a run while it is exported. One thread. */
#include "judged.h"

#include "analysis/analysis.h"
#include "profile/ends.h"
#include "profile/open.h"

int pt_judged_run_open(struct pt_judged_run *judged, struct pt_session *session, pt_i64 since_ns, struct pt_error *err)
{
    if (pt_run_info_read(session->path, &judged->run, err) < 0)
        return -1;
    if (judged->run) {
        pt_run_find_running(judged->run);
        pt_run_find_ends(judged->run, session);
    }
    struct pt_run run = {.session = session, .info = judged->run};
    if (since_ns && pt_run_since(&run, since_ns, err) < 0)
        return -1;
    judged->profile.session = session;
    judged->profile.run = judged->run;
    if (pt_analyze(&judged->profile, err) < 0)
        return -1;
    pt_judge(&judged->profile, &judged->findings);
    return 0;
}

int pt_judged_run_need_stage(const struct pt_judged_run *judged, const char *stage, struct pt_error *err)
{
    for (pt_u32 i = 0; i < judged->profile.stages.n; i++)
        if (pt_judged_run_wants(judged, stage, i))
            return 0;
    return stage ? pt_fail_code(err, 2, "the run has no stage %s", stage) : 0;
}

void pt_judged_run_close(struct pt_judged_run *judged)
{
    pt_findings_free(&judged->findings);
    pt_profile_free(&judged->profile);
    pt_run_info_free(judged->run);
    pt_arena_fini(&judged->arena);
    *judged = (struct pt_judged_run){0};
}
