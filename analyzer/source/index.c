/* SPDX-License-Identifier: MIT
 *
 * index.c - Owns: the order of a slot's blocks, and the account of what is missing between them. Threads: one, while
 * the file is opened. Never: counts a missing event twice.
 */
#include "index.h"

#include <stdlib.h>
#include <string.h>

#include "block.h"

static int by_sequence(const void *a, const void *b)
{
    const struct pt_block_run *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static bool is_in_order(const struct pt_slot_blocks *blocks)
{
    for (size_t i = 1; i < blocks->runs.n; i++)
        if (blocks->runs.items[i].sequence < blocks->runs.items[i - 1].sequence + blocks->runs.items[i - 1].n)
            return false;
    return true;
}

/* Remove `n` blocks from the front of a run: other blocks have their sequence numbers. */
static void drop_front(const struct pt_slot_blocks *blocks, struct pt_block_run *run, size_t n)
{
    for (; n; n--) {
        run->events -= pt_block_ref_events(&blocks->items[run->first]);
        run->first++;
        run->sequence++;
        run->n--;
    }
}

/* In the file, reused segments lie between older ones. */
static void sort_blocks(struct pt_slot_blocks *blocks)
{
    if (is_in_order(blocks))
        return;
    qsort(blocks->runs.items, blocks->runs.n, sizeof *blocks->runs.items, by_sequence);
    struct pt_block_ref *sorted = pt_malloc(blocks->n * sizeof *sorted);
    size_t kept = 0, kept_runs = 0;
    pt_u64 end = 0;
    for (size_t i = 0; i < blocks->runs.n; i++) {
        struct pt_block_run run = blocks->runs.items[i];
        const pt_u64 twice = run.sequence < end ? end - run.sequence : 0;
        if (twice >= run.n)
            continue;
        drop_front(blocks, &run, twice);
        memcpy(sorted + kept, blocks->items + run.first, run.n * sizeof *sorted);
        run.first = kept;
        kept += run.n;
        end = run.sequence + run.n;
        blocks->runs.items[kept_runs++] = run;
    }
    free(blocks->items);
    blocks->items = sorted;
    blocks->n = blocks->capacity = kept;
    blocks->runs.n = kept_runs;
}

/* Events that lie in a raw buffer now, and the bounds of their times. */
static void survey_raw(const pt_u8 *bytes, struct pt_block *h)
{
    pt_u64 first = ~0ull, last = 0;
    const bool is_heap = h->buffer == PT_BUFFER_HEAP;
    const pt_u32 step = is_heap ? sizeof(struct pt_unit16) : sizeof(struct pt_record);
    for (pt_u32 at = 0; at + step <= h->encoded_bytes; at += step) {
        pt_u64 words[2];
        memcpy(words, bytes + at, sizeof words);
        const pt_u32 kind = is_heap ? words[0] >> PT_GENERATION_BITS & 15 : words[1] >> 32 & 0xff;
        if ((words[0] & PT_GENERATION_MASK) != h->generation || !kind)
            continue;
        if (!is_heap || kind != PT_UNIT_CLOCK)
            h->events++;
        if (is_heap && kind != PT_UNIT_CLOCK)
            continue;
        const pt_u64 ticks = is_heap ? words[1] : words[0] >> PT_GENERATION_BITS;
        first = ticks < first ? ticks : first;
        last = ticks > last ? ticks : last;
    }
    h->first_ticks = first == ~0ull ? 0 : first;
    h->last_ticks = last;
}

/* Add the raw buffer as the last run of the blocks, unless it holds what the last block already has (format rule 2);
 * the events in it. */
static pt_u64 add_raw_buffer(struct pt_trace_file *file, const struct pt_trace_slot *slot,
                             const struct pt_thread_area *area, struct pt_slot_blocks *blocks,
                             struct pt_block_loader *loader)
{
    const struct pt_raw_buffer *raw = &area->raw[blocks->buffer];
    const struct pt_block_run *last = blocks->n ? &blocks->runs.items[blocks->runs.n - 1] : NULL;
    const pt_u64 sequence = raw->sequence >> PT_GENERATION_BITS;
    pt_u64 offset, room;
    if (!raw->offset || !pt_trace_slot_part(slot, raw->offset, &offset, &room) || !raw->bytes)
        return 0;
    if (last && sequence < last->sequence + last->n)
        return 0;
    pt_u64 bytes = raw->bytes < room ? raw->bytes : room;
    bytes =
        bytes < PT_BLOCK_MAX_EVENTS * sizeof(struct pt_record) ? bytes : PT_BLOCK_MAX_EVENTS * sizeof(struct pt_record);
    struct pt_raw_run run = {
        .offset = offset,
        .header = {.coding = PT_CODING_RAW,
                   .buffer = (pt_u8)blocks->buffer,
                   .generation = raw->sequence & PT_GENERATION_MASK,
                   .slot = slot->slot,
                   .tid = area->tid,
                   .life = area->life,
                   .sequence = sequence,
                   .first_event = raw->flushed_events},
    };
    run.header.stored_bytes = (pt_u32)pt_trace_file_scan(file, run.offset, loader->stored, bytes);
    run.header.encoded_bytes = run.header.stored_bytes;
    survey_raw(loader->stored, &run.header);
    if (!run.header.events)
        return 0;
    blocks->raw = memcpy(pt_arena_alloc(&file->arena, sizeof run), &run, sizeof run);
    pt_slot_blocks_add(blocks, &run.header, run.offset, ~0u);
    return run.header.events;
}

/* Not where the second one lies in front: of a segment that was used again the rest still has older blocks, and what
 * came between the two was in another segment, which is gone. */
static bool follows_in_segment(const struct pt_slot_blocks *blocks, const struct pt_block_run *before,
                               const struct pt_block_run *run)
{
    return before->last_segment == run->first_segment &&
           pt_block_ref_offset(&blocks->items[before->first + before->n - 1]) <
               pt_block_ref_offset(&blocks->items[run->first]);
}

/* Count the events in the blocks and those missing between them; returns the number of the event after the last one,
 * 0 = unknown. */
static pt_u64 count_blocks(struct pt_slot_blocks *blocks)
{
    for (size_t i = 0; i < blocks->runs.n; i++) {
        const struct pt_block_run *run = &blocks->runs.items[i], *before = i ? run - 1 : NULL;
        blocks->events += run->events;
        if (!before || before->sequence + before->n == run->sequence || !follows_in_segment(blocks, before, run))
            continue;
        blocks->missing_inside += run->first_event > before->end_event ? run->first_event - before->end_event : 0;
        blocks->missing_blocks += run->sequence - before->sequence - before->n;
    }
    const pt_u64 end = blocks->runs.n ? blocks->runs.items[blocks->runs.n - 1].end_event : 0;
    return end < ~0ull / 2 ? end : 0;
}

static void index_blocks(struct pt_trace_file *file, const struct pt_trace_slot *slot,
                         const struct pt_thread_area *area, struct pt_slot_blocks *blocks,
                         struct pt_block_loader *loader)
{
    sort_blocks(blocks);
    const pt_u64 counted = area->raw[blocks->buffer].flushed_events, end = count_blocks(blocks);
    const pt_u64 in_raw = add_raw_buffer(file, slot, area, blocks, loader);
    /* A process killed between publishing a block and resetting the buffer has not counted that block yet. */
    const pt_u64 given = in_raw || end < counted ? counted : end;
    blocks->missing = given > blocks->events ? given - blocks->events : 0;
    blocks->events += in_raw;
    if (blocks->n) {
        blocks->items = pt_realloc(blocks->items, blocks->n * sizeof *blocks->items);
        blocks->runs.items = pt_realloc(blocks->runs.items, blocks->runs.n * sizeof *blocks->runs.items);
    }
}

static int by_slot(const void *a, const void *b)
{
    const struct pt_trace_slot *x = a, *y = b;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static int by_slot_and_offset(const void *a, const void *b)
{
    const struct pt_minutes_segment *x = a, *y = b;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void pt_index_blocks(struct pt_trace_file *file)
{
    pt_map_fini(&file->slot_at); /* its indices end here */
    if (file->slots.n)
        qsort(file->slots.items, file->slots.n, sizeof *file->slots.items, by_slot);
    if (file->minutes.n)
        qsort(file->minutes.items, file->minutes.n, sizeof *file->minutes.items, by_slot_and_offset);
    struct pt_block_loader *loader = pt_block_loader_new();
    for (size_t i = 0; i < file->slots.n; i++) {
        struct pt_trace_slot *slot = &file->slots.items[i];
        struct pt_thread_area area;
        pt_trace_slot_area(slot, &area);
        for (int which = 0; which < PT_BUFFER__COUNT; which++)
            index_blocks(file, slot, &area, &slot->blocks[which], loader);
    }
    pt_block_loader_free(loader);
}
