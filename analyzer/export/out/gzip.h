/* SPDX-License-Identifier: MIT
 *
 * gzip.h - one gzip member from blocks that several threads compress at the same time.
 *
 * Fill pt_gzip_buffer, submit it, take the next buffer; the caller's thread writes finished blocks out in order.
 */
#ifndef PT_EXPORT_OUT_GZIP_H
#define PT_EXPORT_OUT_GZIP_H

#include <stdbool.h>

#include "proftrace/types.h"

#define PT_GZIP_BLOCK_BYTES (1u << 20)
#define PT_GZIP_MOST_THREADS 4u

struct pt_gzip;

/* With at most `most_threads`, each of which has two blocks. `write` returns false on failure; it is only called from
 * the caller's thread. NULL when memory or threads fail. */
struct pt_gzip *pt_gzip_open(bool (*write)(void *context, const void *bytes, pt_u64 n), void *context,
                             pt_u32 most_threads);
/* The buffer to fill: PT_GZIP_BLOCK_BYTES. */
char *pt_gzip_buffer(struct pt_gzip *gzip);
/* Hand over the first `bytes` of the buffer. False when a write failed. */
bool pt_gzip_submit(struct pt_gzip *gzip, pt_u32 bytes, bool last);
/* Stop the threads and free everything; complete only after a submit with `last`. */
void pt_gzip_close(struct pt_gzip *gzip);

#endif
