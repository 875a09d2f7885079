/* SPDX-License-Identifier: MIT
 *
 * rule.h - judgement: metrics in, findings out, ranked by what could be gained.
 */
#ifndef PT_RULES_RULE_H
#define PT_RULES_RULE_H

#include "finding.h"

/* Try all rules on all stages. Text lives in profile->metrics. */
void pt_judge(struct pt_profile *profile, struct pt_findings *ret_findings);
void pt_findings_free(struct pt_findings *findings);

/* The rules as data, for documentation and tests; closed by a row without id. */
struct pt_rule {
    const char *id;
    enum pt_severity severity;
    enum pt_confidence confidence;
    enum pt_time_part part;
    enum pt_place_kind place;
    const char *metric, *comparison;
    double threshold;
    const char *cost, *evidence, *table, *title, *remedy, *advice;
    bool (*custom)(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding);
};
extern const struct pt_rule pt_rules[];

#endif
