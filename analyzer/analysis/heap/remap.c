/* SPDX-License-Identifier: MIT
 *
 * Owns: glibc's dealings with the kernel for large blocks, as far as sizes and order tell them. Threads: one per
 * process that is looked at. Never: assumes that a small block at the top keeps the rest: what it finds is an upper
 * bound.
 */
#include "remap.h"

enum { ENOUGH_BLOCKS = 16 };

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

/* A mapping's block lies behind its head, at the first place of the alignment that was asked for; of other allocators
 * at its begin. */
static bool is_mapped(pt_u64 addr)
{
    const pt_u64 offset = addr & 4095;
    return offset != 8 && !(offset & (offset - 1));
}

void pt_heap_remap_alloc(struct pt_heap_remap *remap, pt_u64 addr, pt_u64 size_bytes, double bytes)
{
    if (size_bytes < PT_LEAST_MMAP_THRESHOLD_BYTES)
        return;
    struct pt_heap_remap_part *part = part_of(remap, size_bytes);
    remap->seen_bytes += bytes;
    part->live_bytes += bytes;
    if (part->live_bytes > part->peak_bytes)
        part->peak_bytes = part->live_bytes;
    if (is_mapped(addr)) {
        remap->n_mapped++;
        part->new_bytes += bytes;
        return;
    }
    remap->n_kept++;
    remap->heap_bytes += bytes;
    if (remap->heap_bytes > remap->top_bytes) {
        part->new_bytes += remap->heap_bytes - remap->top_bytes;
        remap->top_bytes = remap->heap_bytes;
    }
}

void pt_heap_remap_free(struct pt_heap_remap *remap, pt_u64 addr, pt_u64 size_bytes, double bytes)
{
    if (size_bytes < PT_LEAST_MMAP_THRESHOLD_BYTES)
        return;
    part_of(remap, size_bytes)->live_bytes -= bytes;
    if (is_mapped(addr)) {
        const pt_u64 mapping_bytes = mapping_of(size_bytes);
        if (mapping_bytes > threshold_of(remap) && mapping_bytes <= PT_MOST_MMAP_THRESHOLD_BYTES)
            remap->threshold_bytes = mapping_bytes;
        return;
    }
    remap->heap_bytes -= bytes;
    if (remap->top_bytes - remap->heap_bytes > 2 * (double)threshold_of(remap))
        remap->top_bytes = remap->heap_bytes;
}

double pt_heap_remap_saved_bytes(const struct pt_heap_remap *remap, const struct pt_heap_remap_part *part)
{
    const bool keeps = !remap->n_mapped && remap->n_kept >= ENOUGH_BLOCKS;
    return !keeps && part->new_bytes > part->peak_bytes ? part->new_bytes - part->peak_bytes : 0;
}
