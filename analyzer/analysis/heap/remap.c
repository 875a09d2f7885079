/* SPDX-License-Identifier: MIT
 *
 * Owns: glibc's dealings with the kernel for large blocks, as far as sizes, places and order tell them. Threads: one
 * per process that is looked at. Never: assumes that a small block at the top keeps the rest: what it finds is an upper
 * bound.
 */
#include "remap.h"

#include <stdlib.h>
#include <string.h>

enum {
    ENOUGH_BLOCKS = 16,
    PAD_BYTES = 128 << 10,                  /* mallopt(3), M_TOP_PAD: taken beyond what is asked for, and kept */
    FIRST_TRIM_THRESHOLD_BYTES = 128 << 10, /* mallopt(3), M_TRIM_THRESHOLD */
    MOST_BLOCKS = 16384,                    /* of a region: of a trace that lies, no more are followed */
    MOST_REGIONS = 1024,
    MOST_OWNERS = 1024
};
#define ARENA_BITS 26 /* malloc/arena.c, HEAP_MAX_SIZE */
#define ARENA_BYTES (1u << ARENA_BITS)

static pt_u64 threshold_of(const struct pt_heap_remap *remap)
{
    return remap->threshold_bytes ? remap->threshold_bytes : PT_LEAST_MMAP_THRESHOLD_BYTES;
}

/* Of a block with its head, as it is mapped: the next one of its size is below. */
static pt_u64 mapping_of(pt_u64 size_bytes)
{
    return (size_bytes + 16 + 4095) & ~(pt_u64)4095;
}

static struct pt_heap_remap_part *part_of(struct pt_heap_remap *remap, pt_u64 size_bytes)
{
    return size_bytes >= PT_MOST_MMAP_THRESHOLD_BYTES ? &remap->huge : &remap->large;
}

/* The heap that sbrk() moves lies behind the program, which the kernel puts low, or at two thirds of all addresses;
 * never where it maps. */
static bool is_behind_program(pt_u64 addr)
{
    return addr < (pt_u64)1 << 40 || addr >> 40 == 0x55 || addr >> 40 == 0x56;
}

/* A mapping's block lies behind its head, at the first place of the alignment that was asked for; of other allocators
 * at its begin. */
static bool is_mapped(pt_u64 addr)
{
    const pt_u64 offset = addr & 4095;
    return offset != 8 && !(offset & (offset - 1)) && !is_behind_program(addr);
}

/* ---- regions ---- */

/* NULL = there are too many. */
static struct pt_heap_region *region_of(struct pt_heap_remap *remap, pt_u64 addr)
{
    const pt_u64 number = is_behind_program(addr) ? 0 : addr >> ARENA_BITS;
    for (size_t i = 0; i < remap->regions.n; i++)
        if (remap->regions.items[i].number == number)
            return &remap->regions.items[i];
    if (remap->regions.n >= MOST_REGIONS)
        return NULL;
    pt_vec_push(&remap->regions, ((struct pt_heap_region){.number = number, .begin = addr}));
    return &remap->regions.items[remap->regions.n - 1];
}

