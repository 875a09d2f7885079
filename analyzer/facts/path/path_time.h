/* SPDX-License-Identifier: MIT
 *
 * path/path_time.h - what the critical path of each stage did in its recorded calls, by part of the time account.
 *
 * What others do beside the path costs the stage no more than the path waits. Both come from the same events: where a
 * ring has lost some, it has lost them of both.
 */
#ifndef PT_FACTS_PATH_PATH_TIME_H
#define PT_FACTS_PATH_PATH_TIME_H

#include "facts/state.h"
#include "facts/wait_kind.h"

struct pt_path_times {
    struct pt_path_time {
        double ns[PT_PART__COUNT];
    } * stages;
    pt_i64 *last_ns; /* by process: when the last call ended that it made as the path; 0 = none */
};

struct pt_path_times *pt_path_times_open(const struct pt_profile *profile);
void pt_path_times_close(struct pt_path_times *times);

/* The current event is a call. */
void pt_path_time_call(struct pt_facts *facts, const struct pt_event *event);
/* How long the path was in `parts` (1 << enum pt_time_part), and what the stage lasted beyond it. Who was killed may
 * have been in a call, which was not recorded. INFINITY = not known: it has no path, or waits were not recorded. After
 * the last event. */
double pt_path_time_s(const struct pt_facts *facts, pt_u32 stage, pt_u32 parts);

#endif
