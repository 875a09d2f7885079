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
#include "util/vec.h"

enum {
    PT_LEAST_MMAP_THRESHOLD_BYTES = 128 << 10, /* mallopt(3), M_MMAP_THRESHOLD */
    PT_MOST_MMAP_THRESHOLD_BYTES = 32 << 20
};

/* Blocks below and above the largest threshold: variables that keep the one do nothing for the other. */
struct pt_heap_remap_part {
    double new_bytes; /* taken from the kernel, again and again */
    double live_bytes, peak_bytes;
    pt_u32 n_mapped, n_kept; /* blocks that were mappings of their own, and others */
};

struct pt_heap_range {
    pt_u64 start, end;
    pt_u32 owner; /* in `owners`, plus 1; 0 = it is not in an arena of a thread */
};

/* A thread that took blocks from its arena. */
struct pt_heap_owner {
    pt_u32 thread;
    double new_bytes;
    double live_bytes, peak_bytes;
};

/* The heap that sbrk() moves, or one of the 64 MiB that arenas of threads consist of. */
struct pt_heap_region {
    pt_u64 number;
    pt_u64 begin;       /* of the lowest block, ever */
    pt_u64 touched_end; /* above it the kernel has to give pages */
    pt_u64 end;
    PT_VEC(struct pt_heap_range); /* live blocks, by address */
};

/* Zeroed = begin. */
struct pt_heap_remap {
    struct pt_heap_remap_part large, huge;
    pt_u64 threshold_bytes; /* 0 = the first one */
    struct {
        PT_VEC(struct pt_heap_region);
    } regions;
    struct {
        PT_VEC(struct pt_heap_owner);
    } owners;
    double seen_bytes; /* of all allocations that were told */
};

void pt_heap_remap_fini(struct pt_heap_remap *remap);

/* `bytes` are those that the block stands for, `thread` is any number of the one that takes it. Blocks below the least
 * threshold are of no concern. */
void pt_heap_remap_alloc(struct pt_heap_remap *remap, pt_u32 thread, pt_u64 addr, pt_u64 size_bytes, double bytes);
void pt_heap_remap_free(struct pt_heap_remap *remap, pt_u64 addr, pt_u64 size_bytes, double bytes);

/* What of the large blocks' pages was for threads that hold more at once than one heap of an arena has room for: an
 * empty heap goes back to the kernel whatever the thresholds are. */
double pt_heap_remap_crowded_bytes(const struct pt_heap_remap *remap);

/* What of it had not been mapped again if nothing was ever given back. 0 where malloc maps nothing: its variables are
 * set already. */
double pt_heap_remap_saved_bytes(const struct pt_heap_remap *remap, const struct pt_heap_remap_part *part);

#endif
