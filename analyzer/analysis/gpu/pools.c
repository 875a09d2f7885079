/* SPDX-License-Identifier: MIT
 *
 * Pools of GPU memory: what is in use of each, by its allocations, and how large it is, where CUPTI told.
 *
 * Threads: one. State: a pool per address, process and device. Never: takes a size that was told for one that holds
 * for ever: where more is in use than was told, nothing is known.
 */
#include "proftrace/payloads.h"
#include "memory.h"

struct gpu_pool *gpu_pool_of(struct gpu *gpu, const struct pt_process *process, const char *name, pt_u32 device)
{
    struct gpu_memories *own = gpu->memory;
    const pt_u64 key = gpu_mix((uintptr_t)name, (pt_u64)process->index << 32 | device);
    const pt_u64 *known = name ? pt_map_find(&own->by_pool, key) : NULL;
    if (known)
        return &own->pools.items[*known - 1];
    if (!name || own->pools.n >= GPU_MOST_POOLS)
        return NULL;
    pt_vec_push(&own->pools, ((struct gpu_pool){.device = device, .process = process, .name = name}));
    *pt_map_at(&own->by_pool, key) = own->pools.n;
    return &own->pools.items[own->pools.n - 1];
}

/* Of the pools of a device together, as of now. */
static void count(struct gpu_level *level, struct gpu_pool *pool, pt_i64 at_ns, struct gpu_pool_now now)
{
    struct gpu_level_bucket *bucket = gpu_memory_bucket(level, at_ns);
    gpu_add_bytes(&level->pools_bytes, now.bytes - pool->now.bytes);
    gpu_add_bytes(&level->pools_used_bytes, now.used_bytes - pool->now.used_bytes);
    level->unsure_pools += now.is_unsure - pool->now.is_unsure;
    level->pools_ns = at_ns;
    pool->now = now;
    if (level->pools_bytes > bucket->pools_bytes)
        bucket->pools_bytes = level->pools_bytes;
    if (level->pools_used_bytes > bucket->pools_used_bytes)
        bucket->pools_used_bytes = level->pools_used_bytes;
}

static void change(struct gpu *gpu, struct gpu_pool *pool, pt_i64 at_ns, pt_i64 bytes)
{
    pt_u32 index;
    const pt_i64 used = pool->level_bytes;
    if (pool->is_over)
        return;
    count(gpu_memory_level(gpu, pool->device, &index), pool, at_ns,
          (struct gpu_pool_now){bytes, used > 0 ? used : 0, used < 0 || used > bytes});
}

void gpu_pool_use(struct gpu *gpu, struct gpu_pool *pool, pt_i64 at_ns, pt_u64 bytes, bool is_release)
{
    pool->allocations += !is_release;
    pool->releases += is_release;
    pool->allocated_bytes += is_release ? 0 : bytes;
    gpu_add_bytes(&pool->level_bytes, is_release ? -(pt_i64)bytes : (pt_i64)bytes);
    pool->peak_bytes = pool->level_bytes > pool->peak_bytes ? pool->level_bytes : pool->peak_bytes;
    change(gpu, pool, at_ns, pool->now.bytes);
}

void gpu_pool_told(struct gpu *gpu, struct gpu_pool *pool, const struct pt_event *event)
{
    enum { DESTROYED = 2, TRIMMED = 3 };
    const struct pt_ev_gpu_memory_pool *told = pt_event_as(event, gpu_memory_pool);
    if (!pool)
        return;
    pool->is_told = true;
    pool->trims += event->tag == TRIMMED;
    pool->size_bytes = told->bytes > pool->size_bytes ? told->bytes : pool->size_bytes;
    pool->used_bytes = told->used_bytes > pool->used_bytes ? told->used_bytes : pool->used_bytes;
    change(gpu, pool, event->start_ns, event->tag == DESTROYED ? 0 : (pt_i64)(told->bytes & INT64_MAX));
}

void gpu_pool_end(struct gpu_memories *own, struct gpu_pool *pool)
{
    const pt_u64 *level = pt_map_find(&own->by_device, pool->device);
    pool->is_over = true;
    if (level && *level)
        count(own->levels.items[*level - 1], pool, pool->process->end_ns, (struct gpu_pool_now){0});
}
