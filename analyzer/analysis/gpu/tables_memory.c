/* SPDX-License-Identifier: MIT
 *
 * Tables of GPU memory: kinds, pools, and how much of each device was in use when. Threads: one. Never: shows a size
 * that CUPTI did not report.
 */
#include "tables_memory.h"

#include <stdlib.h>
#include <string.h>

#include "levels.h"
#include "memory.h"

enum { MAX_MEMORY = 64, MAX_POOLS = 64 };

static struct pt_value level_value(pt_i64 bytes, pt_i64 left_bytes)
{
    if (__builtin_add_overflow(bytes, left_bytes, &bytes))
        return pt_unknown("the sizes cannot be");
    return bytes < 0 ? pt_unknown("more was released than was seen to be allocated") : pt_integer((pt_u64)bytes);
}

struct kind_row {
    const char *memory;
    pt_u64 peak_bytes, allocations, releases, allocated_bytes;
    double peak_at_s;
    struct pt_value end_bytes;
};

static const struct pt_column kind_columns[] = {
    PT_COLUMN(struct kind_row, memory, TEXT, "Device/kind"),
    PT_COLUMN(struct kind_row, peak_bytes, BYTES, "Peak"),
    PT_COLUMN(struct kind_row, peak_at_s, SECONDS, "At"),
    PT_COLUMN(struct kind_row, end_bytes, BYTES, "At the end"),
    PT_COLUMN(struct kind_row, allocations, COUNT, "Allocations"),
    PT_COLUMN(struct kind_row, releases, COUNT, "Releases"),
    PT_COLUMN(struct kind_row, allocated_bytes, BYTES, "Allocated"),
};
static const struct pt_table_kind by_kind = {PT_VIEW_gpu_memory, .most = MAX_MEMORY, PT_COLUMNS(kind_columns)};

static void kinds_table(struct pt_gpu *gpu, pt_u32 stage)
{
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_kind);
    for (size_t i = 0; i < gpu->memory->places.n; i++) {
        const struct pt_gpu_memory *memory = &gpu->memory->places.items[i];
        if (memory->stage != stage || !pt_rows_have_room(&rows))
            continue;
        pt_rows_add(&rows,
                    &(struct kind_row){
                        .memory = pt_metrics_text(rows.metrics, memory->place),
                        .peak_bytes = memory->peak_bytes,
                        .peak_at_s = (double)(memory->peak_ns - gpu->profile->stages.items[stage].start_ns) / 1e9,
                        .end_bytes = level_value(memory->level_bytes, memory->left_bytes),
                        .allocations = memory->allocations,
                        .releases = memory->releases,
                        .allocated_bytes = memory->allocated_bytes,
                    });
    }
}

/* ---- pools ---- */

static int by_peak(const void *a, const void *b)
{
    const struct pt_gpu_pool *x = *(const struct pt_gpu_pool *const *)a, *y = *(const struct pt_gpu_pool *const *)b;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes < y->peak_bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

struct pool_row {
    const char *pool;
    pt_u64 peak_bytes, trims, allocations, releases, allocated_bytes;
    struct pt_value size_bytes, peak_percent, end_bytes;
    pt_u32 pid, device;
};

static const struct pt_column pool_columns[] = {
    PT_COLUMN(struct pool_row, pool, TEXT, "Pool"),
    PT_COLUMN(struct pool_row, size_bytes, BYTES, "Size"),
    PT_COLUMN(struct pool_row, peak_bytes, BYTES, "Peak in use"),
    PT_COLUMN(struct pool_row, peak_percent, PERCENT, "Of its size"),
    PT_COLUMN(struct pool_row, end_bytes, BYTES, "At the end"),
    PT_COLUMN(struct pool_row, trims, COUNT, "Trims"),
    PT_COLUMN(struct pool_row, allocations, COUNT, "Allocations"),
    PT_COLUMN(struct pool_row, releases, COUNT, "Releases"),
    PT_COLUMN(struct pool_row, allocated_bytes, BYTES, "Allocated"),
    PT_COLUMN(struct pool_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct pool_row, device, NUMBER, "GPU"),
};
static const struct pt_table_kind by_pool = {PT_VIEW_gpu_pools, .most = MAX_POOLS, PT_COLUMNS(pool_columns)};

static void add_pool(struct pt_gpu *gpu, struct pt_rows *rows, const struct pt_gpu_pool *pool)
{
    const pt_u64 seen = pool->peak_bytes > 0 ? (pt_u64)pool->peak_bytes : 0;
    const pt_u64 peak = pool->used_bytes > seen ? pool->used_bytes : seen;
    const bool is_known = pool->size_bytes && pool->size_bytes >= peak;
    const struct pt_value unknown =
        pt_unknown(pool->has_size ? "when its size was told, less of it was in use than at its peak"
                                  : "CUPTI did not tell how large this pool is");
    pt_rows_add(rows, &(struct pool_row){
                          .pool = pt_metrics_text(rows->metrics, pool->name),
                          .size_bytes = is_known ? pt_integer(pool->size_bytes) : unknown,
                          .peak_bytes = peak,
                          .peak_percent = is_known ? pt_real(100 * (double)peak / (double)pool->size_bytes) : unknown,
                          .end_bytes = level_value(pool->level_bytes, 0),
                          .trims = pool->trims,
                          .allocations = pool->allocations,
                          .releases = pool->releases,
                          .allocated_bytes = pool->allocated_bytes,
                          .pid = pool->process->pid,
                          .device = gpu->devices.items[pool->device]->number,
                      });
}

static void pools_table(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_gpu_levels *own = gpu->levels;
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_pool);
    const struct pt_gpu_pool **sorted = pt_calloc(own->pools.n + 1, sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; i < own->pools.n; i++)
        if (gpu->devices.items[own->pools.items[i].device]->stage == stage)
            sorted[n++] = &own->pools.items[i];
    qsort(sorted, n, sizeof *sorted, by_peak);
    for (size_t i = 0; i < n; i++)
        if (pt_rows_have_room(&rows))
            add_pool(gpu, &rows, sorted[i]);
    free(sorted);
}

