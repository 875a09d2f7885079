/* SPDX-License-Identifier: MIT
 *
 * slow.h - the slow path's own doors: attach a thread, roll a buffer over.
 */
#ifndef PT_CORE_FILE_SLOW_H
#define PT_CORE_FILE_SLOW_H

#include "core/emit.h"
#include "core/private.h"
#include "image.h"

/* The calling thread's slot, attached now if need be; NULL when it cannot record. Blocks signals itself. */
struct pt_tracer_thread *pt_thread_attach_blocking(void);
PT_ALWAYS_INLINE struct pt_tracer_thread *pt_thread_attached(void)
{
    return pt_likely(pt_self->area != 0) ? pt_self : pt_thread_attach_blocking();
}
/* The same with signals blocked by the caller. */
struct pt_tracer_thread *pt_thread_attach(void);
/* Why the attempt just made gave none. */
enum pt_drop pt_thread_refusal(void);

/* A slot for what devices report; NULL when there is none left. On `priv`'s stack, signals blocked. */
struct pt_tracer_thread *pt_device_slot_new(pt_u32 tid, struct pt_private *priv);

/* The private memory of a thread is for one at a time: a raw clone() that shares memory and TLS shares the slot, too.
 * Signals blocked; who is on the private stack has it. */
PT_ALWAYS_INLINE int pt_claim(struct pt_tracer_thread *t)
{
    return !__atomic_exchange_n(&t->busy, 1, __ATOMIC_ACQUIRE);
}
PT_ALWAYS_INLINE void pt_unclaim(struct pt_tracer_thread *t)
{
    __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE);
}
PT_ALWAYS_INLINE int pt_is_on_private_stack(const struct pt_tracer_thread *t)
{
    return (pt_u64)((char *)__builtin_frame_address(0) - t->priv->stack) < sizeof t->priv->stack;
}

/* Publish what a buffer holds and reset it; signals blocked, the slot claimed. */
void pt_rollover(struct pt_tracer_thread *t, enum pt_stream_id stream);
/* Publish under the name of a dead thread and clear the buffer: its slot is being taken over. */
void pt_rollover_dead(struct pt_tracer_thread *t, enum pt_stream_id stream, pt_u32 tid);

/* CRC-32C without cpuid: the constructor has asked ld.so what the machine can. */
extern pt_u8 pt_crc_in_hardware __attribute__((visibility("hidden")));
PT_ALWAYS_INLINE pt_u32 pt_crc(pt_u32 crc, const void *data, pt_u64 bytes)
{
    return ~(pt_crc_in_hardware ? pt_crc32c_hw(~crc, data, bytes) : pt_crc32c_sw(~crc, data, bytes));
}

/* Test builds kill the process at named points: PROFTRACE_TEST_KILL=<point>:<n>. */
#ifdef PROFTRACE_KILL_POINTS
void pt_kill_point(const char *name);
#else
#define pt_kill_point(name) ((void)0)
#endif

#endif
