/* SPDX-License-Identifier: MIT
 *
 * emit.c - the slow half of storing: attach, roll over, retry; the heap's 16-byte units; places.
 *
 * Entered from any hook in any thread or signal handler. Blocks signals while it works, so the loop cannot be
 * re-entered. Never loses a record without counting it.
 */
#include "emit.h"

#include "proftrace/events.h"
#include "file/attach.h"
#include "file/image_state.h"
#include "file/presence.h"
#include "file/rollover.h"
#include "private.h"
#include "sandbox.h"
#include "sys.h"

/* In a sandbox even the call that blocks signals may kill the process; then `busy` says whether this entry is
 * nested. */
static pt_u64 enter(void)
{
    return pt_may_call() ? pt_signals_block() : PT_SIGNALS_AS_THEY_WERE;
}

static int can_record(void)
{
    return !pt_switches.off && pt_image != 0;
}

PT_COLD void pt_store_slow(pt_u64 counter, pt_u32 aux, pt_u32 tag_kind, pt_u64 word0, pt_u64 word1)
{
    if (!can_record())
        return;
    const pt_u64 mask = enter();
    struct pt_tracer_thread *t = pt_thread_attach();
    if (!t || !pt_claim(t)) {
        pt_count_drop(t ? PT_DROP_in_flight : pt_thread_refusal(), 1);
        pt_signals_restore(mask);
        return;
    }
    const int is_full = t->records.cursor >= t->records.end;
    if (is_full)
        pt_rollover(t, PT_BUFFER_RECORDS);
    if (!pt_append_record(t, counter, aux, tag_kind, word0, word1))
        pt_count_drop(PT_DROP_in_flight, 1);
    if (is_full && !pt_switches.frozen)
        pt_thread_clock_append(t);
    pt_unclaim(t);
    pt_signals_restore(mask);
}

static void put_unit(char *slot, pt_u64 head, pt_u64 body)
{
    volatile struct pt_unit16 *unit = (struct pt_unit16 *)(void *)slot;
    unit->body = body;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    unit->head = head;
}

/* The first unit of every 256 bytes carries the time. */
static void put_clock(struct pt_tracer_thread *t, char *slot)
{
    put_unit(slot, (pt_u64)PT_UNIT_CLOCK << PT_GENERATION_BITS | t->heap.generation,
             pt_ticks_since(t->clock_base, pt_clock()));
}

static char *next_unit(struct pt_tracer_thread *t)
{
    for (;;) {
        char *slot = pt_reserve(&t->heap.cursor, sizeof(struct pt_unit16));
        if (slot >= t->heap.end) {
            pt_rollover(t, PT_BUFFER_HEAP);
            continue;
        }
        if ((pt_u64)slot & PT_UNIT_CLOCK_MASK)
            return slot;
        put_clock(t, slot);
    }
}

/* A full buffer, a new thread, a forked child. */
PT_COLD static void unit_blocked(pt_u32 kind, pt_u64 address, pt_u64 size)
{
    if (!can_record())
        return;
    const pt_u64 mask = enter();
    struct pt_tracer_thread *t = pt_thread_attach();
    if (!t || !t->heap.base || !pt_claim(t)) {
        pt_count_drop(t ? PT_DROP_in_flight : pt_thread_refusal(), 1);
    } else {
        char *slot = next_unit(t); /* before the generation is read: a rollover changes it */
        put_unit(slot, address << 16 | (pt_u64)kind << PT_GENERATION_BITS | t->heap.generation, size);
        pt_unclaim(t);
    }
    pt_signals_restore(mask);
}

/* Every sixteenth unit comes here only to leave the time: no system call on that way. */
PT_NOINLINE void pt_unit_slow(pt_u32 kind, pt_u64 address, pt_u64 size, char *clock_slot)
{
    struct pt_tracer_thread *t = pt_self;
    if (clock_slot) {
        const pt_u64 generation = t->heap.generation;
        put_unit(clock_slot, (pt_u64)PT_UNIT_CLOCK << PT_GENERATION_BITS | generation,
                 pt_ticks_since(t->clock_base, pt_clock()));
        char *slot = pt_reserve(&t->heap.cursor, sizeof(struct pt_unit16));
        if (pt_likely(slot < t->heap.end && ((pt_u64)slot & PT_UNIT_CLOCK_MASK))) {
            put_unit(slot, address << 16 | (pt_u64)kind << PT_GENERATION_BITS | generation, size);
            return;
        }
    }
    unit_blocked(kind, address, size);
}

/* ---- places ---- */

#define SCALE_BITS 24
/* Credit until somebody asks again, where there is no language: seconds. */
#define NO_LANGUAGE_TICKS (1ll << 33)

pt_u32 (*pt_place_of_thread)(void);

/* By both clocks since the file was made; measured again while it still becomes better. */
pt_u64 pt_counters_as_ns(pt_u64 counters)
{
    static pt_u64 scale, measured_over;
    const struct pt_clock_pair *first = &pt_image->header->clock_first;
    const pt_u64 over = pt_clock() - first->counter;
    if (!pt_switches.tsc)
        return counters;
    if (over / 4 > measured_over || !scale) {
        const pt_u64 before = pt_clock(), ns = pt_sys_clock_ns(CLOCK_MONOTONIC), after = pt_clock();
        const pt_u64 elapsed = before + (after - before) / 2 - first->counter;
        if (elapsed)
            scale = (pt_u64)(((unsigned __int128)(ns - first->monotonic_ns) << SCALE_BITS) / elapsed);
        measured_over = over;
    }
    return (pt_u64)((unsigned __int128)counters * scale >> SCALE_BITS);
}

/* One tick before a reader sees the span end: readers sort by ends, and round them. */
static pt_u64 before_end(pt_u64 start, pt_u64 end)
{
    return start + ((pt_duration_ticks(pt_span_duration(start, end)) - 1) << pt_switches.clock_shift);
}

PT_COLD PT_ALIGNS_STACK void pt_place_slow(pt_u64 start, pt_u64 end)
{
    struct pt_tracer_thread *t = pt_self;
    if (!can_record() || !pt_may_call())
        return;
    pt_file_look(); /* after a long wait; the event is not stored yet */
    if (!t->area) { /* its first event: what was charged was nobody's */
        t = pt_thread_attach_blocking();
        if (!t || (t->place_left -= (pt_i64)(end - start)) >= 0)
            return;
    }
    pt_u32 (*const place)(void) = __atomic_load_n(&pt_place_of_thread, __ATOMIC_ACQUIRE);
    const pt_u64 spent = (pt_u64)(PT_PLACE_TICKS - t->place_left);
    t->place_left = place ? PT_PLACE_TICKS : NO_LANGUAGE_TICKS;
    const pt_u32 stack = place ? place() : 0;
    if (stack)
        pt_store(before_end(start, end), stack, pt_tag_kind(0, PT_EV_python_place), pt_counters_as_ns(spent), 0);
}

void pt_place_sample(void)
{
    pt_u32 (*const place)(void) = __atomic_load_n(&pt_place_of_thread, __ATOMIC_ACQUIRE);
    const pt_u32 stack = place && !pt_switches.frozen ? place() : 0;
    if (stack)
        pt_point(PT_EV_python_place, stack, 0, 0, 0);
}
