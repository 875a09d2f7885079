/* SPDX-License-Identifier: MIT
 *
 * boot_heap.c - a bump arena in .bss, then mapped regions when an early constructor wants more.
 *
 * Entered by any thread in the short time while dlsym runs. Lock-free, never frees, never fails while the kernel has
 * memory.
 */
#include "boot_heap.h"

#include <errno.h>
#include <sys/mman.h>

#include "core/sys.h"
#include "heap_sample.h"

#define REGIONS 64u
#define HEADER_BYTES 16u

char pt_boot_arena[PT_BOOT_BYTES];
pt_u8 pt_boot_overflowed;

struct region {
    char *start;
    char *end; /* stored last */
};
static struct region regions[REGIONS];
static pt_u32 n_regions;
static pt_u64 arena_used;

static char *place(char *at, size_t alignment, size_t size)
{
    char *block = (char *)(((pt_u64)at + HEADER_BYTES + alignment - 1) & ~(pt_u64)(alignment - 1));
    *(size_t *)(void *)(block - HEADER_BYTES) = size;
    pt_sampled_pin(block); /* its release must never reach the real free */
    return block;
}

static void *alloc_region(size_t alignment, size_t bytes, size_t size)
{
    const pt_u32 index = __atomic_fetch_add(&n_regions, 1, __ATOMIC_RELAXED);
    const pt_u64 length = (bytes + 4095) & ~4095ull;
    char *map = index < REGIONS && length >= bytes
                    ? pt_sys_map(length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                    : 0;
    if (!map) {
        errno = ENOMEM;
        return 0;
    }
    regions[index].start = map;
    __atomic_store_n(&regions[index].end, map + length, __ATOMIC_RELEASE);
    __atomic_store_n(&pt_boot_overflowed, 1, __ATOMIC_RELEASE);
    return place(map, alignment, size);
}

void *pt_boot_alloc(size_t alignment, size_t size)
{
    alignment = alignment < 16 ? 16 : alignment;
    const size_t bytes = size + HEADER_BYTES + alignment;
    if (bytes < size || size > 1ull << 40) {
        errno = ENOMEM;
        return 0;
    }
    const pt_u64 rounded = (bytes + 15) & ~15ull;
    const pt_u64 at =
        rounded <= PT_BOOT_BYTES ? __atomic_fetch_add(&arena_used, rounded, __ATOMIC_RELAXED) : PT_BOOT_BYTES;
    if (at + rounded <= PT_BOOT_BYTES)
        return place(pt_boot_arena + at, alignment, size);
    return alloc_region(alignment, bytes, size);
}

size_t pt_boot_size(const void *block)
{
    return *(const size_t *)(const void *)((const char *)block - HEADER_BYTES);
}

int pt_boot_owns_overflow(const void *block)
{
    for (pt_u32 i = 0; i < REGIONS; i++)
        if ((const char *)block >= regions[i].start &&
            (const char *)block < __atomic_load_n(&regions[i].end, __ATOMIC_ACQUIRE))
            return 1;
    return 0;
}
