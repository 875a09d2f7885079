/* SPDX-License-Identifier: MIT
 *
 * event.h - one event as analyses, exports and dump see it, whatever its layout on disk.
 *
 * A view: valid until the next call of the feed that delivered it. The payload is the struct that events.def makes
 * (`pt_event_as(event, io_read)->result`), strings are ids to be looked up with pt_process_string().
 */
#ifndef PT_DECODE_EVENT_H
#define PT_DECODE_EVENT_H

#include <assert.h>
#include <stdbool.h>

#include "proftrace/format.h"
#include "proftrace/schema.h"

struct pt_process;
struct pt_thread;

enum pt_field_place { PT_FIELD_PAYLOAD, PT_FIELD_AUX, PT_FIELD_TAG };

struct pt_field_desc {
    const char *name;
    const char *type; /* "u32", "i64", "f64" ... */
    enum pt_unit unit;
    enum pt_unit_class unit_class;
    bool is_signed;
    pt_u32 offset; /* in the payload; for aux and tag 0 */
    pt_u32 bytes;
    enum pt_field_place place;
};

#define PT_MAX_FIELDS 8
struct pt_event_desc {
    pt_u8 id;
    pt_u16 kind; /* PT_KIND_x of this build */
    const char *name;
    enum pt_category category;
    enum pt_role role;
    const char *doc;
    bool moves_bytes; /* `result` says how many */
    pt_u32 n_fields;
    struct pt_field_desc fields[PT_MAX_FIELDS];
};

/* All descriptors of this build, PT_KIND__COUNT of them by kind. */
extern const struct pt_event_desc *const pt_event_descs;
/* The descriptor of an id or name of this build's events.def; NULL when there is none. */
extern const struct pt_event_desc *pt_event_descs_by_id[256];
static inline const struct pt_event_desc *pt_event_desc_by_id(pt_u8 id)
{
    return pt_event_descs_by_id[id];
}
const struct pt_event_desc *pt_event_desc_by_name(const char *name);

struct pt_event {
    pt_i64 start_ns;    /* since the session's start */
    pt_i64 duration_ns; /* SPAN; else 0 */
    const struct pt_event_desc *desc;
    struct pt_process *process;
    struct pt_thread *thread;
    union {
        pt_u32 aux;  /* POINT */
        pt_u32 note; /* SPAN: a number that the thread which orders the events found for all that read them; 0 = none */
    };
    pt_i32 tag; /* sign-extended: -1 = none */
    union {
        pt_u8 payload[16];
        pt_u64 words[2];
        pt_i32 result; /* of every event whose first payload field is i32 */
    };
};

/* The instant at which an event took effect: its end for a SPAN. Events are delivered in this order. */
static inline pt_i64 pt_event_end_ns(const struct pt_event *event)
{
    return event->start_ns + event->duration_ns;
}

#define pt_event_as(event, name)                                                                                       \
    (assert((event)->desc->id == PT_EV_##name), (const struct pt_ev_##name *)(const void *)(event)->payload)

/* Add one event to the totals of its kind, by the same rule as the library: errors and bytes come from its RESULT
 * field. `ticks`: of any clock, as the totals are.
 */
void pt_totals_add(struct pt_totals *totals, const struct pt_event_desc *desc, const void *payload, pt_u64 ticks);

#endif
