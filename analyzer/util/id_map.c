/* SPDX-License-Identifier: MIT
 *
 * id_map.c - Owns: the tables. Threads: one per map. Never: grows beyond its bounds, whatever ids a file has. An id
 * that found no room in a table stays in the hash table, because the sum of all rows only grows.
 */
#include "id_map.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

enum { MOST_ROWS = 65536, MOST_IDS = 1 << 18, MOST_VALUES = 1 << 20, FEWEST_IDS = 64 };

static int grow_rows(struct pt_id_map *map, uint32_t process)
{
    if (process >= MOST_ROWS)
        return -1;
    uint32_t n = map->n_rows ? map->n_rows : 16;
    while (n <= process)
        n *= 2;
    map->rows = pt_realloc(map->rows, n * sizeof *map->rows);
    memset(map->rows + map->n_rows, 0, (n - map->n_rows) * sizeof *map->rows);
    map->n_rows = n;
    return 0;
}

uint64_t *pt_id_map_add(struct pt_id_map *map, uint32_t process, uint32_t id)
{
    uint32_t n = FEWEST_IDS;
    while (n <= id && n < MOST_IDS)
        n *= 2;
    const uint64_t key = (uint64_t)process << 32 | id;
    if (n <= id || (process >= map->n_rows && grow_rows(map, process) < 0))
        return pt_map_at(&map->others, key);
    struct pt_id_row *row = &map->rows[process];
    if (map->n_values - row->n + n > MOST_VALUES)
        return pt_map_at(&map->others, key);
    map->n_values += n - row->n;
    row->values = pt_realloc(row->values, n * sizeof *row->values);
    memset(row->values + row->n, 0, (n - row->n) * sizeof *row->values);
    row->n = n;
    return &row->values[id];
}

void pt_id_map_fini(struct pt_id_map *map)
{
    for (uint32_t i = 0; i < map->n_rows; i++)
        free(map->rows[i].values);
    free(map->rows);
    pt_map_fini(&map->others);
    *map = (struct pt_id_map){0};
}
