/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of live blocks. Threads: one per table. Never: leaves tombstones (removal shifts back what
 * follows), grows beyond its room, shows the order of its slots: it differs from run to run.
 */
#include "block_map.h"

#include <stdbool.h>
#include <stdlib.h>

#include "util/hash.h"
#include "util/mem.h"

static size_t home(const struct pt_block_map *map, pt_u64 addr)
{
    return (size_t)pt_hash_u64(addr, map->seed) & map->mask;
}

/* Whether there is a slot for one more block. */
static bool make_room(struct pt_block_map *map)
{
    const size_t have = map->slots ? map->mask + 1 : 0;
    if ((map->n + 1) * 8 <= have * 7)
        return true;
    const size_t slots = have ? have * 2 : 64;
    if (map->room->taken_slots + slots - have > PT_BLOCK_SLOTS_MOST)
        return false;
    const struct pt_block_map old = *map;
    map->room->taken_slots += slots - have;
    map->seed = have ? map->seed : pt_hash_seed();
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
    return true;
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
    if (!make_room(map))
        return pt_block_find(map, addr);
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
        /* An entry may move back into the hole unless its home slot lies between the two. */
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
    if (map->slots)
        map->room->taken_slots -= map->mask + 1;
    free(map->slots);
    *map = (struct pt_block_map){.room = map->room};
}
