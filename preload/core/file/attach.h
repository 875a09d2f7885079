/* SPDX-License-Identifier: MIT
 *
 * attach.h - the calling thread's slot, made or taken over when it is first needed.
 */
#ifndef PT_CORE_FILE_ATTACH_H
#define PT_CORE_FILE_ATTACH_H

#include "core/state.h"

/* The calling thread's slot, attached now if need be; NULL when it cannot record. Blocks signals itself. */
struct pt_tracer_thread *pt_thread_attach_blocking(void);
PT_ALWAYS_INLINE struct pt_tracer_thread *pt_thread_attached(void)
{
    return pt_likely(pt_self->area != 0) ? pt_self : pt_thread_attach_blocking();
}
/* The same with signals blocked by the caller. */
struct pt_tracer_thread *pt_thread_attach(void);
/* In a forked child, before anything else of it is recorded. */
void pt_thread_attach_forked(void);
/* Attach the calling thread before its first event: it is about to ask for something that others wait for. Were it
 * attached at the event that follows, they would wait for the tracer's system calls and page faults as well. */
void pt_thread_attach_early(void);
/* Why the attempt just made gave none. */
enum pt_drop pt_thread_refusal(void);

/* For calls that are counted and get no event: where the calling thread counts them. NULL = it was counted as lost. */
struct pt_thread_area *pt_area_of_new_thread(void);
PT_ALWAYS_INLINE struct pt_thread_area *pt_area_to_count_in(void)
{
    struct pt_thread_area *area = pt_self->area;
    return pt_likely(area != 0) ? area : pt_area_of_new_thread();
}

/* A slot for what devices report; NULL when there is none left. On `priv`'s stack, signals blocked. */
struct pt_tracer_thread *pt_device_slot_new(pt_u32 tid, struct pt_private *priv);

#endif
