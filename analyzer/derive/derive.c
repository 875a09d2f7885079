/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of derivations. Threads: one. Never: sees an event.
 */
#include "derive.h"

void pt_derive(struct pt_profile *profile, enum pt_derive_when when)
{
    static const struct {
        enum pt_derive_when when;
        void (*run)(struct pt_profile *profile);
    } derivations[] = {
#define DERIVATION(when, name) {PT_DERIVE_##when, pt_derive_##name},
#include "derivations.def"
#undef DERIVATION
    };
    for (size_t i = 0; i < sizeof derivations / sizeof *derivations; i++)
        if (derivations[i].when == when)
            derivations[i].run(profile);
}
