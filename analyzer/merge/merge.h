/* SPDX-License-Identifier: MIT
 *
 * merge.h - blocks of many threads, each thread's in order, to one feed of events in order.
 */
#ifndef PT_MERGE_MERGE_H
#define PT_MERGE_MERGE_H

#include <stdbool.h>

#include "decode/decode.h"
#include "feed.h"

/* One buffer (heap units or records) of one thread slot of one file; of a device's slot, one block of it, because its
 * records are in no order. Order among sources breaks ties of time. */
struct pt_merge_source {
    struct pt_decode_source from;
    struct pt_process *process;
    pt_u32 slot;
    size_t first_block, end_block; /* of its blocks */
};

/* What the merge asks its owner for. */
struct pt_merge_owner {
    struct pt_thread *(*thread)(struct pt_process *process, pt_u32 slot, pt_u32 life);
    /* A block turned out to be damaged. */
    void (*damaged)(struct pt_process *process, const struct pt_block_ref *ref);
    /* The thread of this tid that lived then; NULL = none is known. */
    struct pt_thread *(*caller)(struct pt_process *process, pt_u32 tid, pt_i64 at_ns);
};

/* Takes `sources` over (malloc'ed). The filter's pid and stage are the caller's business: sources that do not match are
 * left out. */
struct pt_feed *pt_merge_new(struct pt_merge_source *sources, size_t n, const struct pt_merge_owner *owner,
                             const struct pt_filter *filter);

#endif
