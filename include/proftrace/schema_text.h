/* SPDX-License-Identifier: MIT
 *
 * schema_text.h - the schema as text, stored in every trace file so that any analyzer can read any trace:
 *
 *   event <id> <name> <CATEGORY> <ROLE>\n  followed by its fields, "  aux|tag|<type> <name> <UNIT>\n".
 */
#ifndef PROFTRACE_SCHEMA_TEXT_H
#define PROFTRACE_SCHEMA_TEXT_H

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
