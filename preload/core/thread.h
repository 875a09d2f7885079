/* SPDX-License-Identifier: MIT
 *
 * thread.h - what the tracer keeps per thread: one slot in MADV_WIPEONFORK memory, found through one TLS pointer
 * (pt_self).
 *
 * In a forked child (fork, _Fork, raw clone) the kernel hands out zeros instead of the slots: every `end` and countdown
 * is 0, so the first event goes the slow way and the child gets a file of its own. A vfork child shares its parent's
 * slot, which is right: it runs in the parent's memory while the parent waits.
 */
#ifndef PT_CORE_THREAD_H
#define PT_CORE_THREAD_H

#include "proftrace/format.h"
#include "stack_pace.h"

/* Credit of a place (emit.h), in counter ticks: about 1 ms of a TSC. */
#define PT_PLACE_TICKS (1ll << 21)

struct pt_private; /* per-thread working memory: private stack, compressor, columns (private.h) */

struct pt_buffer {
    char *cursor; /* next slot; runs past end while signal handlers compete */
    char *end;
    pt_u64 generation;
    char *base;
    pt_u64 sequence;
    pt_u64 flushed_events;
    pt_u64 clear_sequence; /* the one in which the buffer was all zero behind the cursor */
};

struct pt_tracer_thread {
    /* First line: the heap fast path. */
    pt_u64 countdown; /* bytes until the next heap sample; what would make it negative goes the slow path */
    struct pt_thread_area *area;
    pt_u64 clock_base;
    pt_u32 slot;
    pt_u32 is_left_to_none; /* no fork copies its working memory */
    struct pt_buffer records;
    struct pt_buffer heap;
    pt_u64 random;
    char *defs_cursor; /* definitions: bump allocation in the area, then in DEFS segments */
    char *defs_end;
    char *more_defs;          /* room for a DEFS segment that is not used yet; NULL = none */
    char *full_defs;          /* current DEFS segment of those that the file grew by; NULL = none yet */
    char *own_chunk;          /* room for the first BLOCKS segment */
    struct pt_segment *chunk; /* current BLOCKS segment */
    pt_u64 chunk_used;
    pt_u32 chunk_index; /* in the ring's registry */
    pt_u32 chunk_count; /* 1 = its own, which is in no registry */
    struct pt_private *priv;
    pt_u32 tid;
    pt_u32 life;
    pt_u64 last_ticks;    /* latest event that was published */
    pt_u32 busy;          /* inside the slow path on the private stack */
    pt_u32 sampled_life;  /* life for which countdown was drawn; another one draws before it samples */
    pt_i64 gap_left;      /* of the sampler's gap, beyond countdown */
    pt_u64 clock_read_at; /* counter at which the thread's CPU clock was noted last */
    pt_i64 place_left;    /* counter ticks of events until the next that gets a place (emit.h) */
    struct pt_stack_pace pace;
};

/* xorshift: 64 bits that pass for chance. */
static inline pt_u64 pt_random(struct pt_tracer_thread *t)
{
    pt_u64 x = t->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return t->random = x;
}

#endif
