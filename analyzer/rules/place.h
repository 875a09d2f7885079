/* SPDX-License-Identifier: MIT
 *
 * place.h - where in the program's code a finding lies.
 */
#ifndef PT_RULES_PLACE_H
#define PT_RULES_PLACE_H

#include "finding.h"

/* Its texts live in profile->metrics. */
struct pt_place pt_place_of(struct pt_profile *profile, const struct pt_finding *finding);

#endif
