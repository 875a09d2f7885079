/* SPDX-License-Identifier: MIT
 *
 * heap_sample.c - Poisson sampling by bytes, and the table of sampled blocks.
 *
 * Entered from the allocation hooks' slow halves. Sizes of at least heap_sample_bytes are always sampled; below, the
 * chance is 1 - exp(-(size + 16) / heap_sample_bytes): the reader weights samples by that. Stacks are taken of as many
 * of them as stack_pace.h allows, and stand for the rest. Table and bits are ordinary
 * memory, inherited by forked children: so a child's release of its parent's block is found by address. Never uses
 * floating point, whose flags belong to the host.
 */
#include "heap_sample.h"

#include "proftrace/events.h"
#include "core/file/attach.h"
#include "core/file/image_state.h"
#include "core/file/prepare.h"
#include "core/names/stack.h"
#include "core/options.h"
#include "core/sandbox.h"
#include "core/sys.h"

pt_u64 pt_sampled_bits[PT_SAMPLED_SLOTS / 64] = {1};
/* Blocks are aligned: the lowest bit says that one was asked for by an allocator above malloc, for an object. */
#define OF_OBJECT 1ull
static pt_u64 *sampled_blocks;                             /* atomic; made for the first sample */
static pt_u64 permanent_bits[PT_SAMPLED_SLOTS / 64] = {1}; /* slot 0 is NULL's */

void pt_sampled_pin(const void *block)
{
    const pt_u32 slot = pt_sampled_slot(block);
    __atomic_fetch_or(&permanent_bits[slot >> 6], 1ull << (slot & 63), __ATOMIC_RELAXED);
    __atomic_fetch_or(&pt_sampled_bits[slot >> 6], 1ull << (slot & 63), __ATOMIC_RELEASE);
}

void pt_sampled_pin_all(void)
{
    __builtin_memset(permanent_bits, 0xff, sizeof permanent_bits);
    __builtin_memset(pt_sampled_bits, 0xff, sizeof pt_sampled_bits);
}

/* An exponential gap with the configured mean: -ln(u) by exponent and a quartic of the mantissa, in 30-bit fixed point:
 * floating point would set the host's exception flags, and trap where the host unmasked them. */
static pt_i64 next_gap(struct pt_tracer_thread *t)
{
    const pt_u64 u = (pt_random(t) >> 11) + 1; /* u / 2^53 is uniform in (0, 1] */
    const int exponent = 63 - __builtin_clzll(u);
    const pt_i64 m = (pt_i64)(u << (63 - exponent) >> 33); /* mantissa in [1, 2) */
    /* ln(m) = -1.7417939 + (2.8212026 + (-1.4699568 + (0.44717955 - 0.056570851 m) m) m) m; ln(2) = 744261118 / 2^30 */
    pt_i64 ln = 480155386 - (60742489 * m >> 30);
    ln = -1578354096 + (ln * m >> 30);
    ln = 3029243226 + (ln * m >> 30);
    ln = -1870236959 + (ln * m >> 30) + (exponent - 53) * 744261118ll;
    const __int128 gap = (__int128)-ln * (pt_i64)pt_options.heap_sample_bytes >> 30;
    return gap > 1 ? (pt_i64)gap : 1;
}

/* Half of what it can hold, of calls or of bytes. */
static int is_half_full(pt_u64 packed)
{
    return packed >> 63 || packed & 1ull << 39;
}

/* The file of a small process has no wide counters, and needs none until a packed one is half full. */
static int needs_wide(const struct pt_thread_area *area, pt_u32 index)
{
    if (!pt_has_own_file() && is_half_full(area->heap_packed[index]))
        pt_own_file_prepare();
    return pt_has_own_file() || is_half_full(area->heap_packed[index]);
}

/* Where there are none, and are to be none, only the number of calls is known. */
static void add_wide(struct pt_thread_area *area, pt_u32 index, pt_u64 count, pt_u64 bytes)
{
    if (!pt_has_own_file()) {
        area->drops[PT_DROP_no_room_for_thread] += count;
        return;
    }
    area->heap_spilled[index].count += count;
    area->heap_spilled[index].bytes += bytes;
}

