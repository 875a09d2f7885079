/* SPDX-License-Identifier: MIT
 *
 * heap_sample.h - which allocations are sampled, and the memory of those that live.
 */
#ifndef PT_HOOKS_HEAP_HEAP_SAMPLE_H
#define PT_HOOKS_HEAP_HEAP_SAMPLE_H

#include <stddef.h>

#include "core/emit.h"

#define PT_SAMPLED_SLOTS 65536u

/* One bit per slot of the table of sampled blocks: the only thing that free() looks at (8 KiB). Bits that are permanent
 * send everything else that is not the common case the slow way as well: NULL, blocks of the boot arena, full mode. */
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

/* Send all releases that hash like `block` the slow way for ever. Only while the process boots: bits are cleared later
 * on. */
void pt_sampled_pin(const void *block);
void pt_sampled_pin_all(void);

/* Count an allocation that did not take the fast path, and sample it when its turn has come or it is large. */
void pt_heap_allocated(pt_u32 kind, void *block, size_t size);
/* A block whose bit is set is about to be released. */
void pt_heap_maybe_release(void *block);

#endif
