/* SPDX-License-Identifier: MIT
 *
 * block_map.h - live heap blocks by address: open addressing with deletion in place, 32 bytes per slot, because a full
 * heap trace inserts and removes ten million of them.
 *
 * A byte of a trace can contain thirty allocations, so the tables of one pass share PT_BLOCK_SLOTS_MOST slots: blocks
 * that do not fit are not followed, and the caller must report that.
 */
#ifndef PT_FACTS_BLOCK_MAP_H
#define PT_FACTS_BLOCK_MAP_H

#include <stddef.h>

#include "proftrace/types.h"

struct pt_heap_block {
    pt_u64 addr; /* 0 = free slot */
    pt_u64 size_bytes;
    pt_i64 at_ns;
    pt_u32 owner; /* thread that allocated (full mode), or site (samples) */
    union {
        struct {
            pt_u16 pending;       /* 1: not live; its release was seen before its allocation */
            pt_u16 pending_frees; /* releases of earlier blocks at this address that have not been seen yet */
        };
        pt_u32 one_in; /* of a sample: how many samples it is for its site; 0 = its site is not known */
    };
};

/* 256 MiB of slots: seven million blocks that live at once. */
#define PT_BLOCK_SLOTS_MOST ((size_t)8 << 20)

/* Zeroed = no slot is used. */
struct pt_block_room {
    size_t taken_slots; /* by all tables that share it */
};

/* Zeroed but for `room` = empty. */
struct pt_block_map {
    struct pt_block_room *room;
    struct pt_heap_block *slots;
    size_t n, mask; /* mask 0 = no slots yet */
    pt_u64 seed;
};

/* NULL when there is none. */
struct pt_heap_block *pt_block_find(const struct pt_block_map *map, pt_u64 addr);
/* The block's slot, zeroed but for addr when it is new; NULL when the room is full. addr is not 0. Valid until the next
 * insertion or removal. */
struct pt_heap_block *pt_block_insert(struct pt_block_map *map, pt_u64 addr);
void pt_block_remove(struct pt_block_map *map, struct pt_heap_block *block);
void pt_block_map_fini(struct pt_block_map *map);

#endif
