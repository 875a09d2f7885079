/* SPDX-License-Identifier: MIT
 *
 * judged.h - the run analyzed and judged, as reports have it: for exports whose numbers are to be theirs.
 */
#ifndef PT_EXPORT_JUDGED_H
#define PT_EXPORT_JUDGED_H

#include "rules/rule.h"
#include "run_file/read.h"
#include "util/arena.h"

/* Zeroed = closed. */
struct pt_judged_run {
    struct pt_run_info *run; /* NULL = no launcher */
    struct pt_profile profile;
    struct pt_findings findings;
    struct pt_arena arena; /* of texts that are put together from it */
};

/* Reads all events of the last `since_ns` of the run; 0 = of all of it. Close it whatever the result. */
int pt_judged_run_open(struct pt_judged_run *judged, struct pt_session *session, pt_i64 since_ns, struct pt_error *err);
void pt_judged_run_close(struct pt_judged_run *judged);

/* A stage that there is not is an error: figures without it would say that all is well. */
int pt_judged_run_need_stage(const struct pt_judged_run *judged, const char *stage, struct pt_error *err);

static inline bool pt_judged_run_wants(const struct pt_judged_run *judged, const char *stage, pt_u32 index)
{
    return !stage || !strcmp(stage, judged->profile.stages.items[index].name);
}

#endif
