/* SPDX-License-Identifier: MIT
 *
 * chunks.h - a feed's events for several readers at once: a thread of its own puts them in order, some chunks ahead.
 */
#ifndef PT_MERGE_CHUNKS_H
#define PT_MERGE_CHUNKS_H

#include "feed.h"

enum { PT_CHUNK_EVENTS = 1024, PT_CHUNK_READERS = 2 };

struct pt_chunk {
    struct pt_event events[PT_CHUNK_EVENTS];
    pt_u32 n;
};

struct pt_chunks;

/* Takes `from` over and begins to read it, with `note` (NULL = nothing) called for each event in the reading thread;
 * NULL when no thread can be started; `from` is unchanged then. Readers must not use what the sources fill in while
 * they are read (quality figures) before the end. */
struct pt_chunks *pt_chunks_begin(struct pt_feed *from, void (*note)(struct pt_event *event));
/* The next chunk for reader 0 or 1, which releases the one before; NULL = there are no more. Each reader is one
 * thread; none is more than a few chunks behind the other. */
const struct pt_chunk *pt_chunks_next(struct pt_chunks *chunks, pt_u32 reader);
/* This reader will not read; called before the other one begins. */
void pt_chunks_without(struct pt_chunks *chunks, pt_u32 reader);
/* Called when all readers have reached the end. -1 when reading ended in an error, which is in err. */
int pt_chunks_end(struct pt_chunks *chunks, struct pt_error *err);

#endif
