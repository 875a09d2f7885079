/* SPDX-License-Identifier: MIT
 *
 * schema.h - what events.def means in C: ids, payload structs, dense rows, and the text that makes a trace describe
 * itself.
 *
 * Both halves include it. Nothing here is written twice: a new event is one row in events.def.
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

/* Event ids: one byte, as stored in each record. */
enum pt_event_id {
#define EVENT(id, name, category, role, doc, ...) PT_EV_##name = (id),
#include "events.def"
#undef EVENT
};

/* Dense row numbers: the index of a kind in tables of totals. Appending to events.def keeps them stable. */
enum pt_event_row {
#define EVENT(id, name, category, role, doc, ...) PT_ROW_##name,
#include "events.def"
#undef EVENT
    PT_ROW__COUNT
};

/* Payload structs: the 16 bytes of a record, or the address and size of a unit. */
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

/* The schema as text, stored in every trace file so that any analyzer can read any trace:
 *   event <id> <name> <CATEGORY> <ROLE>\n  followed by its fields, "  aux|tag|<type> <name> <UNIT>\n". */
#define AUX(name, unit, doc) "  aux " #name " " #unit "\n"
#define TAG(name, unit, doc) "  tag " #name " " #unit "\n"
#define FIELD(type, name, unit, doc) "  " #type " " #name " " #unit "\n"
#define EVENT(id, name, category, role, doc, ...) "event " #id " " #name " " #category " " #role "\n" __VA_ARGS__
static const char pt_schema_text[] =
#include "events.def"
    ;
#undef EVENT
#undef FIELD
#undef AUX
#undef TAG

#endif
