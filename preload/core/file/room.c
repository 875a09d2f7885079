/* SPDX-License-Identifier: MIT
 *
 * room.c - room for new threads: areas of the trace file and private memories, made for many at once.
 *
 * Entered with signals blocked, on a private stack where something is made. Nobody waits for anybody: who finds nothing
 * in the pools while another thread makes one takes an area for itself. What is taken is never given back; a dead
 * thread's slot is taken over with all it has.
 */
#include "room.h"

#include <sys/resource.h>

#include "core/sys.h"
#include "area.h"
#include "image_state.h"
#include "own_file.h"
#include "space.h"

static pt_u64 room_bytes(void)
{
    return pt_area_bytes() + PT_OWN_CHUNK_BYTES;
}

static struct pt_area_pool *pool_at(pt_u32 index)
{
    return index ? &pt_image->pools[index - 1] : &pt_image->head_pool;
}

static struct pt_room room_in_pool(pt_u32 index)
{
    struct pt_area_pool *pool = pool_at(index);
    if (__atomic_load_n(&pool->next, __ATOMIC_RELAXED) >= pool->count)
        return (struct pt_room){0};
    const pt_u32 i = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);
    if (i >= pool->count)
        return (struct pt_room){0};
    return (struct pt_room){pool->base + i * room_bytes(), pool->privates ? pool->privates + i : 0};
}

struct pt_room pt_room_take(void)
{
    for (;;) {
        pt_u32 index = __atomic_load_n(&pt_image->pool, __ATOMIC_RELAXED);
        const pt_u32 n_pools = __atomic_load_n(&pt_image->n_pools, __ATOMIC_ACQUIRE);
        const struct pt_room room = room_in_pool(index);
        if (room.area || index + 1 >= n_pools)
            return room;
        __atomic_compare_exchange_n(&pt_image->pool, &index, index + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

pt_u32 pt_room_left(void)
{
    const pt_u32 n_pools = __atomic_load_n(&pt_image->n_pools, __ATOMIC_ACQUIRE);
    pt_u32 left = 0;
    for (pt_u32 i = __atomic_load_n(&pt_image->pool, __ATOMIC_RELAXED); i < n_pools; i++) {
        const struct pt_area_pool *pool = pool_at(i);
        const pt_u32 next = __atomic_load_n(&pool->next, __ATOMIC_RELAXED);
        left += next < pool->count ? pool->count - next : 0;
    }
    return left;
}

/* Not ahead of need where the program's address space is limited: it counts there, touched or not. */
static struct pt_private *new_privates(pt_u32 count)
{
    struct rlimit limit;
    if (pt_syscall4(SYS_prlimit64, 0, RLIMIT_AS, 0, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
        return 0;
    return pt_privates_new(count);
}

/* The pool doubles the number of areas, because growing the file costs 140 us (on a busy machine also two waits for
 * a CPU) and programs start many threads at once. Only one thread makes a pool and no other waits for it; otherwise
 * each of a thousand threads without an area would make one. A clone that shares our memory and is killed here
 * leaves `growing` set; from then on each thread makes its own area. */
void pt_room_make_pool(void)
{
    if (pt_own_file_make() < 0 || __atomic_exchange_n(&pt_image->growing, 1, __ATOMIC_ACQUIRE))
        return;
    const pt_u64 one = room_bytes();
    const pt_u32 index = pt_image->n_pools;
    const pt_u32 there = __atomic_load_n(&pt_image->n_threads, __ATOMIC_RELAXED) + pt_room_left();
    const pt_u32 areas = there < 2 ? 2 : there < PT_ROOM_MOST_AREAS ? there : PT_ROOM_MOST_AREAS;
    const struct pt_space space = index <= PT_MAX_POOLS ? pt_space_grow(areas * one, one) : (struct pt_space){0};
    if (space.map) {
        const pt_u32 count = (pt_u32)(space.bytes / one);
        *pool_at(index) = (struct pt_area_pool){space.map, new_privates(count), count, 0};
        __atomic_store_n(&pt_image->n_pools, index + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&pt_image->growing, 0, __ATOMIC_RELEASE);
}

char *pt_room_area(void)
{
    struct pt_room room = pt_room_take();
    if (!room.area) {
        pt_room_make_pool();
        room = pt_room_take();
    }
    if (room.area || !pt_has_own_file())
        return room.area;
    return pt_space_grow(room_bytes(), room_bytes()).map;
}
