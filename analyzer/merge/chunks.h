/* SPDX-License-Identifier: MIT
 *
 * chunks.h - a feed's events in chunks: a thread of its own puts them in order, some chunks ahead of the reader.
 */
#ifndef PT_MERGE_CHUNKS_H
#define PT_MERGE_CHUNKS_H

#include "feed.h"

enum { PT_CHUNK_EVENTS = 1024 };

struct pt_chunk {
    struct pt_event events[PT_CHUNK_EVENTS];
    pt_u32 n;
};

struct pt_chunks;

/* What the thread that puts the events in order does with a chunk before it hands it on, while the chunk is in this
 * CPU's cache. It may leave events out of it. */
typedef void pt_chunk_first(void *context, struct pt_chunk *chunk);

/* Takes `from` over and begins to read it; NULL when no thread can be started; `from` is unchanged then. The reader
 * must not use what the sources fill in while they are read (quality figures) before the end. */
struct pt_chunks *pt_chunks_begin(struct pt_feed *from, pt_chunk_first *first, void *context);
/* The next chunk, which releases the one before; NULL = there are no more. */
const struct pt_chunk *pt_chunks_next(struct pt_chunks *chunks);
/* Called when the end is reached. -1 when reading ended in an error, which is in err. */
int pt_chunks_end(struct pt_chunks *chunks, struct pt_error *err);

#endif
