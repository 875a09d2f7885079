/* SPDX-License-Identifier: MIT
 *
 * Tables of GPU memory: kinds, pools, and how much of each device was in use when. Threads: one. Never: gives the size
 * of a pool that nobody told.
 */
#include "tables_memory.h"

#include <stdlib.h>
#include <string.h>

#include "levels.h"
#include "memory.h"

enum { MAX_MEMORY = 64, MAX_POOLS = 64 };

static struct pt_table *table_of(struct gpu *gpu, pt_u32 stage, const char *name, const char *title,
                                 const struct pt_column *columns, size_t n)
{
    return pt_metrics_table(&gpu->profile->metrics, pt_scope_stage(stage), name, title, columns, (pt_u32)n);
}
#define TABLE(gpu, stage, name, title, columns)                                                                        \
    table_of(gpu, stage, name, title, columns, sizeof(columns) / sizeof *(columns))

static struct pt_value level_value(pt_i64 bytes, pt_i64 left_bytes)
{
    if (__builtin_add_overflow(bytes, left_bytes, &bytes))
        return pt_unknown("the sizes cannot be");
    return bytes < 0 ? pt_unknown("more was released than was seen to be allocated") : pt_integer((pt_u64)bytes);
}

static void kinds_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"memory", "Device/kind", PT_SHOW_TEXT},
        {"peak_bytes", "Peak", PT_SHOW_BYTES},
        {"peak_at_s", "At", PT_SHOW_SECONDS},
        {"end_bytes", "At the end", PT_SHOW_BYTES},
        {"allocations", "Allocations", PT_SHOW_COUNT},
        {"releases", "Releases", PT_SHOW_COUNT},
        {"allocated_bytes", "Allocated", PT_SHOW_BYTES},
    };
    struct pt_table *table = TABLE(gpu, stage, "gpu.memory", "GPU memory", columns);
    for (size_t i = 0; i < gpu->memory->places.n; i++) {
        const struct gpu_memory *memory = &gpu->memory->places.items[i];
        if (memory->stage != stage)
            continue;
        if (table->n_rows == MAX_MEMORY) {
            table->rows_left_out++;
            continue;
        }
        struct pt_value *row = pt_table_add_row(table);
        row[0] = pt_text(pt_metrics_text(&gpu->profile->metrics, memory->place));
        row[1] = pt_integer(memory->peak_bytes);
        row[2] = pt_seconds(memory->peak_ns - gpu->profile->stages.items[stage].start_ns);
        row[3] = level_value(memory->level_bytes, memory->left_bytes);
        row[4] = pt_integer(memory->allocations);
        row[5] = pt_integer(memory->releases);
        row[6] = pt_integer(memory->allocated_bytes);
    }
}

/* ---- pools ---- */

static int by_peak(const void *a, const void *b)
{
    const struct gpu_pool *x = *(const struct gpu_pool *const *)a, *y = *(const struct gpu_pool *const *)b;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes < y->peak_bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

static void add_pool(struct gpu *gpu, struct pt_table *table, const struct gpu_pool *pool)
{
    const pt_u64 seen = pool->peak_bytes > 0 ? (pt_u64)pool->peak_bytes : 0;
    const pt_u64 peak = pool->used_bytes > seen ? pool->used_bytes : seen;
    const bool is_known = pool->size_bytes && pool->size_bytes >= peak;
    const struct pt_value unknown =
        pt_unknown(pool->is_told ? "when its size was told, less of it was in use than at its peak"
                                 : "CUPTI did not tell how large this pool is");
    struct pt_value *row = pt_table_add_row(table);
    row[0] = pt_text(pt_metrics_text(&gpu->profile->metrics, pool->name));
    row[1] = is_known ? pt_integer(pool->size_bytes) : unknown;
    row[2] = pt_integer(peak);
    row[3] = is_known ? pt_real(100 * (double)peak / (double)pool->size_bytes) : unknown;
    row[4] = level_value(pool->level_bytes, 0);
    row[5] = pt_integer(pool->trims);
    row[6] = pt_integer(pool->allocations);
    row[7] = pt_integer(pool->releases);
    row[8] = pt_integer(pool->allocated_bytes);
    row[9] = pt_integer(pool->process->pid);
    row[10] = pt_integer(gpu->devices.items[pool->device]->number);
}

static void pools_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"pool", "Pool", PT_SHOW_TEXT},
        {"size_bytes", "Size", PT_SHOW_BYTES},
        {"peak_bytes", "Peak in use", PT_SHOW_BYTES},
        {"peak_percent", "Of its size", PT_SHOW_PERCENT},
        {"end_bytes", "At the end", PT_SHOW_BYTES},
        {"trims", "Trims", PT_SHOW_COUNT},
        {"allocations", "Allocations", PT_SHOW_COUNT},
        {"releases", "Releases", PT_SHOW_COUNT},
        {"allocated_bytes", "Allocated", PT_SHOW_BYTES},
        {"pid", "PID", PT_SHOW_NUMBER},
        {"device", "GPU", PT_SHOW_NUMBER},
    };
    const struct gpu_levels *own = gpu->levels;
    struct pt_table *table = TABLE(gpu, stage, "gpu.pools", "Pools of GPU memory", columns);
    const struct gpu_pool **sorted = pt_calloc(own->pools.n + 1, sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; i < own->pools.n; i++)
        if (gpu->devices.items[own->pools.items[i].device]->stage == stage)
            sorted[n++] = &own->pools.items[i];
    qsort(sorted, n, sizeof *sorted, by_peak);
    for (size_t i = 0; i < n && i < MAX_POOLS; i++)
        add_pool(gpu, table, sorted[i]);
    table->rows_left_out = n > MAX_POOLS ? n - MAX_POOLS : 0;
    free(sorted);
}

