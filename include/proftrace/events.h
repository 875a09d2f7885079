/* SPDX-License-Identifier: MIT
 *
 * events.h - kinds of events: their ids on disk, and their numbers in tables of totals.
 */
#ifndef PROFTRACE_EVENTS_H
#define PROFTRACE_EVENTS_H

/* One byte, as stored in each record. */
enum pt_event_id {
#define EVENT(id, name, category, role, doc, ...) PT_EV_##name = (id),
#include "events.def"
#undef EVENT
};

/* The dense number of a kind: its place in tables of totals. Appending to events.def keeps them stable. */
enum pt_event_kind {
#define EVENT(id, name, category, role, doc, ...) PT_KIND_##name,
#include "events.def"
#undef EVENT
    PT_KIND__COUNT
};

#define PT_NO_WAIT_STATUS 0xffffffffu /* wait_child.status: none, or the program did not ask */

#endif
