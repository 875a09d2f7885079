/* SPDX-License-Identifier: MIT
 *
 * live_heap.h - heap in use over time, from heap events, thinned to what a timeline can show.
 *
 * In full mode it is exact. In sampled mode each sample represents 1/P of its size, where P is the probability that an
 * allocation of its size is sampled.
 */
#ifndef PT_EXPORT_TIMELINE_LIVE_HEAP_H
#define PT_EXPORT_TIMELINE_LIVE_HEAP_H

#include <stdbool.h>

#include "decode/event.h"
#include "facts/block_map.h"
#include "thinned.h"

struct pt_live_heap {
    struct pt_thinned series;
    struct pt_block_map blocks;
    pt_u64 bytes;
    bool is_full; /* a block was not followed: nothing more is known */
};

/* Take one HEAP event of the process; false when what is live is no longer known: there were too many blocks. */
bool pt_live_heap_add(struct pt_live_heap *heap, const struct pt_event *event);
void pt_live_heap_free(struct pt_live_heap *heap);

#endif
