/* SPDX-License-Identifier: MIT
 *
 * general.h - what is said about parts of the time account that no rule explains.
 */
#ifndef PT_RULES_GENERAL_H
#define PT_RULES_GENERAL_H

#include "finding.h"

/* A part that takes less of its stage needs no words. */
#define PT_LARGE_PART 0.1

enum pt_general_kind { PT_GENERAL_COST, PT_GENERAL_FOLLOWED, PT_GENERAL_NEUTRAL };

/* The rows of general.def; closed by one without id. */
struct pt_general {
    const char *id;
    enum pt_general_kind kind;
    enum pt_time_part part;
    enum pt_place_kind place;
    const char *evidence, *table, *title, *remedy, *advice;
};
extern const struct pt_general pt_generals[];

/* Whether specific findings of the same stage leave a large part of it: then the finding is filled in as far as rules
 * fill it in. */
bool pt_general_fires(struct pt_profile *profile, const struct pt_general *row, const struct pt_findings *findings,
                      struct pt_finding *finding);

/* Whether it is about the same part of the account as a finding of general.def, or subsumes.def names it. */
bool pt_explains(const struct pt_finding *specific, const struct pt_finding *general);

/* Whether a row of subsumes.def says that the specific one tells more about the same seconds. */
bool pt_subsumes(const struct pt_finding *specific, const struct pt_finding *general);

#endif
