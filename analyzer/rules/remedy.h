/* SPDX-License-Identifier: MIT
 *
 * remedy.h - the first thing to do about a finding, in the programs that were seen.
 */
#ifndef PT_RULES_REMEDY_H
#define PT_RULES_REMEDY_H

#include "finding.h"

enum pt_seen {
    PT_SEEN_STACK,
    PT_SEEN_CPU,
    PT_SEEN_LOADED,
    PT_SEEN_OBJECT,
    PT_SEEN_MOSTLY,
    PT_SEEN_REREAD,
    PT_SEEN_DATA_SET
};

/* The rows of remedies.def; closed by one without rules. */
struct pt_remedy {
    enum pt_seen seen;
    const char *patterns, *rules, *remedy;
};
extern const struct pt_remedy pt_remedies[];

/* The remedy of the first row that fits, with what was measured in place of N; NULL = none does. ret_share: of the
 * finding's own stacks those that the row names; 1 where it goes by something else. */
const char *pt_remedy_of(struct pt_profile *profile, const struct pt_finding *finding, double *ret_share);

/* A remedy or an advice that asks for the first workers of a loader, with what it takes where they would all give the
 * same samples. */
const char *pt_in_words_of_data_set(struct pt_profile *profile, const struct pt_finding *finding, const char *text);

/* A remedy or an advice with the options of the trainer that runs in the finding's stage: trainers.def. */
const char *pt_in_words_of_trainer(struct pt_profile *profile, const struct pt_finding *finding, const char *text);

#endif
