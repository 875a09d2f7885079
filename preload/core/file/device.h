/* SPDX-License-Identifier: MIT
 *
 * device.h - stores records that are not of the calling thread and moment: what GPUs did, and calls of other threads
 * that ended earlier.
 *
 * They lie in slots of their own (PT_DEVICE_TID), because a thread's records are in the order of time and these are
 * not. A delivery takes a free slot for as long as it lasts; no thread waits for another. Signals are blocked during a
 * delivery, so that a handler's own events do not get into the slot.
 */
#ifndef PT_CORE_FILE_DEVICE_H
#define PT_CORE_FILE_DEVICE_H

#include "core/emit.h"

struct pt_delivery {
    struct pt_tracer_thread *slot; /* NULL = nothing can be stored: count what is lost */
    struct pt_tracer_thread *self; /* the thread's own slot, restored at the end */
    pt_u64 mask;
    pt_u32 index;
    pt_u32 pad0;
};

/* Begin and end a delivery on the calling thread. Between them no hook may run: no call into the host's libraries. */
struct pt_delivery pt_delivery_begin(void);
void pt_delivery_end(const struct pt_delivery *delivery);

/* Between begin and end: a record that began at `counter` and took `counts` of the same clock. */
PT_ALWAYS_INLINE void pt_deliver_span(pt_u64 counter, pt_u64 counts, pt_i32 tag, pt_u32 kind, pt_u64 word0,
                                      pt_u64 word1)
{
    pt_store(counter, pt_duration_pack(counts >> pt_switches.clock_shift), pt_tag_kind(tag, kind), word0, word1);
}

PT_ALWAYS_INLINE void pt_deliver_point(pt_u64 counter, pt_u32 aux, pt_i32 tag, pt_u32 kind, pt_u64 word0, pt_u64 word1)
{
    pt_store(counter, aux, pt_tag_kind(tag, kind), word0, word1);
}

#endif
