/* SPDX-License-Identifier: MIT
 *
 * private.h - a thread's working memory for the slow path: a stack of our own, the compressor and its columns.
 *
 * The slow path never runs on the host's stack: small alternate signal stacks and 16 KiB threads are real, and a
 * rollover on one of them has killed a host. All signals are blocked while the private stack is in use, so
 * it cannot be entered twice, jumped out of or cancelled.
 */
#ifndef PT_CORE_PRIVATE_H
#define PT_CORE_PRIVATE_H

#include "proftrace/codec.h"
#include "compiler.h"
#include "thread.h"

#define PT_PRIVATE_STACK_BYTES 24576u
#define PT_INNER_STACK_BYTES 8192u
#define PT_COMPRESSOR_BYTES (176u << 10) /* static context for the worst block: see compressor() in file/rollover.c */
#define PT_STACK_FRAMES 64u
#define PT_PRIVATE_TEXT_BYTES 4352u

/* How the unwinder finds the end of the frame around a code address (frame_check.c). */
struct pt_frame_rule {
    pt_u64 address;
    pt_i32 offset; /* from the register ... */
    pt_u8 reg;
    pt_u8 operation; /* ... or, not 0, the first operation of an expression */
    pt_u16 pad0;
};
#define PT_FRAME_RULES 512u

/* What of the totals by minute is written, and what not yet (file/minutes.h). All 0 = nothing was recorded. */
#define PT_MINUTES_N_COUNTERS (3 + 2 * PT_COUNTED_ROWS)
struct pt_minutes {
    pt_u64 until_ticks; /* end of the open minute; a record that ends later begins another one */
    pt_u64 from;        /* first minute whose records are in no row yet */
    pt_u64 until;       /* end of the open minute */
    pt_u64 counters_from;
    struct pt_segment *segment; /* current MINUTES segment; NULL = none yet */
    pt_u64 used;
    pt_u32 level; /* a row tells of 1 << level minutes */
    pt_u32 pad0;
    pt_u64 counters[PT_MINUTES_N_COUNTERS];
    struct pt_totals base[PT_TOTALS_ROWS]; /* what is in rows */
};

struct pt_private {
    struct pt_codec_scratch codec;
    struct pt_minutes minutes;
    char text[PT_PRIVATE_TEXT_BYTES];
    pt_u64 frames[PT_STACK_FRAMES];
    struct pt_frame_rule
        frame_rules[PT_FRAME_RULES]; /* by address; parsing the tables again would double the cost of a stack */
    void *compressor;
    void *escape[5]; /* __builtin_setjmp buffer of the unwinder */
    char compressor_memory[PT_COMPRESSOR_BYTES] __attribute__((aligned(64)));
    char inner_stack[PT_INNER_STACK_BYTES] __attribute__((aligned(64)));
    char stack[PT_PRIVATE_STACK_BYTES] __attribute__((aligned(64)));
};

/* Call fn(argument) with the stack pointer at `top`; unwinding crosses back to the caller's stack (CFI in private.c).
 */
void pt_call_on_stack(void (*fn)(void *), void *argument, void *top);

static inline void pt_on_private_stack(struct pt_private *priv, void (*fn)(void *), void *argument)
{
    pt_call_on_stack(fn, argument, priv->stack + sizeof priv->stack);
}

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

/* A private working memory, or those of `count` threads in a row; NULL when the kernel refuses. Only touched pages cost
 * memory. */
struct pt_private *pt_private_new(void);
struct pt_private *pt_privates_new(pt_u32 count);

#endif
