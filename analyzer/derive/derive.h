/* SPDX-License-Identifier: MIT
 *
 * derive.h - metrics that need no event: from the totals of trace files, from the launcher's samples in run.json, and
 * from other metrics.
 *
 * A derivation is a function `void pt_derive_<name>(struct pt_profile *)` in <name>.c and a row in derivations.def.
 */
#ifndef PT_DERIVE_DERIVE_H
#define PT_DERIVE_DERIVE_H

#include "profile/profile.h"

enum pt_derive_when {
    PT_DERIVE_BEFORE, /* the analyses finish: they may look at its metrics */
    PT_DERIVE_AFTER,  /* they have finished: it looks at theirs */
};

#define DERIVATION(when, name) void pt_derive_##name(struct pt_profile *profile);
#include "derivations.def"
#undef DERIVATION

/* Runs the derivations of that phase, in the order of their rows. The stages are known. */
void pt_derive(struct pt_profile *profile, enum pt_derive_when when);

#endif
