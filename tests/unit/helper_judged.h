/* SPDX-License-Identifier: MIT
 *
 * helper_judged.h - a stage of one process that the rules judge by metrics alone.
 */
#ifndef PT_TESTS_HELPER_JUDGED_H
#define PT_TESTS_HELPER_JUDGED_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "analysis/analysis.h"
#include "rules/rule.h"

struct judged_stage {
    struct pt_session session;
    struct pt_process process;
    struct pt_process *processes[1];
    struct pt_profile profile;
    struct pt_findings findings;
};

/* It ran for so long and made a few calls and allocations. */
struct judged_stage *judged_new(double seconds);
void judged_free(struct judged_stage *w);
void judged_set(struct judged_stage *w, const char *metric, double number);
/* Of those that were found; NULL = it is none of them. */
const struct pt_finding *judged_find(const struct judged_stage *w, const char *rule);

#endif
