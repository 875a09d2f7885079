/* SPDX-License-Identifier: MIT
 *
 * emit.h - the narrow door between hooks and the core: "may I record?", "what time is it?", "store this record".
 *
 * Everything here may be called from any thread, from signal handlers, in vfork and fork children. Nothing here touches
 * errno, takes a lock, allocates from the host's heap or uses more than 256 bytes of the host's stack.
 */
#ifndef PT_CORE_EMIT_H
#define PT_CORE_EMIT_H

#include "file/thread_clock.h"
#include "state.h"

/* Slow half of pt_store: attaches the thread, rolls the buffer over, or counts the loss. */
void pt_store_slow(pt_u64 counter, pt_u32 aux, pt_u32 tag_kind, pt_u64 word0, pt_u64 word1);

/* Store one 32-byte record that began at `counter`. One branch serves the full buffer, the unattached thread and the
 * forked child alike: their `end` is 0. */
PT_ALWAYS_INLINE void pt_store(pt_u64 counter, pt_u32 aux, pt_u32 tag_kind, pt_u64 word0, pt_u64 word1)
{
    struct pt_tracer_thread *t = pt_self;
    const pt_u64 generation = t->records.generation; /* before the reservation: see pt_encode_records' skipped */
    const pt_u64 base = t->clock_base;
    char *slot = pt_reserve(&t->records.cursor, sizeof(struct pt_record));
    if (pt_unlikely(slot >= t->records.end)) {
        pt_store_slow(counter, aux, tag_kind, word0, word1);
        return;
    }
    volatile struct pt_record *r = (struct pt_record *)(void *)slot;
    const pt_u64 ticks = pt_ticks_since(base, counter);
    r->aux = aux;
    r->tag_kind = tag_kind;
    r->words[0] = word0;
    r->words[1] = word1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    r->stamp = ticks << PT_GENERATION_BITS | generation; /* the commit */
}

/* Slow half of pt_unit; clock_slot: a reserved slot at a 256-byte boundary, or NULL. */
void pt_unit_slow(pt_u32 kind, pt_u64 address, pt_u64 size, char *clock_slot);

/* Store one 16-byte heap unit. */
PT_ALWAYS_INLINE void pt_unit(pt_u32 kind, const void *address, pt_u64 size)
{
    struct pt_tracer_thread *t = pt_self;
    const pt_u64 generation = t->heap.generation;
    char *slot = pt_reserve(&t->heap.cursor, sizeof(struct pt_unit16));
    if (pt_unlikely(slot >= t->heap.end || !((pt_u64)slot & PT_UNIT_CLOCK_MASK))) {
        pt_unit_slow(kind, (pt_u64)address & ((1ull << 48) - 1), size, slot < t->heap.end ? slot : 0);
        return;
    }
    volatile struct pt_unit16 *unit = (struct pt_unit16 *)(void *)slot;
    unit->body = size;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    unit->head = (pt_u64)address << 16 | (pt_u64)kind << PT_GENERATION_BITS | generation; /* the commit */
}

PT_ALWAYS_INLINE void pt_point(pt_u32 kind, pt_u32 aux, pt_i32 tag, pt_u64 word0, pt_u64 word1)
{
    pt_store(pt_clock(), aux, pt_tag_kind(tag, kind), word0, word1);
}

/* ---- places: where in the host's own language a thread is, noted right before the event that it belongs to ----
 * Not at each event: a thread has credit, which the time that its events take uses up; then one gets a place. So an
 * event that takes long always has one, and of many short ones about one in each millisecond of theirs. */

/* Set by who knows the host's interpreter: the id of the calling thread's stack there, 0 = it runs nothing there. */
extern pt_u32 (*pt_place_of_thread)(void) __attribute__((visibility("hidden")));

/* The credit is used up by an event from `start` to `end`. */
void pt_place_slow(pt_u64 start, pt_u64 end);

/* For an event without a time, which is a sample already. */
void pt_place_sample(void);

/* Nanoseconds that so many ticks of the counter last. */
pt_u64 pt_counters_as_ns(pt_u64 counters);

PT_ALWAYS_INLINE void pt_place_before(pt_u64 start, pt_u64 end)
{
    struct pt_tracer_thread *t = pt_self;
    t->place_left -= (pt_i64)(end - start);
    if (pt_unlikely(t->place_left < 0))
        pt_place_slow(start, end);
}

/* Of a span, as its record holds it: rounded, so that sums are not biased. */
PT_ALWAYS_INLINE pt_u32 pt_span_duration(pt_u64 start, pt_u64 end)
{
    const pt_u64 half = 1u << pt_switches.clock_shift >> 1;
    return end > start ? pt_duration_pack((end - start + half) >> pt_switches.clock_shift) : 0;
}

/* A span from `start` to `end`: taken right after the call, so that what recording costs (a new path, a descriptor to
 * ask the kernel about) is not charged to the program. */
PT_ALWAYS_INLINE void pt_spent_without_place(pt_u32 kind, pt_u64 start, pt_u64 end, pt_i32 tag, pt_u64 word0,
                                             pt_u64 word1)
{
    pt_store(start, pt_span_duration(start, end), pt_tag_kind(tag, kind), word0, word1);
    pt_thread_clock_after(start, end);
}

PT_ALWAYS_INLINE void pt_spent(pt_u32 kind, pt_u64 start, pt_u64 end, pt_i32 tag, pt_u64 word0, pt_u64 word1)
{
    pt_place_before(start, end);
    pt_spent_without_place(kind, start, end, tag, word0, word1);
}

#endif
