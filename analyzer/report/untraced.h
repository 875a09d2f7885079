/* SPDX-License-Identifier: MIT
 *
 * untraced.h - programs of a run that could not be traced, each once, with the reason and how often it was started.
 */
#ifndef PT_REPORT_UNTRACED_H
#define PT_REPORT_UNTRACED_H

#include "profile/profile.h"
#include "util/vec.h"

struct pt_untraced_program {
    const char *path, *reason;
    const char *stage;               /* NULL = not known */
    const struct pt_process *parent; /* that started it first; NULL = the launcher saw it */
    pt_i64 at_ns;                    /* when; where it has a parent */
    pt_u32 times;
};

/* Zeroed = empty; items are to be freed. */
struct pt_untraced_list {
    PT_VEC(struct pt_untraced_program);
};

/* Of one stage only, by name; NULL = of all. What only the launcher saw is the command of a stage that began. */
void pt_untraced_list(const struct pt_session *session, const struct pt_run_info *run, const char *stage,
                      struct pt_untraced_list *ret_list);

#endif
