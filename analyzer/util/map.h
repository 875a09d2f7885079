/* SPDX-License-Identifier: MIT
 *
 * map.h - hash tables: 64-bit key to 64-bit value, and a set of interned texts. Zero-initialised = empty. Iteration
 * order is that of insertion, so that what is printed from a map does not depend on hashes.
 */
#ifndef PT_UTIL_MAP_H
#define PT_UTIL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"

struct pt_map_entry {
    uint64_t key, value;
};

struct pt_map {
    struct pt_map_entry *entries; /* n of them, in order of insertion */
    size_t n, capacity;
    uint32_t *slots; /* index + 1 into entries; 0 = free */
    size_t n_slots;  /* a power of two */
    uint64_t seed;
};

/* The place of a key's value, NULL when it is not there. Valid until the next insertion. */
uint64_t *pt_map_find(const struct pt_map *map, uint64_t key);
/* The place of a key's value, made with value 0 when it was not there. */
uint64_t *pt_map_at(struct pt_map *map, uint64_t key);
void pt_map_fini(struct pt_map *map);

static inline void *pt_map_pointer(const struct pt_map *map, uint64_t key)
{
    const uint64_t *value = pt_map_find(map, key);
    return value ? (void *)(uintptr_t)*value : NULL;
}

struct pt_intern {
    struct pt_arena texts;
    struct {
        const char *text;
        uint32_t hash, bytes;
    } * slots;
    size_t n, n_slots;
    uint64_t seed;
};

/* The one copy of a text: equal bytes give equal pointers. */
const char *pt_intern_bytes(struct pt_intern *intern, const char *bytes, size_t n);
const char *pt_intern_text(struct pt_intern *intern, const char *text);
/* The same, if it is there; NULL = it is not, and nothing is added. */
const char *pt_intern_known(const struct pt_intern *intern, const char *text);
void pt_intern_fini(struct pt_intern *intern);

#endif
