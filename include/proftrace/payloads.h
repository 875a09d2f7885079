/* SPDX-License-Identifier: MIT
 *
 * payloads.h - struct pt_ev_<name>: the 16 bytes of a record, or the address and size of a unit.
 */
#ifndef PROFTRACE_PAYLOADS_H
#define PROFTRACE_PAYLOADS_H

#include "events.h"
#include "types.h"

#define AUX(name, unit, doc)
#define TAG(name, unit, doc)
#define FIELD(type, name, unit, doc) pt_##type name;
#define EVENT(id, name, category, role, doc, ...)                                                                      \
    struct pt_ev_##name {                                                                                              \
        __VA_ARGS__                                                                                                    \
    };
#include "events.def"
#undef EVENT
#undef FIELD

/* No hidden bytes: hidden bytes would leak host memory and spoil compression. */
#define FIELD(type, name, unit, doc) +sizeof(pt_##type)
#define EVENT(id, name, category, role, doc, ...)                                                                      \
    _Static_assert((0 __VA_ARGS__) == 16 && sizeof(struct pt_ev_##name) == 16, #name ": fill 16 bytes with PAD");
#include "events.def"
#undef EVENT
#undef FIELD
#undef AUX
#undef TAG

#endif
