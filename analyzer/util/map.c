/* SPDX-License-Identifier: MIT
 *
 * map.c - Owns: the tables. Threads: one per table, or many readers. Open addressing, linear probing, at most half
 * full. Never: lets a slot's position decide the order in which entries are visited.
 */
#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "mem.h"

static uint32_t *map_slot(const struct pt_map *map, uint64_t key)
{
    for (size_t at = pt_hash_u64(key, map->seed) & (map->n_slots - 1);; at = (at + 1) & (map->n_slots - 1))
        if (!map->slots[at] || map->entries[map->slots[at] - 1].key == key)
            return &map->slots[at];
}

uint64_t *pt_map_find(const struct pt_map *map, uint64_t key)
{
    if (!map->n_slots)
        return NULL;
    const uint32_t *slot = map_slot(map, key);
    return *slot ? &map->entries[*slot - 1].value : NULL;
}

static void map_grow(struct pt_map *map)
{
    map->seed = map->n_slots ? map->seed : pt_hash_seed();
    map->n_slots = map->n_slots ? map->n_slots * 2 : 16;
    free(map->slots);
    map->slots = pt_calloc(map->n_slots, sizeof *map->slots);
    for (size_t i = 0; i < map->n; i++)
        *map_slot(map, map->entries[i].key) = (uint32_t)i + 1;
}

uint64_t *pt_map_at(struct pt_map *map, uint64_t key)
{
    if ((map->n + 1) * 2 > map->n_slots)
        map_grow(map);
    uint32_t *slot = map_slot(map, key);
    if (!*slot) {
        if (map->n == map->capacity) {
            map->capacity = map->capacity ? map->capacity * 2 : 8;
            map->entries = pt_realloc(map->entries, map->capacity * sizeof *map->entries);
        }
        map->entries[map->n] = (struct pt_map_entry){key, 0};
        *slot = (uint32_t)++map->n;
    }
    return &map->entries[*slot - 1].value;
}

void pt_map_fini(struct pt_map *map)
{
    free(map->entries);
    free(map->slots);
    *map = (struct pt_map){0};
}

static uint32_t hash_bytes(const struct pt_intern *intern, const char *bytes, size_t n)
{
    uint64_t hash = intern->seed;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3ull;
    return (uint32_t)pt_hash_u64(hash, intern->seed);
}

static void intern_grow(struct pt_intern *intern)
{
    const size_t old = intern->n_slots;
    __typeof__(intern->slots) slots = intern->slots;
    intern->seed = old ? intern->seed : pt_hash_seed();
    intern->n_slots = old ? old * 2 : 256;
    intern->slots = pt_calloc(intern->n_slots, sizeof *intern->slots);
    for (size_t i = 0; i < old; i++) {
        if (!slots[i].text)
            continue;
        size_t at = slots[i].hash & (intern->n_slots - 1);
        while (intern->slots[at].text)
            at = (at + 1) & (intern->n_slots - 1);
        intern->slots[at] = slots[i];
    }
    free(slots);
}

/* Its slot, or the free one that it would get. */
static size_t intern_slot(const struct pt_intern *intern, uint32_t hash, const char *bytes, size_t n)
{
    size_t at = hash & (intern->n_slots - 1);
    while (intern->slots[at].text && (intern->slots[at].hash != hash || intern->slots[at].bytes != n ||
                                      memcmp(intern->slots[at].text, bytes, n) != 0))
        at = (at + 1) & (intern->n_slots - 1);
    return at;
}

const char *pt_intern_bytes(struct pt_intern *intern, const char *bytes, size_t n)
{
    if ((intern->n + 1) * 2 > intern->n_slots)
        intern_grow(intern);
    const uint32_t hash = hash_bytes(intern, bytes, n);
    const size_t at = intern_slot(intern, hash, bytes, n);
    if (intern->slots[at].text)
        return intern->slots[at].text;
    intern->slots[at].text = pt_arena_text(&intern->texts, bytes, n);
    intern->slots[at].hash = hash;
    intern->slots[at].bytes = (uint32_t)n;
    intern->n++;
    return intern->slots[at].text;
}

const char *pt_intern_text(struct pt_intern *intern, const char *text)
{
    return pt_intern_bytes(intern, text, strlen(text));
}

const char *pt_intern_known(const struct pt_intern *intern, const char *text)
{
    const size_t n = strlen(text);
    return intern->n ? intern->slots[intern_slot(intern, hash_bytes(intern, text, n), text, n)].text : NULL;
}

void pt_intern_fini(struct pt_intern *intern)
{
    pt_arena_fini(&intern->texts);
    free(intern->slots);
    *intern = (struct pt_intern){0};
}
