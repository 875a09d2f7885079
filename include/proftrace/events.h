/* SPDX-License-Identifier: MIT
 *
 * events.h - kinds of events: their ids on disk, and their numbers in tables of totals; what numbers in
 * some of them mean.
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

/* io_lock's operation. */
enum pt_file_lock {
    PT_FILE_LOCK_UNKNOWN = 0,
    PT_FILE_LOCK_SHARED = 1,
    PT_FILE_LOCK_ALONE = 2,
    PT_FILE_LOCK_RELEASED = 3
};

/* lock_wake's call. */
enum pt_wake_call { PT_WAKE_POST = 1, PT_WAKE_SIGNAL = 2, PT_WAKE_BROADCAST = 3 };

/* In lock_mutex's kind, as glibc keeps it in the mutex: processes share it. */
#define PT_MUTEX_SHARED 0x80

#endif
