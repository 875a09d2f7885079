/* SPDX-License-Identifier: MIT
 *
 * How much of a device's memory is in use over time, and of its pools: by their allocations, and how large each is,
 * where CUPTI reported it.
 *
 * Threads: one. State: a level per device, with a fixed number of buckets over the life of the stage; a pool per
 * address, process and device. Never: takes a size that CUPTI reported once for one that holds for ever: where more is
 * in use, nothing is known.
 */
#include "levels.h"

#include <stdlib.h>

#include "proftrace/payloads.h"

/* ---- a device over time ---- */

struct pt_gpu_level *pt_gpu_level_of(struct pt_gpu *gpu, pt_u32 device, pt_u32 *ret_index)
{
    struct pt_gpu_levels *own = gpu->levels;
    pt_u64 *slot = pt_map_at(&own->by_device, device);
    if (!*slot) {
        const struct pt_stage *stage = &gpu->profile->stages.items[gpu->devices.items[device]->stage];
        const pt_i64 life_ns = stage->end_ns > stage->start_ns ? stage->end_ns - stage->start_ns : 1;
        struct pt_gpu_level *level = pt_calloc(1, sizeof *level);
        level->device = device;
        level->start_ns = stage->start_ns;
        level->bucket_ns = life_ns / PT_GPU_MEMORY_BUCKETS + (life_ns % PT_GPU_MEMORY_BUCKETS != 0);
        pt_vec_push(&own->levels, level);
        *slot = own->levels.n;
    }
    *ret_index = (pt_u32)*slot;
    return own->levels.items[*slot - 1];
}

struct pt_gpu_level_bucket *pt_gpu_level_bucket(struct pt_gpu_level *level, pt_i64 at_ns)
{
    const pt_i64 wanted = at_ns > level->start_ns ? (at_ns - level->start_ns) / level->bucket_ns : 0;
    /* An allocation and the size that it reports are two events with the same time, in either order. */
    level->buckets[level->bucket].is_unsure |= level->unsure_pools && at_ns > level->pools_ns;
    while (level->bucket < wanted && level->bucket + 1 < PT_GPU_MEMORY_BUCKETS)
        level->buckets[++level->bucket] = (struct pt_gpu_level_bucket){.highest_bytes = level->level_bytes,
                                                                       .pools_bytes = level->pools_bytes,
                                                                       .pools_used_bytes = level->pools_used_bytes,
                                                                       .is_unsure = level->unsure_pools > 0};
    return &level->buckets[level->bucket];
}

struct pt_gpu_level_bucket *pt_gpu_level_change(struct pt_gpu_level *level, pt_i64 at_ns, pt_i64 bytes)
{
    struct pt_gpu_level_bucket *bucket = pt_gpu_level_bucket(level, at_ns);
    pt_gpu_add_bytes(&level->level_bytes, bytes);
    if (level->level_bytes > bucket->highest_bytes)
        bucket->highest_bytes = level->level_bytes;
    if (level->level_bytes < level->lowest_bytes)
        level->lowest_bytes = level->level_bytes;
    if (level->level_bytes > level->peak_bytes) {
        level->peak_bytes = level->level_bytes;
        level->peak_ns = at_ns;
    }
    return bucket;
}

double pt_gpu_level_peak(const struct pt_gpu *gpu, pt_u32 device)
{
    const pt_u64 *slot = gpu->levels ? pt_map_find(&gpu->levels->by_device, device) : NULL;
    return slot && *slot ? (double)gpu->levels->levels.items[*slot - 1]->peak_bytes : 0;
}

pt_u64 pt_gpu_level_allocations_above(const struct pt_gpu *gpu, pt_u32 device, double bytes)
{
    const pt_u64 *slot = gpu->levels ? pt_map_find(&gpu->levels->by_device, device) : NULL;
    const struct pt_gpu_level *level = slot && *slot ? gpu->levels->levels.items[*slot - 1] : NULL;
    pt_u64 n = 0;
    bool was_above = false;
    for (pt_u32 i = 0; level && i <= level->bucket; i++) {
        const bool is_above = (double)level->buckets[i].highest_bytes > bytes;
        n += was_above && is_above ? level->buckets[i].allocations : 0;
        was_above |= is_above;
    }
    return n;
}

void pt_gpu_levels_end(struct pt_gpu *gpu)
{
    for (size_t i = 0; i < gpu->levels->levels.n; i++)
        pt_gpu_level_bucket(gpu->levels->levels.items[i], INT64_MAX / 2);
}

