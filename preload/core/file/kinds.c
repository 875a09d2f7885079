/* SPDX-License-Identifier: MIT
 *
 * kinds.c - the table of kinds.h. Constant: any thread reads it, none writes it.
 */
#include "kinds.h"

#include "proftrace/events.h"
#include "proftrace/format.h"

_Static_assert(PT_KIND__COUNT <= PT_TOTALS_ROWS, "totals table too small");

/* Each FIELD adds (result width) + 16 * (bytes width) to one number per event. */
#define WIDTHS(unit_class) (PT_CLASS_HAS_ERRORS(unit_class) + 16 * ((unit_class) == PT_CLASS_RESULT_BYTES))

#define AUX(name, unit, doc)
#define TAG(name, unit, doc)
#define FIELD(type, name, unit, doc) +WIDTHS(PT_CLASS_OF_##unit) * (int)sizeof(pt_##type)
#define EVENT(id, name, category, role, doc, ...)                                                                      \
    [id] = {PT_KIND_##name + 1, (0 __VA_ARGS__) & 15, ((0 __VA_ARGS__) >> 4) != 0, PT_ROLE_##role == PT_ROLE_SPAN},
const struct pt_kind pt_kinds[256] = {
#include "proftrace/events.def"
};