/* ---- over time ---- */

static bool is_quiet(const struct gpu_level_bucket *bucket)
{
    return !bucket->allocations && !bucket->releases;
}

static bool is_level(const struct gpu_level_bucket *a, const struct gpu_level_bucket *b)
{
    return a->highest_bytes == b->highest_bytes && a->pools_bytes == b->pools_bytes &&
           a->pools_used_bytes == b->pools_used_bytes && a->is_unsure == b->is_unsure;
}

/* Stretches in which nothing changes are one row. */
static void add_level(struct pt_table *table, const struct gpu_level *level, double number)
{
    for (pt_u32 i = 0, end; i < GPU_MEMORY_BUCKETS; i = end) {
        const struct gpu_level_bucket *bucket = &level->buckets[i];
        for (end = i + 1; end < GPU_MEMORY_BUCKETS && is_quiet(bucket) && is_quiet(&level->buckets[end]) &&
                          is_level(bucket, &level->buckets[end]);)
            end++;
        struct pt_value *row = pt_table_add_row(table);
        row[0] = pt_integer((pt_u64)number);
        row[1] = pt_real((double)i * (double)level->bucket_ns / 1e9);
        row[2] = pt_real((double)(end - i) * (double)level->bucket_ns / 1e9);
        /* What was released without having been seen to be allocated was there from the start. */
        row[3] = pt_integer((pt_u64)bucket->highest_bytes - (pt_u64)level->lowest_bytes);
        row[4] = pt_integer(bucket->allocations);
        row[5] = pt_integer(bucket->releases);
        row[6] = pt_integer(bucket->allocated_bytes);
        row[7] = pt_integer(bucket->released_bytes);
        row[8] = bucket->is_unsure ? pt_unknown("more of a pool was in use than CUPTI had told that it is large")
                                   : pt_integer((pt_u64)bucket->pools_bytes);
        row[9] = pt_integer((pt_u64)bucket->pools_used_bytes);
    }
}

static void levels_table(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"device", "GPU", PT_SHOW_NUMBER},
        {"t_s", "From", PT_SHOW_SECONDS},
        {"seconds", "For", PT_SHOW_SECONDS},
        {"bytes", "At most", PT_SHOW_BYTES},
        {"allocations", "Allocations", PT_SHOW_COUNT},
        {"releases", "Releases", PT_SHOW_COUNT},
        {"allocated_bytes", "Allocated", PT_SHOW_BYTES},
        {"released_bytes", "Released", PT_SHOW_BYTES},
        {"pools_bytes", "Pools", PT_SHOW_BYTES},
        {"pools_used_bytes", "Of pools in use", PT_SHOW_BYTES},
    };
    const struct gpu_levels *own = gpu->levels;
    struct pt_table *table = TABLE(gpu, stage, "gpu.memory_over_time", "GPU memory over time", columns);
    for (size_t i = 0; i < own->levels.n; i++) {
        const struct gpu_device *device = gpu->devices.items[own->levels.items[i]->device];
        if (device->stage == stage)
            add_level(table, own->levels.items[i], device->number);
    }
}

void pt_gpu_memory_tables(struct gpu *gpu, pt_u32 stage)
{
    if (!gpu->memory)
        return;
    kinds_table(gpu, stage);
    pools_table(gpu, stage);
    levels_table(gpu, stage);
}