/* ---- over time ---- */

static bool has_no_change(const struct pt_gpu_level_bucket *bucket)
{
    return !bucket->allocations && !bucket->releases;
}

static bool is_level(const struct pt_gpu_level_bucket *a, const struct pt_gpu_level_bucket *b)
{
    return a->highest_bytes == b->highest_bytes && a->pools_bytes == b->pools_bytes &&
           a->pools_used_bytes == b->pools_used_bytes && a->is_unsure == b->is_unsure;
}

struct level_row {
    pt_u32 device;
    double t_s, seconds;
    pt_u64 bytes, allocations, releases, allocated_bytes, released_bytes, pools_used_bytes;
    struct pt_value pools_bytes;
};

static const struct pt_column level_columns[] = {
    PT_COLUMN(struct level_row, device, NUMBER, "GPU"),
    PT_COLUMN(struct level_row, t_s, SECONDS, "From"),
    PT_COLUMN(struct level_row, seconds, SECONDS, "For"),
    PT_COLUMN(struct level_row, bytes, BYTES, "At most"),
    PT_COLUMN(struct level_row, allocations, COUNT, "Allocations"),
    PT_COLUMN(struct level_row, releases, COUNT, "Releases"),
    PT_COLUMN(struct level_row, allocated_bytes, BYTES, "Allocated"),
    PT_COLUMN(struct level_row, released_bytes, BYTES, "Released"),
    PT_COLUMN(struct level_row, pools_bytes, BYTES, "Pools"),
    PT_COLUMN(struct level_row, pools_used_bytes, BYTES, "Of pools in use"),
};
static const struct pt_table_kind over_time = {PT_VIEW_gpu_memory_over_time, PT_COLUMNS(level_columns)};

/* Stretches in which nothing changes are one row. */
static void add_level(struct pt_rows *rows, const struct pt_gpu_level *level, pt_u32 device)
{
    for (pt_u32 i = 0, end; i < PT_GPU_MEMORY_BUCKETS; i = end) {
        const struct pt_gpu_level_bucket *bucket = &level->buckets[i];
        for (end = i + 1; end < PT_GPU_MEMORY_BUCKETS && has_no_change(bucket) && has_no_change(&level->buckets[end]) &&
                          is_level(bucket, &level->buckets[end]);)
            end++;
        pt_rows_add(
            rows, &(struct level_row){
                      .device = device,
                      .t_s = (double)i * (double)level->bucket_ns / 1e9,
                      .seconds = (double)(end - i) * (double)level->bucket_ns / 1e9,
                      /* What was released without having been seen to be allocated was there from the start. */
                      .bytes = (pt_u64)bucket->highest_bytes - (pt_u64)level->lowest_bytes,
                      .allocations = bucket->allocations,
                      .releases = bucket->releases,
                      .allocated_bytes = bucket->allocated_bytes,
                      .released_bytes = bucket->released_bytes,
                      .pools_bytes = bucket->is_unsure
                                         ? pt_unknown("more of a pool was in use than CUPTI had told that it is large")
                                         : pt_integer((pt_u64)bucket->pools_bytes),
                      .pools_used_bytes = (pt_u64)bucket->pools_used_bytes,
                  });
    }
}

static void levels_table(struct pt_gpu *gpu, pt_u32 stage)
{
    const struct pt_gpu_levels *own = gpu->levels;
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &over_time);
    for (size_t i = 0; i < own->levels.n; i++) {
        const struct pt_gpu_device *device = gpu->devices.items[own->levels.items[i]->device];
        if (device->stage == stage)
            add_level(&rows, own->levels.items[i], device->number);
    }
}

void pt_gpu_memory_tables(struct pt_gpu *gpu, pt_u32 stage)
{
    if (!gpu->memory)
        return;
    kinds_table(gpu, stage);
    pools_table(gpu, stage);
    levels_table(gpu, stage);
}
