/* SPDX-License-Identifier: MIT
 *
 * boot_heap.h - answers malloc while the real one is being looked up.
 *
 * Its blocks are recognised by their address for the life of the process: any thread may free (a no-op), grow or
 * measure them.
 */
#ifndef PT_HOOKS_HEAP_BOOT_HEAP_H
#define PT_HOOKS_HEAP_BOOT_HEAP_H

#include <stddef.h>

#include "core/compiler.h"

#define PT_BOOT_BYTES 65536u
extern char pt_boot_arena[PT_BOOT_BYTES] __attribute__((visibility("hidden"), aligned(16)));
extern pt_u8 pt_boot_overflowed __attribute__((visibility("hidden")));

void *pt_boot_alloc(size_t alignment, size_t size); /* zeroed */
size_t pt_boot_size(const void *block);
int pt_boot_owns_overflow(const void *block);

PT_ALWAYS_INLINE int pt_boot_owns(const void *block)
{
    return pt_unlikely((pt_u64)((const char *)block - pt_boot_arena) < PT_BOOT_BYTES) ||
           (pt_unlikely(pt_boot_overflowed) && pt_boot_owns_overflow(block));
}

#endif
