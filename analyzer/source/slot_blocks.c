/* SPDX-License-Identifier: MIT
 *
 * slot_blocks.c - Owns: the runs of a slot's blocks: a block belongs to exactly one. Threads: one adds, while the file
 * is opened; any may ask afterwards.
 */
#include "slot_blocks.h"

#include <stdbool.h>

void pt_slot_blocks_add(struct pt_slot_blocks *blocks, const struct pt_block *block, pt_u64 offset, pt_u32 segment)
{
    struct pt_block_run *run = blocks->runs.n ? &blocks->runs.items[blocks->runs.n - 1] : NULL;
    if (!run || run->life != block->life || run->tid != block->tid || run->sequence + run->n != block->sequence) {
        pt_vec_push(&blocks->runs, ((struct pt_block_run){.first = blocks->n,
                                                          .sequence = block->sequence,
                                                          .first_event = block->first_event,
                                                          .first_ticks = ~0ull,
                                                          .first_segment = segment,
                                                          .tid = block->tid,
                                                          .life = block->life}));
        run = &blocks->runs.items[blocks->runs.n - 1];
    }
    run->n++;
    run->events += block->events;
    run->end_event = block->first_event + block->events;
    run->last_segment = segment;
    if (block->events) {
        run->first_ticks = block->first_ticks < run->first_ticks ? block->first_ticks : run->first_ticks;
        run->last_ticks = block->last_ticks > run->last_ticks ? block->last_ticks : run->last_ticks;
    }
    pt_vec_push(blocks, pt_block_ref_make(offset, block->events, block->first_ticks));
}

const struct pt_block_run *pt_slot_blocks_run(const struct pt_slot_blocks *blocks, size_t block)
{
    size_t low = 0, high = blocks->runs.n;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (blocks->runs.items[middle].first <= block)
            low = middle;
        else
            high = middle;
    }
    return &blocks->runs.items[low];
}

size_t pt_slot_blocks_behind(const struct pt_slot_blocks *blocks, pt_u64 sequence)
{
    for (size_t i = 0; i < blocks->runs.n; i++) {
        const struct pt_block_run *run = &blocks->runs.items[i];
        if (sequence < run->sequence)
            return run->first;
        if (sequence - run->sequence < run->n)
            return run->first + (size_t)(sequence - run->sequence) + 1;
    }
    return blocks->n;
}

pt_u64 pt_slot_blocks_next_ticks(const struct pt_slot_blocks *blocks, size_t block)
{
    if (block + 1 >= blocks->n)
        return 0;
    const struct pt_block_run *run = pt_slot_blocks_run(blocks, block), *next = run + 1;
    const bool follows =
        block + 1 < run->first + run->n || (next->sequence == run->sequence + run->n && next->life == run->life);
    return follows ? blocks->items[block + 1].first_ticks : 0;
}
