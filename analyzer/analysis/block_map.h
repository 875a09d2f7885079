/* SPDX-License-Identifier: MIT
 *
 * block_map.h - live heap blocks by address: open addressing with deletion in place, 32 bytes per slot, because a full
 * heap trace inserts and removes ten million of them.
 */
#ifndef PT_ANALYSIS_BLOCK_MAP_H
#define PT_ANALYSIS_BLOCK_MAP_H

#include <stddef.h>

#include "proftrace/schema.h"

struct pt_heap_block {
    pt_u64 addr; /* 0 = free slot */
    pt_u64 size_bytes;
    pt_i64 at_ns;
    pt_u32 owner;   /* thread that allocated (full mode), or site (samples) */
    pt_u16 pending; /* 1: not live; its release was seen before its allocation */
    pt_u16 owed;    /* releases of earlier blocks at this address that have not been seen yet */
};

struct pt_block_map {
    struct pt_heap_block *slots;
    size_t n, mask; /* mask 0 = no slots yet */
};

/* NULL when there is none. */
struct pt_heap_block *pt_block_find(const struct pt_block_map *map, pt_u64 addr);
/* The block's slot, zeroed but for addr when it is new. addr is not 0. Valid until the next insertion or removal. */
struct pt_heap_block *pt_block_insert(struct pt_block_map *map, pt_u64 addr);
void pt_block_remove(struct pt_block_map *map, struct pt_heap_block *block);
void pt_block_map_fini(struct pt_block_map *map);

#endif
