/* SPDX-License-Identifier: MIT
 *
 * kinds.h - what totals need to know of each event kind, expanded from events.def.
 */
#ifndef PT_CORE_FILE_KINDS_H
#define PT_CORE_FILE_KINDS_H

#include "core/compiler.h"

struct pt_kind {
    pt_u8 kind_plus_1;  /* 0 = no such kind */
    pt_u8 result_bytes; /* width of the RESULT field, which lies first: 4, 8, or 0 = none */
    pt_u8 counts_bytes; /* the result is bytes moved */
    pt_u8 is_span;
};

extern const struct pt_kind pt_kinds[256] __attribute__((visibility("hidden")));

#endif
