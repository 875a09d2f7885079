/* SPDX-License-Identifier: MIT
 *
 * heap_sample.h - which allocations are sampled, and the table of those that are live.
 */
#ifndef PT_HOOKS_HEAP_HEAP_SAMPLE_H
#define PT_HOOKS_HEAP_HEAP_SAMPLE_H

#include <stddef.h>

#include "core/emit.h"

#define PT_SAMPLED_SLOTS 65536u

/* One bit per slot of the table of sampled blocks: all that free() reads (8 KiB). Permanent bits send the other
 * uncommon cases to the slow path, too: NULL, blocks of the boot arena, full mode. */
extern pt_u64 pt_sampled_bits[PT_SAMPLED_SLOTS / 64] __attribute__((visibility("hidden")));

PT_ALWAYS_INLINE pt_u32 pt_sampled_slot(const void *block)
{
    return (pt_u32)((pt_u64)block >> 4) * 2654435761u >> 16;
}

PT_ALWAYS_INLINE int pt_maybe_sampled(const void *block)
{
    const pt_u32 slot = pt_sampled_slot(block);
    return pt_unlikely(pt_sampled_bits[slot >> 6] >> (slot & 63) & 1);
}

/* Send all releases that hash like `block` to the slow path for ever. Only while the process starts: later, bits are
 * also cleared. */
void pt_sampled_pin(const void *block);
void pt_sampled_pin_all(void);

/* Count an allocation that did not take the fast path, and sample it when the countdown has reached 0 or it is
 * large. */
void pt_heap_allocated(pt_u32 kind, void *block, size_t size);
/* A block whose bit is set is about to be released. */
void pt_heap_maybe_release(void *block);

/* ---- an allocator above malloc, which serves small objects from arenas that malloc does not see ----
 * It takes from malloc what is to be sampled: so a release costs nothing where it is not of a sample. */

/* Charge an object to the same countdown. 0 = ask pt_object_turn instead. */
PT_ALWAYS_INLINE int pt_object_count_fast(size_t size)
{
    struct pt_tracer_thread *t = pt_self;
    pt_u64 left;
    if (pt_unlikely(__builtin_sub_overflow(t->countdown, 16, &left) || __builtin_sub_overflow(left, size, &left)))
        return 0;
    t->countdown = left;
    return 1;
}

/* One in how many such samples this is; 0 = it is not to be sampled. */
pt_u32 pt_object_turn(size_t size);
/* Its block has come from malloc, which was asked for so many bytes. */
void pt_object_sample(const void *block, size_t size, pt_u32 one_in, size_t asked_of_malloc);

#endif