void pt_gpu_levels_free(struct pt_gpu *gpu)
{
    struct pt_gpu_levels *own = gpu->levels;
    if (!own)
        return;
    for (size_t i = 0; i < own->levels.n; i++)
        free(own->levels.items[i]);
    free(own->levels.items);
    free(own->pools.items);
    pt_map_fini(&own->by_device);
    pt_map_fini(&own->by_pool);
    free(own);
}

/* ---- pools ---- */

struct pt_gpu_pool *pt_gpu_pool_of(struct pt_gpu *gpu, const struct pt_process *process, const char *name,
                                   pt_u32 device)
{
    struct pt_gpu_levels *own = gpu->levels;
    const pt_u64 key = pt_hash_pair((uintptr_t)name, (pt_u64)process->index << 32 | device);
    const pt_u64 *known = name ? pt_map_find(&own->by_pool, key) : NULL;
    if (known)
        return &own->pools.items[*known - 1];
    if (!name || own->pools.n >= PT_GPU_MOST_POOLS)
        return NULL;
    pt_vec_push(&own->pools, ((struct pt_gpu_pool){.device = device, .process = process, .name = name}));
    *pt_map_at(&own->by_pool, key) = own->pools.n;
    return &own->pools.items[own->pools.n - 1];
}

/* Of the pools of a device together, as of now. */
static void count(struct pt_gpu_level *level, struct pt_gpu_pool *pool, pt_i64 at_ns, struct pt_gpu_pool_now now)
{
    struct pt_gpu_level_bucket *bucket = pt_gpu_level_bucket(level, at_ns);
    pt_gpu_add_bytes(&level->pools_bytes, now.bytes - pool->now.bytes);
    pt_gpu_add_bytes(&level->pools_used_bytes, now.used_bytes - pool->now.used_bytes);
    level->unsure_pools += now.is_unsure - pool->now.is_unsure;
    level->pools_ns = at_ns;
    pool->now = now;
    if (level->pools_bytes > bucket->pools_bytes)
        bucket->pools_bytes = level->pools_bytes;
    if (level->pools_used_bytes > bucket->pools_used_bytes)
        bucket->pools_used_bytes = level->pools_used_bytes;
}

static void change(struct pt_gpu *gpu, struct pt_gpu_pool *pool, pt_i64 at_ns, pt_i64 bytes)
{
    pt_u32 index;
    const pt_i64 used = pool->level_bytes;
    if (pool->is_over)
        return;
    count(pt_gpu_level_of(gpu, pool->device, &index), pool, at_ns,
          (struct pt_gpu_pool_now){bytes, used > 0 ? used : 0, used < 0 || used > bytes});
}

void pt_gpu_pool_use(struct pt_gpu *gpu, struct pt_gpu_pool *pool, pt_i64 at_ns, pt_u64 bytes, bool is_release)
{
    pool->allocations += !is_release;
    pool->releases += is_release;
    pool->allocated_bytes += is_release ? 0 : bytes;
    pt_gpu_add_bytes(&pool->level_bytes, is_release ? -(pt_i64)bytes : (pt_i64)bytes);
    pool->peak_bytes = pool->level_bytes > pool->peak_bytes ? pool->level_bytes : pool->peak_bytes;
    change(gpu, pool, at_ns, pool->now.bytes);
}

void pt_gpu_pool_size_event(struct pt_gpu *gpu, struct pt_gpu_pool *pool, const struct pt_event *event)
{
    enum { DESTROYED = 2, TRIMMED = 3 };
    const struct pt_ev_gpu_memory_pool *sizes = pt_event_as(event, gpu_memory_pool);
    if (!pool)
        return;
    pool->has_size = true;
    pool->trims += event->tag == TRIMMED;
    pool->size_bytes = sizes->bytes > pool->size_bytes ? sizes->bytes : pool->size_bytes;
    pool->used_bytes = sizes->used_bytes > pool->used_bytes ? sizes->used_bytes : pool->used_bytes;
    change(gpu, pool, event->start_ns, event->tag == DESTROYED ? 0 : (pt_i64)(sizes->bytes & INT64_MAX));
}

void pt_gpu_pool_end(struct pt_gpu_levels *own, struct pt_gpu_pool *pool)
{
    const pt_u64 *level = pt_map_find(&own->by_device, pool->device);
    pool->is_over = true;
    if (level && *level)
        count(own->levels.items[*level - 1], pool, pool->process->end_ns, (struct pt_gpu_pool_now){0});
}
