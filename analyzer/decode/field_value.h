/* SPDX-License-Identifier: MIT
 *
 * field_value.h - a field of an event as a value together with the form in which to show it. What the units of
 * units.def mean is known only here.
 */
#ifndef PT_DECODE_FIELD_VALUE_H
#define PT_DECODE_FIELD_VALUE_H

#include "event.h"

/* The raw bits of a field, sign-extended where its type is signed; and back. */
static inline pt_i64 pt_field_raw(const struct pt_event *event, const struct pt_field_desc *field)
{
    if (field->place == PT_FIELD_AUX)
        return event->aux;
    if (field->place == PT_FIELD_TAG)
        return event->tag;
    /* A field lies on a multiple of its size, so within one of the words. */
    const pt_u32 spare = 64 - 8 * field->bytes;
    const pt_u64 top = event->words[field->offset / 8] >> field->offset % 8 * 8 << spare;
    return field->is_signed ? (pt_i64)top >> spare : (pt_i64)(top >> spare);
}
void pt_field_set(struct pt_event *event, const struct pt_field_desc *field, pt_u64 value);

/* What a field that is not given holds: no string, no stack, no descriptor, 0. */
static inline pt_i64 pt_field_default(const struct pt_field_desc *field)
{
    return field->place == PT_FIELD_TAG && field->unit_class == PT_CLASS_OPTIONAL ? -1 : 0;
}

enum pt_field_form {
    PT_FORM_SIGNED,
    PT_FORM_UNSIGNED,
    PT_FORM_HEX,    /* of the field's width */
    PT_FORM_REAL,   /* may be infinite or not a number */
    PT_FORM_ERROR,  /* minus errno */
    PT_FORM_STRING, /* an id: the event's process has the text */
    PT_FORM_STACK,  /* an id */
};

struct pt_field_value {
    enum pt_field_form form;
    bool is_absent; /* there is none: no string, no stack, a negative OPTIONAL */
    union {
        pt_i64 number;
        pt_u64 bits;
        pt_f64 real;
    };
    const char *error; /* ERROR: "ENOENT" */
};

/* The errno of a negative result as an ERROR, where it has a name. */
void pt_field_find_error(struct pt_field_value *value);

static inline struct pt_field_value pt_field_value(const struct pt_event *event, const struct pt_field_desc *field)
{
    struct pt_field_value value = {.form = field->is_signed ? PT_FORM_SIGNED : PT_FORM_UNSIGNED,
                                   .number = pt_field_raw(event, field)};
    switch (field->unit_class) {
    case PT_CLASS_NUMBER:
    case PT_CLASS_SIZE:
    case PT_CLASS_CONSTANT:
    case PT_CLASS_EVENT:
        break;
    case PT_CLASS_OPTIONAL:
        value.form = PT_FORM_UNSIGNED;
        value.is_absent = value.number < 0;
        break;
    case PT_CLASS_HEX:
    case PT_CLASS_FLAGS:
        value.form = PT_FORM_HEX;
        value.bits &= ~0ull >> (64 - 8 * field->bytes);
        break;
    case PT_CLASS_REAL:
        value.form = PT_FORM_REAL;
        break;
    case PT_CLASS_STRING:
        value.form = PT_FORM_STRING;
        value.is_absent = !value.number;
        break;
    case PT_CLASS_STACK:
        value.form = PT_FORM_STACK;
        value.is_absent = !value.number;
        break;
    case PT_CLASS_RESULT:
    case PT_CLASS_RESULT_BYTES:
        if (value.number < 0)
            pt_field_find_error(&value);
        break;
    }
    return value;
}

/* ---- names ---- */

/* NAME and UNSET of units.def, in their order: a name stands where the bits of `mask` equal `value`. */
struct pt_constant {
    const char *name;
    pt_u64 mask, value;
};

struct pt_constants {
    const struct pt_constant *items;
    pt_u32 n;
};

struct pt_constants pt_unit_constants(enum pt_unit unit);
/* The name of a CONSTANT or an EVENT; NULL where the value has none, and for all other classes. */
const char *pt_field_name(const struct pt_field_desc *field, const struct pt_field_value *value);

#endif
