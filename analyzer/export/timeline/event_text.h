/* SPDX-License-Identifier: MIT
 *
 * event_text.h - the names of events and the values of their fields, for all timelines.
 */
#ifndef PT_EXPORT_TIMELINE_EVENT_TEXT_H
#define PT_EXPORT_TIMELINE_EVENT_TEXT_H

#include <stdbool.h>

#include "decode/field_value.h"

const char *pt_category_name(enum pt_category category);
/* Without the family's prefix, which the category says already. */
const char *pt_event_short_name(const struct pt_event_desc *desc);
/* A field as viewers show it; false = it is left out: empty values, stacks (the CPU profile has them), numbers of
 * counters (which have lines of their own), and a requested size that equals the bytes moved. */
static inline bool pt_viewer_value(const struct pt_event *event, const struct pt_field_desc *field,
                                   struct pt_field_value *ret_value)
{
    *ret_value = pt_field_value(event, field);
    if (ret_value->is_absent || ret_value->form == PT_FORM_STACK || ret_value->form == PT_FORM_REAL)
        return false;
    const bool is_asked = field->unit_class == PT_CLASS_SIZE && event->desc->moves_bytes;
    return !is_asked || ret_value->number != event->result;
}

#endif
