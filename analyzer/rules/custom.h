/* SPDX-License-Identifier: MIT
 *
 * custom.h - the rules that are judged by code: a function in a custom*.c for each RULE_CUSTOM of rules.def.
 *
 * True = fires; the finding holds what the row says and is completed there. stage -1: the run has no stage.
 */
#ifndef PT_RULES_CUSTOM_H
#define PT_RULES_CUSTOM_H

#include "finding.h"

#define RULE(...)
#define RULE_CUSTOM(id, ...) bool pt_rule_##id(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding);
#include "rules.def"
#undef RULE
#undef RULE_CUSTOM

#endif
