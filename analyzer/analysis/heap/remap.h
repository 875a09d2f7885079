/* SPDX-License-Identifier: MIT
 *
 * heap/remap.h - how many pages of large blocks malloc takes from the kernel anew, given what it gave back before.
 *
 * glibc maps blocks of its threshold and above one by one, and moves the threshold up to those that were freed; of the
 * rest it gives back what is free at the top once that is twice the threshold (mallopt(3)). A program whose blocks it
 * had kept would touch as many pages as were live at once.
 */
#ifndef PT_ANALYSIS_HEAP_REMAP_H
#define PT_ANALYSIS_HEAP_REMAP_H

#include <stdbool.h>

#include "proftrace/types.h"

enum {
    PT_LEAST_MMAP_THRESHOLD_BYTES = 128 << 10, /* mallopt(3), M_MMAP_THRESHOLD */
    PT_MOST_MMAP_THRESHOLD_BYTES = 32 << 20
};

/* Blocks below and above the largest threshold: variables that keep the one do nothing for the other. */
struct pt_heap_remap_part {
    double new_bytes; /* taken from the kernel, again and again */
    double live_bytes, peak_bytes;
};

/* Zeroed = begin. */
struct pt_heap_remap {
    struct pt_heap_remap_part large, huge;
    pt_u64 threshold_bytes;       /* 0 = the first one */
    double heap_bytes, top_bytes; /* live in blocks that are not mapped one by one, and what is held for them */
    double seen_bytes;            /* of all allocations that were told */
    pt_u32 n_mapped, n_kept;      /* blocks that were mappings of their own, and others */
};

/* `bytes` are those that the block stands for. Blocks below the least threshold are of no concern. */
void pt_heap_remap_alloc(struct pt_heap_remap *remap, pt_u64 addr, pt_u64 size_bytes, double bytes);
void pt_heap_remap_free(struct pt_heap_remap *remap, pt_u64 addr, pt_u64 size_bytes, double bytes);

/* What of it had not been mapped again if nothing was ever given back. 0 where malloc maps nothing: its variables are
 * set already. */
double pt_heap_remap_saved_bytes(const struct pt_heap_remap *remap, const struct pt_heap_remap_part *part);

#endif