/* Move the packed counters to the wide ones before they can overflow: less than 2^24 calls come between two times. */
static void spill(struct pt_thread_area *area)
{
    for (pt_u32 i = 0; i < PT_HEAP_CLASSES; i++) {
        const pt_u64 packed = area->heap_packed[i];
        if (!packed || !needs_wide(area, i))
            continue;
        add_wide(area, i, packed >> 40, packed & ((1ull << 40) - 1));
        area->heap_packed[i] -= packed; /* what a signal handler has added meanwhile stays */
    }
}

static pt_u64 *blocks(void)
{
    const pt_u64 bytes = PT_SAMPLED_SLOTS * sizeof *sampled_blocks;
    pt_u64 *known = __atomic_load_n(&sampled_blocks, __ATOMIC_ACQUIRE);
    if (known || !pt_may_call())
        return known;
    pt_u64 *made = pt_sys_memory(bytes);
    if (__atomic_compare_exchange_n(&sampled_blocks, &known, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    pt_syscall2(SYS_munmap, made, bytes);
    return known;
}

static void remember(const void *block, pt_u64 owner)
{
    pt_u64 *const sampled = blocks();
    const pt_u32 slot = pt_sampled_slot(block);
    const pt_u64 entry = (pt_u64)block | owner;
    const pt_u64 evicted = sampled ? __atomic_exchange_n(&sampled[slot], entry, __ATOMIC_ACQ_REL) : (pt_u64)block;
    if (sampled)
        __atomic_fetch_or(&pt_sampled_bits[slot >> 6], 1ull << (slot & 63), __ATOMIC_RELEASE);
    if (evicted && (evicted != entry || !sampled))
        pt_point(PT_EV_heap_sample_lost, 0, 0, evicted & ~OF_OBJECT, 0);
}

PT_COLD static void sample(pt_u32 kind, void *block, size_t size)
{
    struct pt_tracer_thread *t = pt_self;
    const pt_u32 one_in = pt_stack_turn(t, size, pt_options.heap_sample_bytes);
    const pt_u64 begun = one_in ? pt_clock() : 0;
    const pt_u32 stack = one_in ? pt_intern_stack() : 0;
    remember(block, 0);
    if (one_in) {
        pt_place_sample();
        pt_stack_paid(t, begun);
    }
    if (one_in == 1)
        pt_point(PT_EV_heap_sample, stack, (pt_i32)kind, (pt_u64)block, size);
    else
        pt_point(PT_EV_heap_sample_thinned, stack, (pt_i32)one_in, (pt_u64)block, size);
    pt_thread_clock_note();
}

/* Each call is charged with 16 bytes at least: 2^23 of them. */
#define MOST_COUNTDOWN (1ll << 27)

/* The countdown of the fast path is at most heap_sample_bytes, so that every large block comes here, and 0 in full
 * mode; the rest of the gap is kept in `gap_left`. */
static void refill(struct pt_tracer_thread *t)
{
    const pt_i64 gap = pt_switches.heap == PT_HEAP_FULL ? 0 : (pt_i64)pt_options.heap_sample_bytes;
    const pt_i64 most = gap < MOST_COUNTDOWN ? gap : MOST_COUNTDOWN;
    const pt_i64 part = t->gap_left < most ? t->gap_left : most;
    t->countdown = (pt_u64)part;
    t->gap_left -= part;
}

/* Charge an allocation to the countdown. 1 = it is to be sampled. */
static int is_sampled(struct pt_tracer_thread *t, size_t size)
{
    const pt_i64 charge = (pt_i64)(size < 1ull << 40 ? size : 1ull << 40) + 16;
    pt_i64 left = (pt_i64)t->countdown + t->gap_left - charge;
    const int is_first = t->life != t->sampled_life, is_turn = left < 0;
    if (is_turn || is_first || pt_switches.heap != PT_HEAP_FULL)
        spill(t->area);
    if (is_turn || is_first) {
        left = next_gap(t);
        t->sampled_life = t->life;
    }
    t->countdown = 0;
    t->gap_left = left;
    refill(t);
    return (is_turn && !is_first) || size >= pt_options.heap_sample_bytes;
}

static void count(struct pt_thread_area *area, size_t size)
{
    const pt_u32 index = (pt_u32)pt_heap_class_of(size);
    if (size < 1ull << 38 && !needs_wide(area, index)) {
        area->heap_packed[index] += (1ull << 40) + size;
        return;
    }
    if (!pt_has_own_file())
        pt_own_file_prepare();
    add_wide(area, index, 1, size);
}

PT_NOINLINE void pt_heap_allocated(pt_u32 kind, void *block, size_t size)
{
    if (!pt_switches.heap)
        return;
    struct pt_tracer_thread *t = pt_thread_attached();
    if (!t) {
        pt_count_drop(pt_thread_refusal(), 1);
        return;
    }
    if (pt_switches.heap == PT_HEAP_FULL)
        pt_unit(kind, block, size);
    count(t->area, size);
    if (is_sampled(t, size))
        sample(kind, block, size);
}

pt_u32 pt_object_turn(size_t size)
{
    struct pt_tracer_thread *t = pt_switches.heap ? pt_thread_attached() : 0;
    return t && is_sampled(t, size) ? pt_stack_turn(t, size, pt_options.heap_sample_bytes) : 0;
}

/* The program itself would not have called malloc. In full mode the call is a record, too. */
static void uncount(struct pt_thread_area *area, size_t bytes)
{
    const pt_u32 index = (pt_u32)pt_heap_class_of(bytes);
    const pt_u64 packed = area->heap_packed[index];
    if (pt_switches.heap == PT_HEAP_FULL)
        return;
    if (packed >> 40 && (packed & ((1ull << 40) - 1)) >= bytes)
        area->heap_packed[index] -= (1ull << 40) + bytes;
    else
        add_wide(area, index, (pt_u64)-1, (pt_u64)-bytes);
}

void pt_object_sample(const void *block, size_t size, pt_u32 one_in, size_t asked_of_malloc)
{
    pt_u32 (*const place)(void) = __atomic_load_n(&pt_place_of_thread, __ATOMIC_ACQUIRE);
    const pt_u64 begun = pt_clock();
    const pt_u32 stack = place && !pt_switches.frozen ? place() : 0;
    pt_stack_paid(pt_self, begun);
    if (pt_self->area)
        uncount(pt_self->area, asked_of_malloc);
    remember(block, OF_OBJECT);
    pt_point(PT_EV_python_memory, stack, (pt_i32)one_in, (pt_u64)block, size);
    pt_thread_clock_note();
}

PT_COLD void pt_heap_maybe_release(void *block)
{
    const pt_u32 slot = pt_sampled_slot(block);
    pt_u64 *const sampled = __atomic_load_n(&sampled_blocks, __ATOMIC_ACQUIRE);
    pt_u64 entry = sampled ? __atomic_load_n(&sampled[slot], __ATOMIC_RELAXED) : 0;
    if (!entry || (entry & ~OF_OBJECT) != (pt_u64)block || /* avoid the atomic operation: it is usually another block */
        !__atomic_compare_exchange_n(&sampled[slot], &entry, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    if (!(permanent_bits[slot >> 6] >> (slot & 63) & 1))
        __atomic_fetch_and(&pt_sampled_bits[slot >> 6], ~(1ull << (slot & 63)), __ATOMIC_ACQ_REL);
    /* Another thread may have taken the slot between the two stores: its bit must be set. */
    if (__atomic_load_n(&sampled[slot], __ATOMIC_ACQUIRE))
        __atomic_fetch_or(&pt_sampled_bits[slot >> 6], 1ull << (slot & 63), __ATOMIC_RELEASE);
    if (entry & OF_OBJECT && pt_self->area && pt_switches.heap != PT_HEAP_FULL)
        pt_self->area->heap_frees--; /* as in uncount */
    pt_point(entry & OF_OBJECT ? PT_EV_python_memory_free : PT_EV_heap_sample_free, 0, 0, (pt_u64)block, 0);
}
