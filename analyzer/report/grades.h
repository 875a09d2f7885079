/* SPDX-License-Identifier: MIT
 *
 * grades.h - the quality that a pipeline reached: the four well-known metrics always, then those that its
 * configuration names.
 */
#ifndef PT_REPORT_GRADES_H
#define PT_REPORT_GRADES_H

#include "profile/profile.h"
#include "util/vec.h"

struct pt_grade {
    const char *key, *label;
    struct pt_value value;
    double min;    /* the floor; NAN = none */
    bool is_grade; /* of 100 */
};

/* Zeroed = empty; items are to be freed. */
struct pt_grade_list {
    PT_VEC(struct pt_grade);
};

void pt_grade_list(const struct pt_profile *profile, struct pt_grade_list *ret_list);
/* A broken floor: an unknown value breaks it, too. */
bool pt_grade_is_broken(const struct pt_grade *grade);
/* The file that they were read from, as seen from where the pipeline ran; NULL = none was. */
const char *pt_grade_source(const struct pt_profile *profile);
/* Whether any value is known, or should be: only then they are shown. */
bool pt_grades_are_wanted(const struct pt_profile *profile);

#endif
