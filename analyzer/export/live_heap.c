/* SPDX-License-Identifier: MIT
 *
 * live_heap.c - live bytes of one process.
 *
 * Owns: a table of live blocks (open addressing, deletion by shifting back, so that a run of any length needs memory
 * for what is live at once only). One thread. Never: counts a release of a block that it does not know. */
#include "live_heap.h"

#include <math.h>
#include <stdlib.h>

#include "../util/mem.h"
#include "../model/session.h"

static void thinned_show(struct pt_thinned *series, pt_i64 at_ns, pt_u64 value)
{
    if (series->was_shown && series->shown == value)
        return;
    series->show(series->context, at_ns, value);
    series->shown = value;
    series->was_shown = true;
}

void pt_thinned_flush(struct pt_thinned *series)
{
    if (!series->has_points)
        return;
    if (series->peak > series->last)
        thinned_show(series, series->peak_at_ns, series->peak);
    thinned_show(series, series->last_at_ns, series->last);
    series->has_points = false;
}

void pt_thinned_add(struct pt_thinned *series, pt_i64 at_ns, pt_u64 value)
{
    if (series->has_points && at_ns >= series->bucket_end_ns)
        pt_thinned_flush(series);
    if (!series->has_points) {
        series->has_points = true;
        series->bucket_end_ns = at_ns + series->bucket_ns;
        series->peak = 0;
    }
    if (value >= series->peak) {
        series->peak = value;
        series->peak_at_ns = at_ns;
    }
    series->last = value;
    series->last_at_ns = at_ns;
}

static pt_u64 hash_address(pt_u64 addr)
{
    addr *= 0x9e3779b97f4a7c15ull;
    return addr ^ addr >> 32;
}

static void block_put(struct pt_live_heap *heap, pt_u64 addr, pt_u64 bytes)
{
    pt_u64 i = hash_address(addr) & heap->mask;
    while (heap->blocks[i].addr && heap->blocks[i].addr != addr)
        i = (i + 1) & heap->mask;
    if (heap->blocks[i].addr)
        heap->bytes -= heap->blocks[i].bytes; /* its release was not seen */
    else
        heap->n_blocks++;
    heap->blocks[i] = (struct pt_live_block){addr, bytes};
    heap->bytes += bytes;
}

static void table_grow(struct pt_live_heap *heap)
{
    struct pt_live_block *const old = heap->blocks;
    const pt_u64 old_slots = old ? heap->mask + 1 : 0, bytes = heap->bytes;
    heap->mask = old_slots ? 2 * old_slots - 1 : 255;
    heap->blocks = pt_calloc(heap->mask + 1, sizeof *heap->blocks);
    heap->n_blocks = 0;
    for (pt_u64 i = 0; i < old_slots; i++)
        if (old[i].addr)
            block_put(heap, old[i].addr, old[i].bytes);
    heap->bytes = bytes;
    free(old);
}

static void block_add(struct pt_live_heap *heap, pt_u64 addr, pt_u64 bytes)
{
    if (!addr)
        return;
    if (!heap->mask || heap->n_blocks > heap->mask / 4 * 3)
        table_grow(heap);
    block_put(heap, addr, bytes);
}

static void block_remove(struct pt_live_heap *heap, pt_u64 addr)
{
    if (!heap->mask || !addr)
        return;
    pt_u64 hole = hash_address(addr) & heap->mask;
    while (heap->blocks[hole].addr != addr) {
        if (!heap->blocks[hole].addr)
            return;
        hole = (hole + 1) & heap->mask;
    }
    heap->bytes -= heap->blocks[hole].bytes;
    heap->n_blocks--;
    for (pt_u64 i = (hole + 1) & heap->mask; heap->blocks[i].addr; i = (i + 1) & heap->mask) {
        const pt_u64 home = hash_address(heap->blocks[i].addr) & heap->mask;
        if (((i - home) & heap->mask) >= ((i - hole) & heap->mask)) {
            heap->blocks[hole] = heap->blocks[i];
            hole = i;
        }
    }
    heap->blocks[hole] = (struct pt_live_block){0};
}

/* What a sample of this size stands for. */
static pt_u64 sample_weight(const struct pt_process *process, pt_u64 size_bytes)
{
    const pt_f64 rate = (pt_f64)process->heap_sample_bytes;
    if (rate < 1 || (pt_f64)size_bytes > 30 * rate)
        return size_bytes;
    const pt_f64 size = size_bytes ? (pt_f64)size_bytes : 1;
    return (pt_u64)(size / -expm1(-size / rate) + 0.5);
}

void pt_live_heap_add(struct pt_live_heap *heap, const struct pt_event *event)
{
    const pt_u64 addr = event->words[0], size_bytes = event->words[1];
    const bool is_full = event->process->heap_mode == PT_HEAP_FULL;
    if (is_full != (event->desc->role == PT_ROLE_UNIT))
        return; /* samples beside full mode would count twice */
    switch (event->desc->id) {
    case PT_EV_heap_malloc:
    case PT_EV_heap_calloc:
    case PT_EV_heap_realloc:
    case PT_EV_heap_memalign:
        block_add(heap, addr, size_bytes);
        break;
    case PT_EV_heap_sample:
        block_add(heap, addr, sample_weight(event->process, size_bytes));
        break;
    case PT_EV_heap_free:
    case PT_EV_heap_realloc_free:
    case PT_EV_heap_sample_free:
    case PT_EV_heap_sample_lost: /* its release will not be seen: better short of it than never rid of it */
        block_remove(heap, addr);
        break;
    default:
        return;
    }
    heap->has_events = true;
    pt_thinned_add(&heap->series, event->start_ns, heap->bytes);
}

void pt_live_heap_free(struct pt_live_heap *heap)
{
    free(heap->blocks);
    *heap = (struct pt_live_heap){0};
}
