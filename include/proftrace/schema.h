/* SPDX-License-Identifier: MIT
 *
 * schema.h - the words of events.def: categories, roles and units of events, and why one was not stored.
 *
 * What events.def means in C is split by who needs it: events.h has ids and numbers, payloads.h the structs,
 * schema_text.h the text that makes a trace describe itself. Nothing is written twice: a new event is one row in
 * events.def.
 */
#ifndef PROFTRACE_SCHEMA_H
#define PROFTRACE_SCHEMA_H

#include "types.h"

enum pt_category {
    PT_CATEGORY_HEAP = 1 << 0,
    PT_CATEGORY_MAP = 1 << 1,
    PT_CATEGORY_IO = 1 << 2,
    PT_CATEGORY_META = 1 << 3,
    PT_CATEGORY_STDIO = 1 << 4,
    PT_CATEGORY_PROC = 1 << 5,
    PT_CATEGORY_USER = 1 << 6,
    PT_CATEGORY_WAIT = 1 << 7,
    PT_CATEGORY_NET = 1 << 8,
    PT_CATEGORY_CUDA = 1 << 9,
    PT_CATEGORY_GPU = 1 << 10,
    PT_CATEGORY_CLOCK = 1 << 11,
    PT_CATEGORY_PYTHON = 1 << 12,
};

enum pt_role { PT_ROLE_UNIT, PT_ROLE_SPAN, PT_ROLE_POINT, PT_ROLE_BEGIN, PT_ROLE_END };

enum pt_unit {
#define UNIT_KIND(name, unit_class, doc, ...) PT_UNIT_##name,
#include "units.def"
#undef UNIT_KIND
};

/* How the values of a unit are printed, read back, shown and counted: units.def. */
enum pt_unit_class {
    PT_CLASS_NUMBER,
    PT_CLASS_SIZE,
    PT_CLASS_OPTIONAL,
    PT_CLASS_HEX,
    PT_CLASS_FLAGS,
    PT_CLASS_CONSTANT,
    PT_CLASS_EVENT,
    PT_CLASS_REAL,
    PT_CLASS_STRING,
    PT_CLASS_STACK,
    PT_CLASS_RESULT,
    PT_CLASS_RESULT_BYTES,
/* The class of each unit, by the unit's name. */
#define UNIT_KIND(name, unit_class, doc, ...) PT_CLASS_OF_##name = PT_CLASS_##unit_class,
#include "units.def"
#undef UNIT_KIND
};
#define PT_CLASS_HAS_ERRORS(unit_class) ((unit_class) == PT_CLASS_RESULT || (unit_class) == PT_CLASS_RESULT_BYTES)

enum pt_drop {
#define DROP(name, doc) PT_DROP_##name,
#include "drops.def"
#undef DROP
    PT_DROP__COUNT
};

#endif
