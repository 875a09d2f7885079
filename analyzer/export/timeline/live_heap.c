/* SPDX-License-Identifier: MIT
 *
 * live_heap.c - live bytes of one process.
 *
 * Owns: the sum of what is live. One thread. Never: counts a release of a block that it does not know.
 */
#include "live_heap.h"

#include <math.h>

#include "proftrace/events.h"
#include "model/session.h"
#include "util/whole.h"

static void block_add(struct pt_live_heap *heap, pt_u64 addr, pt_u64 bytes)
{
    if (!addr)
        return;
    struct pt_heap_block *block = pt_block_insert(&heap->blocks, addr);
    if (!block) {
        heap->is_full = true;
        return;
    }
    heap->bytes += bytes - block->size_bytes; /* a known one: its release was not seen */
    block->size_bytes = bytes;
}

static void block_remove(struct pt_live_heap *heap, pt_u64 addr)
{
    struct pt_heap_block *block = addr ? pt_block_find(&heap->blocks, addr) : NULL;
    if (!block)
        return;
    heap->bytes -= block->size_bytes;
    pt_block_remove(&heap->blocks, block);
}

/* The bytes that a sample of this size represents. */
static pt_u64 sample_weight(const struct pt_process *process, pt_u64 size_bytes)
{
    const pt_f64 rate = (pt_f64)process->heap_sample_bytes;
    if (rate < 1 || (pt_f64)size_bytes > 30 * rate)
        return size_bytes;
    const pt_f64 size = size_bytes ? (pt_f64)size_bytes : 1;
    return pt_whole(size / -expm1(-size / rate) + 0.5);
}

bool pt_live_heap_add(struct pt_live_heap *heap, const struct pt_event *event)
{
    if (heap->is_full)
        return false;
    const pt_u64 addr = event->words[0], size_bytes = event->words[1];
    const bool is_full = event->process->heap_mode == PT_HEAP_FULL;
    if (is_full != (event->desc->role == PT_ROLE_UNIT))
        return true; /* samples in full mode would count twice */
    switch (event->desc->id) {
    case PT_EV_heap_malloc:
    case PT_EV_heap_calloc:
    case PT_EV_heap_realloc:
    case PT_EV_heap_memalign:
        block_add(heap, addr, size_bytes);
        break;
    case PT_EV_heap_sample:
    case PT_EV_heap_sample_thinned:
        block_add(heap, addr, sample_weight(event->process, size_bytes));
        break;
    case PT_EV_heap_free:
    case PT_EV_heap_realloc_free:
    case PT_EV_heap_sample_free:
    case PT_EV_heap_sample_lost: /* its release will not be seen: better short of it than never rid of it */
        block_remove(heap, addr);
        break;
    default:
        return true;
    }
    if (heap->is_full)
        return false;
    pt_thinned_add(&heap->series, event->start_ns, heap->bytes);
    return true;
}

void pt_live_heap_free(struct pt_live_heap *heap)
{
    pt_block_map_fini(&heap->blocks);
}
