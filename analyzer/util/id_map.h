/* SPDX-License-Identifier: MIT
 *
 * id_map.h - a value for each id of a process. Ids count from 1, so a table by id is faster than a hash table.
 * Zero-initialised = empty; the value 0 means that nothing is known. Ids that are too large for a table, and those of
 * too many processes, go into a hash table: files can claim any id.
 */
#ifndef PT_UTIL_ID_MAP_H
#define PT_UTIL_ID_MAP_H

#include "map.h"

struct pt_id_map {
    struct pt_id_row {
        uint64_t *values;
        uint32_t n;
    } * rows; /* by process */
    uint32_t n_rows;
    size_t n_values; /* of all rows: bounded */
    struct pt_map others;
};

/* Makes room for an id. */
uint64_t *pt_id_map_add(struct pt_id_map *map, uint32_t process, uint32_t id);
void pt_id_map_fini(struct pt_id_map *map);

/* The place of its value, valid until the next call. */
static inline uint64_t *pt_id_map_at(struct pt_id_map *map, uint32_t process, uint32_t id)
{
    if (process < map->n_rows && id < map->rows[process].n)
        return &map->rows[process].values[id];
    return pt_id_map_add(map, process, id);
}

/* Its value; 0 = nothing is known. Makes no room: files can ask for ids that do not exist. */
static inline uint64_t pt_id_map_get(const struct pt_id_map *map, uint32_t process, uint32_t id)
{
    if (process < map->n_rows && id < map->rows[process].n)
        return map->rows[process].values[id];
    const uint64_t *value = pt_map_find(&map->others, (uint64_t)process << 32 | id);
    return value ? *value : 0;
}

#endif
