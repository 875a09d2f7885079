/* SPDX-License-Identifier: MIT
 *
 * Memory of GPUs by the allocations that CUPTI recorded: how much of which kind, in which pool, when.
 *
 * Threads: one. State: a level per kind, pool and device, with a fixed number of buckets over the life of the stage.
 * Never: counts a process's memory after its end: the next process on that GPU would seem to fill it; shows a level of
 * a window: what was allocated before it is not known there.
 */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "model/cuda_kinds.h"
#include "model/window.h"
#include "levels.h"

/* The fields of a place: "0/3/0x7f10" is pool 0x7f10, memory of kind 3, on device 0. */
struct place {
    const char *text, *pool; /* text: as reports have it; pool: NULL = none */
    pt_u32 device;
    bool is_known, is_on_device; /* on_device: not the host's, and not managed, which may be anywhere */
};

static struct place place_of(struct pt_gpu *gpu, const struct pt_event *e)
{
    struct place place = {.text = pt_gpu_string(gpu, e->process, e->aux, false)};
    char *kind_at, *rest, text[256];
    const pt_u32 number = place.text ? (pt_u32)strtoul(place.text, &kind_at, 10) : 0;
    if (!place.text || kind_at == place.text || *kind_at != '/') {
        place.text = place.text ? place.text : "(unknown)";
        return place;
    }
    const struct pt_gpu_device *device = pt_gpu_device_at(gpu, e->process, number, &place.device);
    const unsigned long kind = strtoul(++kind_at, &rest, 10);
    place.is_known = rest != kind_at && kind <= PT_CUDA_MEMORY_MANAGED_STATIC;
    place.is_on_device = place.is_known && (kind == PT_CUDA_MEMORY_DEVICE || kind == PT_CUDA_MEMORY_ARRAY ||
                                            kind == PT_CUDA_MEMORY_DEVICE_STATIC);
    place.pool = place.is_known && *rest == '/' ? pt_gpu_text(gpu, rest + 1) : NULL;
    snprintf(text, sizeof text, "%u/%s%s", device->number,
             place.is_known ? pt_cuda_memory_kind((pt_u32)kind)->name : "", place.is_known ? rest : kind_at);
    place.text = pt_gpu_text(gpu, text);
    place.text = place.text ? place.text : "(unknown)";
    return place;
}

/* ---- processes that end ---- */

static void take_back(struct pt_gpu *gpu, struct pt_gpu_holding *holding)
{
    struct pt_gpu_memories *own = gpu->memory;
    struct pt_gpu_memory *memory = &own->places.items[holding->memory];
    pt_gpu_add_bytes(&memory->level_bytes, -holding->bytes);
    pt_gpu_add_bytes(&memory->left_bytes, holding->bytes);
    if (holding->level)
        pt_gpu_level_change(gpu->levels->levels.items[holding->level - 1], holding->process->end_ns, -holding->bytes);
    if (holding->pool)
        pt_gpu_pool_end(gpu->levels, &gpu->levels->pools.items[holding->pool - 1]);
    holding->is_over = true;
}

/* In the order of their ends; `but` still speaks. */
static void end_processes(struct pt_gpu *gpu, pt_i64 now_ns, const struct pt_process *but)
{
    struct pt_gpu_memories *own = gpu->memory;
    while (own->next_end_ns <= now_ns) {
        struct pt_gpu_holding *first = NULL;
        pt_i64 next_ns = INT64_MAX;
        for (size_t i = 0; i < own->holdings.n; i++) {
            struct pt_gpu_holding *holding = &own->holdings.items[i];
            if (holding->is_over || holding->process == but)
                continue;
            if (holding->process->end_ns < next_ns) {
                next_ns = holding->process->end_ns;
                first = holding;
            }
        }
        if (next_ns <= now_ns)
            take_back(gpu, first);
        own->next_end_ns = next_ns;
    }
}

static pt_u64 holding_key(const struct pt_process *process, pt_u32 memory)
{
    return (pt_u64)process->index << 32 | memory;
}

