/* SPDX-License-Identifier: MIT
 *
 * field_value.c - Owns: the names of constants that units.def gives. Immutable; any thread. Never: looks up strings or
 * stacks, which only the event's process has.
 */
#include "field_value.h"

#include <string.h>

#include "proftrace/phases.h"
#include "util/text/posix_names.h"

/* The empty entry at the end: C has no empty array, and a unit may have no names. */
#define NAME(name, bits) {#name, (bits), (bits)},
#define UNSET(name, bits) {#name, (bits), 0},
#define UNIT_KIND(name, unit_class, doc, ...) static const struct pt_constant names_of_##name[] = {__VA_ARGS__{0}};
#include "proftrace/units.def"
#undef UNIT_KIND
#undef UNSET
#undef NAME

static const struct pt_constants constants[] = {
#define UNIT_KIND(name, unit_class, doc, ...)                                                                          \
    [PT_UNIT_##name] = {names_of_##name, sizeof names_of_##name / sizeof *names_of_##name - 1},
#include "proftrace/units.def"
#undef UNIT_KIND
};

struct pt_constants pt_unit_constants(enum pt_unit unit)
{
    return constants[unit];
}

const char *pt_field_name(const struct pt_field_desc *field, const struct pt_field_value *value)
{
    if (field->unit_class == PT_CLASS_EVENT) {
        const bool is_id = value->number > 0 && value->number < 256;
        const struct pt_event_desc *desc = is_id ? pt_event_desc_by_id((pt_u8)value->number) : NULL;
        return desc ? desc->name : NULL;
    }
    if (field->unit_class != PT_CLASS_CONSTANT)
        return NULL;
    for (pt_u32 i = 0; i < constants[field->unit].n; i++)
        if (constants[field->unit].items[i].value == value->bits)
            return constants[field->unit].items[i].name;
    return NULL;
}

void pt_field_find_error(struct pt_field_value *value)
{
    const char *name = value->number < 0 && value->number >= -4095 ? pt_error_name((int)-value->number) : NULL;
    if (!name)
        return;
    value->form = PT_FORM_ERROR;
    value->error = name;
}

void pt_field_set(struct pt_event *event, const struct pt_field_desc *field, pt_u64 value)
{
    if (field->place == PT_FIELD_AUX)
        event->aux = (pt_u32)value;
    else if (field->place == PT_FIELD_TAG)
        event->tag = (pt_i32)((pt_u32)value << 8) >> 8;
    else
        memcpy(event->payload + field->offset, &value, field->bytes);
}
