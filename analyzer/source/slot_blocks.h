/* SPDX-License-Identifier: MIT
 *
 * slot_blocks.h - the blocks of one kind of one thread: where each lies, and which of them follow each other without a
 * gap. Filled in the order of the file by scan.c, put in the order of their sequence numbers by index.c.
 */
#ifndef PT_SOURCE_SLOT_BLOCKS_H
#define PT_SOURCE_SLOT_BLOCKS_H

#include "proftrace/format.h"
#include "util/vec.h"

/* Where a block or the events of a raw buffer lie. Nothing else of it is kept, because a billion events lie in a
 * million blocks; the rest is in its header, which is read again with the block. */
struct pt_block_ref {
    pt_u64 where; /* offset of the header / PT_BLOCK_ALIGN, then how many events */
    pt_u64 first_ticks;
};
_Static_assert(sizeof(struct pt_block_ref) == 16, "of a billion events, 16 MiB are kept");

#define PT_BLOCK_EVENTS_BITS 14                                                     /* a raw buffer holds up to 8,192 */
#define PT_BLOCK_MAX_OFFSET ((pt_u64)PT_BLOCK_ALIGN << (64 - PT_BLOCK_EVENTS_BITS)) /* 64 PiB */

static inline struct pt_block_ref pt_block_ref_make(pt_u64 offset, pt_u32 events, pt_u64 first_ticks)
{
    return (struct pt_block_ref){offset / PT_BLOCK_ALIGN << PT_BLOCK_EVENTS_BITS | events, first_ticks};
}

static inline pt_u64 pt_block_ref_offset(const struct pt_block_ref *ref)
{
    return (ref->where >> PT_BLOCK_EVENTS_BITS) * PT_BLOCK_ALIGN;
}

static inline pt_u32 pt_block_ref_events(const struct pt_block_ref *ref)
{
    return ref->where & ((1u << PT_BLOCK_EVENTS_BITS) - 1);
}

/* Blocks of one life of a thread that follow each other without a gap. */
struct pt_block_run {
    size_t first, n;                /* items of the blocks */
    pt_u64 sequence;                /* of the first one */
    pt_u64 first_event, end_event;  /* of the first one and after the last one, as their headers say */
    pt_u64 events;                  /* in all of them */
    pt_u64 first_ticks, last_ticks; /* of those that hold events */
    pt_u32 first_segment, last_segment;
    pt_u32 tid, life;
};

/* The events of a raw buffer have no header in the file, and no checksum. */
struct pt_raw_run {
    pt_u64 offset;
    struct pt_block header; /* as if it were a block */
};

struct pt_slot_blocks {
    PT_VEC(struct pt_block_ref); /* by sequence once the file is open */
    struct {
        PT_VEC(struct pt_block_run);
    } runs;                       /* likewise */
    const struct pt_raw_run *raw; /* of the last item, where that is no block; else NULL */
    pt_u32 slot;
    pt_u32 buffer;         /* enum pt_buffer_id */
    pt_u64 events;         /* of all blocks and the raw buffer */
    pt_u64 missing;        /* were stored in blocks and are not in the file: overwritten, dropped or damaged */
    pt_u64 missing_inside; /* of these, between two blocks of one segment: damage */
    pt_u64 missing_blocks; /* blocks of missing_inside */
};

/* Add a block, in the order of the file. */
void pt_slot_blocks_add(struct pt_slot_blocks *blocks, const struct pt_block *block, pt_u64 offset, pt_u32 segment);
/* The run that an item belongs to. */
const struct pt_block_run *pt_slot_blocks_run(const struct pt_slot_blocks *blocks, size_t block);
/* Index of the first item after a sequence number. */
size_t pt_slot_blocks_behind(const struct pt_slot_blocks *blocks, pt_u64 sequence);
/* First ticks of the item that follows this one without a gap, in the same life; 0 = there is none. */
pt_u64 pt_slot_blocks_next_ticks(const struct pt_slot_blocks *blocks, size_t block);

#endif