/* What ended processes had was taken back: others need the room. Else that of the ones after them would stay in the
 * levels for ever. */
static void forget_ended(struct pt_gpu_memories *own)
{
    size_t n = 0;
    pt_map_fini(&own->by_holding);
    for (size_t i = 0; i < own->holdings.n; i++) {
        const struct pt_gpu_holding *holding = &own->holdings.items[i];
        if (holding->is_over)
            continue;
        own->holdings.items[n++] = *holding;
        *pt_map_at(&own->by_holding, holding_key(holding->process, holding->memory)) = n;
    }
    own->holdings.n = n;
}

static struct pt_gpu_holding *holding_of(struct pt_gpu_memories *own, const struct pt_process *process, pt_u32 memory)
{
    const pt_u64 key = holding_key(process, memory);
    const pt_u64 *known = pt_map_find(&own->by_holding, key);
    if (known)
        return &own->holdings.items[*known - 1];
    if (own->holdings.n >= PT_GPU_MOST_HOLDINGS)
        forget_ended(own);
    if (own->holdings.n >= PT_GPU_MOST_HOLDINGS)
        return NULL;
    pt_vec_push(&own->holdings, ((struct pt_gpu_holding){.process = process, .memory = memory}));
    *pt_map_at(&own->by_holding, key) = own->holdings.n;
    return &own->holdings.items[own->holdings.n - 1];
}

/* ---- events ---- */

static pt_u32 memory_of(struct pt_gpu *gpu, pt_u32 stage, const char *place)
{
    struct pt_gpu_memories *own = gpu->memory;
    pt_u64 *slot = pt_map_at(&own->by_place, pt_hash_pair((uintptr_t)place, stage));
    if (!*slot) {
        pt_vec_push(&own->places, ((struct pt_gpu_memory){.stage = stage, .place = place}));
        *slot = own->places.n;
    }
    return (pt_u32)(*slot - 1);
}

static void change_device(struct pt_gpu *gpu, const struct pt_event *e, const struct place *place,
                          struct pt_gpu_holding *holding, pt_i64 bytes)
{
    pt_u32 index;
    struct pt_gpu_level *level = pt_gpu_level_of(gpu, place->device, &index);
    holding->level = index;
    struct pt_gpu_level_bucket *bucket = pt_gpu_level_change(level, e->start_ns, bytes);
    bucket->allocations += !e->tag;
    bucket->releases += e->tag != 0;
    bucket->allocated_bytes += e->tag ? 0 : (pt_u64)bytes;
    bucket->released_bytes += e->tag ? (pt_u64)-bytes : 0;
}

/* Returns what the process has of that place, NULL = there are too many: then no level changes, for nobody would take
 * it back; whether it still speaks. */
static bool change_place(struct pt_gpu *gpu, const struct pt_event *e, const char *place, pt_i64 bytes, bool is_release,
                         struct pt_gpu_holding **ret_holding)
{
    struct pt_gpu_memories *own = gpu->memory;
    const pt_u32 index = memory_of(gpu, pt_gpu_stage_of(gpu, e->process), place);
    struct pt_gpu_memory *memory = &own->places.items[index];
    struct pt_gpu_holding *holding = *ret_holding = holding_of(own, e->process, index);
    memory->releases += is_release;
    memory->allocations += !is_release;
    memory->allocated_bytes += is_release ? 0 : (pt_u64)bytes;
    if (!holding || holding->is_over)
        return false;
    pt_gpu_add_bytes(&holding->bytes, bytes);
    if (e->process->end_ns < own->next_end_ns)
        own->next_end_ns = e->process->end_ns;
    pt_gpu_add_bytes(&memory->level_bytes, bytes);
    if (memory->level_bytes > 0 && (pt_u64)memory->level_bytes > memory->peak_bytes) {
        memory->peak_bytes = (pt_u64)memory->level_bytes;
        memory->peak_ns = e->start_ns;
    }
    return true;
}