/* Of the first block at or above an address. */
static size_t index_of(const struct pt_heap_region *region, pt_u64 addr)
{
    size_t low = 0, high = region->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (region->items[middle].start < addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_at(const struct pt_heap_region *region, size_t i, pt_u64 addr)
{
    return i < region->n && region->items[i].start == addr;
}

static void add_block(struct pt_heap_region *region, struct pt_heap_range block)
{
    const size_t i = index_of(region, block.start);
    if (has_at(region, i, block.start)) { /* its end was lost */
        region->items[i] = block;
        return;
    }
    if (region->n >= MOST_BLOCKS)
        return;
    pt_vec_push(region, block);
    memmove(region->items + i + 1, region->items + i, (region->n - 1 - i) * sizeof *region->items);
    region->items[i] = block;
}

/* The share of a block that lies where the kernel has to give pages first. */
static double touch(struct pt_heap_region *region, struct pt_heap_range block)
{
    const pt_u64 old_end = block.start > region->touched_end ? block.start : region->touched_end;
    const double share = old_end < block.end ? (double)(block.end - old_end) / (double)(block.end - block.start) : 0;
    region->begin = block.start < region->begin ? block.start : region->begin;
    region->touched_end = block.end > region->touched_end ? block.end : region->touched_end;
    region->end = block.end > region->end ? block.end + PAD_BYTES : region->end;
    add_block(region, block);
    return share;
}

/* 0 = there are too many. */
static pt_u32 owner_of(struct pt_heap_remap *remap, pt_u32 thread)
{
    for (size_t i = 0; i < remap->owners.n; i++)
        if (remap->owners.items[i].thread == thread)
            return (pt_u32)i + 1;
    if (remap->owners.n >= MOST_OWNERS)
        return 0;
    pt_vec_push(&remap->owners, ((struct pt_heap_owner){.thread = thread}));
    return (pt_u32)remap->owners.n;
}

static void take(struct pt_heap_owner *owner, double bytes, double new_bytes)
{
    owner->new_bytes += new_bytes;
    owner->live_bytes += bytes;
    owner->peak_bytes = owner->live_bytes > owner->peak_bytes ? owner->live_bytes : owner->peak_bytes;
}

/* What is free at the top goes back, but for the pad. */
static void trim(struct pt_heap_region *region, pt_u64 threshold_bytes)
{
    const pt_u64 live_end = region->n ? region->items[region->n - 1].end : region->begin;
    if (region->end - live_end < threshold_bytes || region->end < live_end)
        return;
    region->end = live_end + PAD_BYTES;
    region->touched_end = region->end < region->touched_end ? region->end : region->touched_end;
}

/* ---- blocks ---- */

static struct pt_heap_range range_of(pt_u64 addr, pt_u64 size_bytes, pt_u32 owner)
{
    return (struct pt_heap_range){addr, size_bytes < UINT64_MAX / 2 - addr ? addr + size_bytes : UINT64_MAX / 2, owner};
}

void pt_heap_remap_alloc(struct pt_heap_remap *remap, pt_u32 thread, pt_u64 addr, pt_u64 size_bytes, double bytes)
{
    if (size_bytes < PT_LEAST_MMAP_THRESHOLD_BYTES || addr >= UINT64_MAX / 2)
        return;
    struct pt_heap_remap_part *part = part_of(remap, size_bytes);
    remap->seen_bytes += bytes;
    part->live_bytes += bytes;
    if (part->live_bytes > part->peak_bytes)
        part->peak_bytes = part->live_bytes;
    if (is_mapped(addr)) {
        part->n_mapped++;
        part->new_bytes += bytes;
        return;
    }
    part->n_kept++;
    struct pt_heap_region *region = region_of(remap, addr);
    const pt_u32 owner = is_behind_program(addr) ? 0 : owner_of(remap, thread);
    const double new_bytes = region ? bytes * touch(region, range_of(addr, size_bytes, owner)) : 0;
    part->new_bytes += new_bytes;
    if (region && owner)
        take(&remap->owners.items[owner - 1], bytes, new_bytes);
}

void pt_heap_remap_free(struct pt_heap_remap *remap, pt_u64 addr, pt_u64 size_bytes, double bytes)
{
    if (size_bytes < PT_LEAST_MMAP_THRESHOLD_BYTES || addr >= UINT64_MAX / 2)
        return;
    part_of(remap, size_bytes)->live_bytes -= bytes;
    if (is_mapped(addr)) {
        const pt_u64 mapping_bytes = mapping_of(size_bytes);
        if (mapping_bytes > threshold_of(remap) && mapping_bytes <= PT_MOST_MMAP_THRESHOLD_BYTES)
            remap->threshold_bytes = mapping_bytes;
        return;
    }
    struct pt_heap_region *region = region_of(remap, addr);
    const size_t i = region ? index_of(region, addr) : 0;
    if (!region || !has_at(region, i, addr))
        return;
    if (region->items[i].owner)
        take(&remap->owners.items[region->items[i].owner - 1], -bytes, 0);
    region->n--;
    memmove(region->items + i, region->items + i + 1, (region->n - i) * sizeof *region->items);
    trim(region, remap->threshold_bytes ? 2 * remap->threshold_bytes : FIRST_TRIM_THRESHOLD_BYTES);
}

void pt_heap_remap_fini(struct pt_heap_remap *remap)
{
    for (size_t i = 0; i < remap->regions.n; i++)
        free(remap->regions.items[i].items);
    free(remap->regions.items);
    free(remap->owners.items);
    *remap = (struct pt_heap_remap){0};
}

double pt_heap_remap_crowded_bytes(const struct pt_heap_remap *remap)
{
    double bytes = 0;
    for (size_t i = 0; i < remap->owners.n; i++)
        bytes += remap->owners.items[i].peak_bytes > ARENA_BYTES ? remap->owners.items[i].new_bytes : 0;
    return bytes;
}

/* With the threshold that can be set at most, larger blocks are mapped all the same. */
static bool keeps(const struct pt_heap_remap *remap, const struct pt_heap_remap_part *part)
{
    const struct pt_heap_remap_part *huge = part == &remap->huge ? part : NULL;
    return !remap->large.n_mapped && !(huge && huge->n_mapped) &&
           remap->large.n_kept + (huge ? huge->n_kept : 0) >= ENOUGH_BLOCKS &&
           !(pt_heap_remap_crowded_bytes(remap) > 0);
}

double pt_heap_remap_saved_bytes(const struct pt_heap_remap *remap, const struct pt_heap_remap_part *part)
{
    return !keeps(remap, part) && part->new_bytes > part->peak_bytes ? part->new_bytes - part->peak_bytes : 0;
}
