/* SPDX-License-Identifier: MIT
 *
 * events.h - the ids of events, and their rows in tables of totals.
 */
#ifndef PROFTRACE_EVENTS_H
#define PROFTRACE_EVENTS_H

/* One byte, as stored in each record. */
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

#endif