static void note_memory(struct pt_gpu *gpu, const struct pt_event *e, const struct place *place)
{
    const pt_u64 size = pt_event_as(e, gpu_memory)->bytes & INT64_MAX;
    const pt_i64 bytes = e->tag ? -(pt_i64)size : (pt_i64)size;
    struct pt_gpu_pool *pool = pt_gpu_pool_of(gpu, e->process, place->pool, place->device);
    struct pt_gpu_holding *holding;
    const bool is_alive = change_place(gpu, e, place->text, bytes, e->tag != 0, &holding);
    if (!holding)
        return;
    if (pool)
        pt_gpu_pool_use(gpu, pool, is_alive ? e->start_ns : e->process->end_ns, size, e->tag != 0);
    if (pool)
        holding->pool = (pt_u32)(pool - gpu->levels->pools.items) + 1;
    if (is_alive && place->is_on_device)
        change_device(gpu, e, place, holding, bytes);
}

static void begin(struct pt_gpu *gpu, const struct pt_event *e)
{
    if (!gpu->memory) {
        gpu->memory = pt_calloc(1, sizeof *gpu->memory);
        gpu->levels = pt_calloc(1, sizeof *gpu->levels);
        gpu->memory->next_end_ns = INT64_MAX;
        gpu->memory->blocks.room = &gpu->memory->room;
    }
    end_processes(gpu, e->start_ns, e->process);
}

void pt_gpu_memory_event(struct pt_gpu *gpu, const struct pt_event *e)
{
    if (pt_session_is_window(gpu->profile->session))
        return;
    begin(gpu, e);
    const struct place place = place_of(gpu, e);
    if (e->desc->kind == PT_KIND_gpu_memory)
        note_memory(gpu, e, &place);
    else
        pt_gpu_pool_size_event(gpu, pt_gpu_pool_of(gpu, e->process, place.pool, place.device), e);
}

/* Releases name only the address. One that was not seen being allocated changes nothing. */
void pt_gpu_memory_wrapped(struct pt_gpu *gpu, const struct pt_event *e)
{
    enum { RELEASE = 1 };
    const struct pt_ev_cuda_memory *call = pt_event_as(e, cuda_memory);
    const pt_u32 kind = (pt_u32)e->tag >> 8;
    struct pt_gpu_holding *holding;
    if (e->result < 0 || !call->addr || pt_session_is_window(gpu->profile->session))
        return;
    begin(gpu, e);
    const pt_u64 key = pt_hash_pair(call->addr, e->process->index) | 1;
    struct pt_heap_block *block = pt_block_find(&gpu->memory->blocks, key);
    if (block) {
        change_place(gpu, e, pt_cuda_memory_kind(block->owner)->name, -(pt_i64)block->size_bytes, true, &holding);
        pt_block_remove(&gpu->memory->blocks, block);
    }
    block = e->tag & RELEASE ? NULL : pt_block_insert(&gpu->memory->blocks, key);
    if (!block)
        return;
    block->size_bytes = (pt_u64)call->size_kib << 10;
    block->owner = kind;
    change_place(gpu, e, pt_cuda_memory_kind(kind)->name, (pt_i64)block->size_bytes, false, &holding);
}

/* ---- end ---- */

void pt_gpu_memory_end(struct pt_gpu *gpu)
{
    struct pt_gpu_memories *own = gpu->memory;
    if (!own)
        return;
    end_processes(gpu, INT64_MAX - 1, NULL);
    pt_gpu_levels_end(gpu);
}

void pt_gpu_memory_free(struct pt_gpu *gpu)
{
    struct pt_gpu_memories *own = gpu->memory;
    pt_gpu_levels_free(gpu);
    if (!own)
        return;
    free(own->places.items);
    free(own->holdings.items);
    pt_map_fini(&own->by_place);
    pt_map_fini(&own->by_holding);
    pt_block_map_fini(&own->blocks);
    free(own);
}
