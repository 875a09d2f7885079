/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of live blocks. Threads: one per table. Never: leaves tombstones (removal shifts back what follows).
 */
#include "block_map.h"

#include <stdlib.h>

#include "../util/mem.h"

static size_t home(const struct pt_block_map *map, pt_u64 addr)
{
    const pt_u64 hash = (addr >> 4) * 0x9e3779b97f4a7c15ull;
    return (size_t)(hash >> 20) & map->mask;
}

static void grow(struct pt_block_map *map)
{
    const struct pt_block_map old = *map;
    const size_t slots = old.mask ? (old.mask + 1) * 2 : 64;
    map->slots = pt_calloc(slots, sizeof *map->slots);
    map->mask = slots - 1;
    for (size_t i = 0; old.slots && i <= old.mask; i++) {
        if (!old.slots[i].addr)
            continue;
        size_t at = home(map, old.slots[i].addr);
        while (map->slots[at].addr)
            at = (at + 1) & map->mask;
        map->slots[at] = old.slots[i];
    }
    free(old.slots);
}

struct pt_heap_block *pt_block_find(const struct pt_block_map *map, pt_u64 addr)
{
    if (!map->n)
        return NULL;
    for (size_t at = home(map, addr); map->slots[at].addr; at = (at + 1) & map->mask)
        if (map->slots[at].addr == addr)
            return &map->slots[at];
    return NULL;
}

struct pt_heap_block *pt_block_insert(struct pt_block_map *map, pt_u64 addr)
{
    if ((map->n + 1) * 8 > (map->mask + 1) * 7 || !map->slots)
        grow(map);
    size_t at = home(map, addr);
    for (; map->slots[at].addr; at = (at + 1) & map->mask)
        if (map->slots[at].addr == addr)
            return &map->slots[at];
    map->slots[at] = (struct pt_heap_block){.addr = addr};
    map->n++;
    return &map->slots[at];
}

void pt_block_remove(struct pt_block_map *map, struct pt_heap_block *block)
{
    size_t hole = (size_t)(block - map->slots);
    for (size_t at = (hole + 1) & map->mask; map->slots[at].addr; at = (at + 1) & map->mask) {
        const size_t wants = home(map, map->slots[at].addr);
        /* It may move back into the hole unless its home lies between the two. */
        if (((at - wants) & map->mask) >= ((at - hole) & map->mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].addr = 0;
    map->n--;
}

void pt_block_map_fini(struct pt_block_map *map)
{
    free(map->slots);
    *map = (struct pt_block_map){0};
}
