/* SPDX-License-Identifier: MIT
 *
 * event_text.h - what an event is called and what its fields hold, in any timeline.
 */
#ifndef PT_EXPORT_TIMELINE_EVENT_TEXT_H
#define PT_EXPORT_TIMELINE_EVENT_TEXT_H

#include <stdbool.h>

#include "decode/event.h"

const char *pt_category_name(enum pt_category category);
/* Without the family's prefix, which the category says already. */
const char *pt_event_short_name(const struct pt_event_desc *desc);
/* Its first field says how many bytes were moved. */
bool pt_event_moves_bytes(const struct pt_event_desc *desc);
/* A field as it lies in the event, sign-extended. */
pt_u64 pt_event_field(const struct pt_event *event, const struct pt_field_desc *field);

#endif
